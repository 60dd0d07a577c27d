package paperclip

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuard(t *testing.T) {
	var g guard
	g.config = raw(`{"first":true}`)
	change := func(config, company string, multi bool) bool {
		return g.change(raw(`{"config":`+config+`,"companyId":`+company+`}`), multi) == ""
	}
	require.True(t, change(`{"a":1,"b":[1,2]}`, `"c1"`, false), "the first company takes what it likes")
	require.True(t, change(`{"b":[1,2.0],"a":1e0}`, `"c2"`, false), "an equal one moves the owner")
	require.False(t, change(`{"b":[2,1],"a":1}`, `"c1"`, false), "arrays have an order")
	require.True(t, change(`{"a":3}`, `"c2"`, false), "its owner changes it")
	require.True(t, change(`{"a":4}`, `null`, false), "without a company it always applies")
	require.False(t, change(`{"a":3}`, `"c1"`, false), "the owner stays")
	require.True(t, change(`{"a":5}`, `"c1"`, true))
	require.Equal(t, "c1", g.company)
	require.Equal(t, `{"a":5}`, string(g.config))
}

func TestSameConfig_isNoWiserThanItCanBe(t *testing.T) {
	require.True(t, sameConfig(nil, nil))
	require.True(t, sameConfig(raw(`1e999`), raw(`1e999`)))
	require.False(t, sameConfig(raw(`1e999`), raw(`2e999`)))
	require.False(t, sameConfig(nil, raw(`{}`)))
	require.True(t, sameConfig(raw(`{"a":-0}`), raw(`{"a":0}`)))
}
