package services

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func keyOf(plugin, key string) StateKey { return StateKey{Plugin: plugin, Key: key} }

func set(t *testing.T, m *Memory, key StateKey, value string) error {
	t.Helper()
	return m.Set(t.Context(), key, json.RawMessage(value))
}

func wantValue(t *testing.T, m *Memory, key StateKey, want string) {
	t.Helper()
	value, err := m.Get(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, want, string(value))
}

func TestMemory_limitsTheNumberOfValues(t *testing.T) {
	m := NewMemory(MemoryLimits{Keys: 2})
	require.NoError(t, set(t, m, keyOf("p", "1"), `1`))
	require.NoError(t, set(t, m, keyOf("p", "2"), `2`))
	wantFault(t, set(t, m, keyOf("p", "3"), `3`), protocol.CodeOverloaded, `state value "3" is one too many: a plugin may keep 2 values`)
	require.NoError(t, set(t, m, keyOf("p", "2"), `4`), "in the place of another")
	require.NoError(t, set(t, m, keyOf("q", "3"), `3`), "another plugin has its own")
	require.NoError(t, m.Delete(t.Context(), keyOf("p", "1")))
	require.NoError(t, set(t, m, keyOf("p", "3"), `3`))
}

func TestMemory_limitsTheBytesOfAPlugin(t *testing.T) {
	m := NewMemory(MemoryLimits{Bytes: 10})
	require.NoError(t, set(t, m, keyOf("p", "aa"), `"345678"`))
	wantFault(t, set(t, m, keyOf("p", "b"), `1`), protocol.CodeOverloaded, "a plugin may keep 10 bytes in all")
	wantFault(t, set(t, m, keyOf("p", "aa"), `"3456789"`), protocol.CodeOverloaded, "a plugin may keep 10 bytes in all")
	wantValue(t, m, keyOf("p", "aa"), `"345678"`)
	require.NoError(t, set(t, m, keyOf("p", "aa"), `"34"`))
	require.NoError(t, set(t, m, keyOf("p", "b"), `123`))
	require.NoError(t, m.Delete(t.Context(), keyOf("p", "aa")))
	require.NoError(t, m.Delete(t.Context(), keyOf("p", "aa")))
	require.NoError(t, set(t, m, keyOf("p", "aa"), `1234`), "what was deleted has given its bytes back, once")
	wantFault(t, set(t, m, keyOf("p", "c"), `1`), protocol.CodeOverloaded, "10 bytes in all")
}

func TestMemory_limitsOneValue(t *testing.T) {
	m := NewMemory(MemoryLimits{Value: 4})
	require.NoError(t, set(t, m, keyOf("p", "k"), `1234`))
	wantFault(t, set(t, m, keyOf("p", "k"), `12345`), protocol.CodeInvalid, `state value "k" is 5 bytes long, and a value may have 4`)
	wantValue(t, m, keyOf("p", "k"), `1234`)
}

func TestMemory_hasDefaults(t *testing.T) {
	require.Equal(t, MemoryLimits{Keys: 10_000, Bytes: 16 << 20, Value: 1 << 20}, NewMemory(MemoryLimits{}).limits)
}

func TestMemory_forgetsAPluginWithoutValues(t *testing.T) {
	m := NewMemory(MemoryLimits{Keys: 1, Bytes: 100})
	require.NoError(t, set(t, m, keyOf("p", "k"), `1`))
	require.NoError(t, m.Delete(t.Context(), keyOf("p", "k")))
	require.Error(t, set(t, m, keyOf("p", strings.Repeat("k", 200)), `1`))
	require.Empty(t, m.plugins)
}

func TestMemory_namesALongKeyInPart(t *testing.T) {
	err := set(t, NewMemory(MemoryLimits{Value: 1}), keyOf("p", strings.Repeat("k", 2000)), `12`)
	require.ErrorContains(t, err, "k…")
	require.Less(t, len(err.Error()), 300)
}

func TestMemory_manyGoroutines(t *testing.T) {
	m := NewMemory(MemoryLimits{})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			key := keyOf("p", string(rune('a'+i%2)))
			for range 100 {
				_ = m.Set(t.Context(), key, json.RawMessage(`1`))
				_, _ = m.Get(t.Context(), key)
				_ = m.Delete(t.Context(), key)
			}
		})
	}
	all.Wait()
	require.Empty(t, m.plugins)
}
