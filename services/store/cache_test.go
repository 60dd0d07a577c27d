package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/services"
)

func wantCached(t *testing.T, c *cache, key services.StateKey, want string) {
	t.Helper()
	value, known, _ := c.get(key)
	require.True(t, known)
	require.Equal(t, want, string(value))
}

func wantNotCached(t *testing.T, c *cache, key services.StateKey) {
	t.Helper()
	_, known, _ := c.get(key)
	require.False(t, known)
}

func TestCache_givesUpWhatWasUsedLongestAgo(t *testing.T) {
	var evicted atomic.Int64
	one := (&entry{keyOf("p", "0"), json.RawMessage(`1`)}).cost()
	c := newCache(10*one, &evicted)
	for i := range 10 {
		c.write(keyOf("p", fmt.Sprint(i)), json.RawMessage(`1`))
	}
	wantCached(t, c, keyOf("p", "0"), `1`)
	c.write(keyOf("p", "a"), json.RawMessage(`1`))
	wantNotCached(t, c, keyOf("p", "1"))
	wantCached(t, c, keyOf("p", "0"), `1`)
	require.Equal(t, 10*one, c.size())
	require.EqualValues(t, 1, evicted.Load())
}

func TestCache_doesNotKeepWhatWouldPushOutTooMuch(t *testing.T) {
	c := newCache(8<<10, new(atomic.Int64))
	c.write(keyOf("p", "k"), json.RawMessage(`1`))
	c.write(keyOf("p", "k"), json.RawMessage(strings.Repeat("1", 1<<10)))
	wantNotCached(t, c, keyOf("p", "k"))
	require.Zero(t, c.size(), "nor what it was before")
}

func TestCache_whatWasReadBeforeAWriteIsOld(t *testing.T) {
	c := newCache(8<<10, new(atomic.Int64))
	key := keyOf("p", "k")
	_, _, moment := c.get(key)
	c.write(key, json.RawMessage(`2`))
	c.put(key, json.RawMessage(`1`), moment)
	wantCached(t, c, key, `2`)

	_, _, moment = c.get(keyOf("p", "l"))
	c.forget(func(services.StateKey) bool { return true })
	c.put(keyOf("p", "l"), json.RawMessage(`1`), moment)
	wantNotCached(t, c, key)
	wantNotCached(t, c, keyOf("p", "l"))
	require.Zero(t, c.size())
}
