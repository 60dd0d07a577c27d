//go:build linux

package process

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMarker_isReadAsItIsWritten(t *testing.T) {
	m := newMarker(Spec{Plugin: "@scope/na:me", Owner: "0123456789abcdef"})
	back, ok := parseMarker(m.String())
	require.True(t, ok)
	require.Equal(t, m, back)
	for _, text := range []string{"", "a:b:c:d", "a:1.2:c:d", "a:1.2.x:c:d", "a:1.2.3"} {
		_, ok := parseMarker(text)
		require.False(t, ok, text)
	}
}

func TestMarker_isSaidOnce(t *testing.T) {
	m := newMarker(Spec{Plugin: "p"})
	env := []string{"A=1", MarkerVar + "=forged", "B=2"}
	require.Equal(t, []string{"A=1", "B=2", m.entry()}, m.within(env))
	require.Equal(t, MarkerVar+"=forged", env[1], "the Spec's is left alone")
}

func TestMarker_noTwoAreAlike(t *testing.T) {
	require.NotEqual(t, newMarker(Spec{}), newMarker(Spec{}))
	require.GreaterOrEqual(t, len(newMarker(Spec{}).incarnation), 26)
}

func TestIdentity_tellsAProcessFromTheNextOfItsNumber(t *testing.T) {
	own := ownIdentity()
	require.Equal(t, os.Getpid(), own.pid)
	require.NotZero(t, own.space)
	require.True(t, own.lives())

	later := own
	later.start++
	require.False(t, later.lives())

	elsewhere := later
	elsewhere.space++
	require.True(t, elsewhere.lives(), "it cannot be judged from here")
}

func TestCheckOwner_takesWhatCannotBeGuessed(t *testing.T) {
	require.NoError(t, checkOwner("aZ09-_aZ09-_aZ09"))
	for _, owner := range []string{"", "short", strings.Repeat("x", 129), "sixteen bytes, no", "0123456789abcde:"} {
		require.Error(t, checkOwner(owner), owner)
	}
}
