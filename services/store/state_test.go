package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

func TestState_valuesComeBackByteByByte(t *testing.T) {
	values := []string{
		`null`, `0`, `-0`, `1e999`, `9007199254740993`, `"\ud800"`, `"<&>\u2028"`, "\"\x00\xff\"",
		`{ "b" : 1,"a":[ 1 , null ],"b":2 }`, `"` + strings.Repeat("x", 100_000) + `"`,
	}
	db := openStore(t, Options{})
	for i, value := range values {
		set(t, db, keyOf("p", fmt.Sprint(i)), value)
		wantValue(t, db, keyOf("p", fmt.Sprint(i)), value)
	}
	db = reopened(t, db)
	for i, value := range values {
		wantValue(t, db, keyOf("p", fmt.Sprint(i)), value)
	}
}

func TestState_everyPartOfAKeyTellsValuesApart(t *testing.T) {
	keys := []services.StateKey{
		{Plugin: "p", ScopeKind: "run", Namespace: "n", Key: "k"},
		{Plugin: "q", ScopeKind: "run", Namespace: "n", Key: "k"},
		{Plugin: "p", ScopeKind: "goal", Namespace: "n", Key: "k"},
		{Plugin: "p", ScopeKind: "run", ScopeID: "1", Namespace: "n", Key: "k"},
		{Plugin: "p", ScopeKind: "run", Namespace: "N", Key: "k"},
		{Plugin: "p", ScopeKind: "run", Namespace: "n", Key: "k\x00"},
		{Plugin: "p", ScopeKind: "run", Namespace: "n", Key: "k\xff"},
		{Plugin: "p", ScopeKind: "run", Namespace: "n", Key: "ключ"},
	}
	db := openStore(t, Options{})
	for i, key := range keys {
		set(t, db, key, fmt.Sprint(i))
	}
	for range 2 {
		for i, key := range keys {
			wantValue(t, db, key, fmt.Sprint(i))
		}
		db = reopened(t, db)
	}
	require.NoError(t, db.State().Delete(t.Context(), keys[0]))
	for i, key := range keys[1:] {
		wantValue(t, db, key, fmt.Sprint(i+1))
	}
}

func TestState_deletes(t *testing.T) {
	db := openStore(t, Options{})
	require.NoError(t, db.State().Delete(t.Context(), keyOf("p", "k")), "that there is none is no error")
	set(t, db, keyOf("p", "k"), `1`)
	require.NoError(t, db.State().Delete(t.Context(), keyOf("p", "k")))
	wantValue(t, db, keyOf("p", "k"), "")
	wantValue(t, reopened(t, db), keyOf("p", "k"), "")
}

func TestState_holdsAPluginToItsLimits(t *testing.T) {
	db := openStore(t, Options{State: services.MemoryLimits{Keys: 2, Bytes: 60, Value: 20}})
	state := db.State()
	try := func(key, value string) error {
		return state.Set(t.Context(), keyOf("p", key), json.RawMessage(value))
	}
	require.NoError(t, try("a", `1`))
	wantFault(t, try("a", `"`+strings.Repeat("x", 20)+`"`), protocol.CodeInvalid, `state value "a" is 22 bytes long, and a value may have 20`)
	require.NoError(t, try("b", `1`))
	wantFault(t, try("c", `1`), protocol.CodeOverloaded, "a plugin may keep 2 values")
	require.NoError(t, try("a", `12345678`), "one that is there may change")
	require.NoError(t, try("a", `12345678901234567890`))
	wantFault(t, try("b", `123456789`), protocol.CodeOverloaded, "a plugin may keep 60 bytes in all")
	wantValue(t, db, keyOf("p", "b"), `1`)
	require.NoError(t, try("a", `1`))
	require.NoError(t, try("b", `123456789`), "less of one is room for another")
	require.NoError(t, state.Delete(t.Context(), keyOf("p", "a")))
	require.NoError(t, try("c", `1`))
	require.NoError(t, state.Set(t.Context(), keyOf("q", "c"), json.RawMessage(`1`)), "limits are one plugin's")
}

func TestState_countsAsMemoryDoes(t *testing.T) {
	limits := services.MemoryLimits{Keys: 4, Bytes: 150, Value: 40}
	memory, db := services.NewMemory(limits), openStore(t, Options{State: limits, Unsynced: true, CacheBytes: -1})
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		key := keyOf("p", string(rune('a'+r.IntN(6))))
		value := json.RawMessage(strings.Repeat("1", 1+r.IntN(45)))
		var ours, theirs error
		if r.IntN(3) == 0 {
			theirs, ours = memory.Delete(t.Context(), key), db.State().Delete(t.Context(), key)
		} else {
			theirs, ours = memory.Set(t.Context(), key, value), db.State().Set(t.Context(), key, value)
		}
		require.Equal(t, theirs, ours)
		want, err := memory.Get(t.Context(), key)
		require.NoError(t, err)
		wantValue(t, db, key, string(want))
	}
}

func TestState_manyGoroutinesSeeWhatTheyHaveWritten(t *testing.T) {
	db := openStore(t, Options{CacheBytes: 8 << 10, Unsynced: true}) // values come and go
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 100 {
				key := keyOf("p", fmt.Sprint(g, "-", i%7))
				value := json.RawMessage(fmt.Sprint(i))
				err := db.State().Set(context.Background(), key, value)
				got, getErr := db.State().Get(context.Background(), key)
				if err != nil || getErr != nil || string(got) != string(value) {
					t.Errorf("set %s: %v; got %s: %v", value, err, got, getErr)
				}
				_, _ = db.State().Get(context.Background(), keyOf("p", fmt.Sprint((g+1)%8, "-", i%7)))
			}
		})
	}
	all.Wait()
	stats := db.Stats()
	require.EqualValues(t, 801, stats.Writes, "with the one of Open")
	require.LessOrEqual(t, stats.CacheBytes, 8<<10)
	require.Positive(t, stats.CacheEvicted)
}

func TestState_readsWhatIsNotInMemory(t *testing.T) {
	db := openStore(t, Options{CacheBytes: -1})
	set(t, db, keyOf("p", "k"), `1`)
	wantValue(t, db, keyOf("p", "k"), `1`)
	require.EqualValues(t, 1, db.Stats().CacheMisses)
	require.Zero(t, db.Stats().CacheBytes)
}

func TestState_whatIsUnsetIsReadOnce(t *testing.T) {
	db := openStore(t, Options{})
	wantValue(t, db, keyOf("p", "k"), "")
	wantValue(t, db, keyOf("p", "k"), "")
	require.EqualValues(t, 1, db.Stats().CacheMisses)
	require.EqualValues(t, 1, db.Stats().CacheHits)
}

func TestState_refusesAfterClose(t *testing.T) {
	db := openStore(t, Options{})
	require.NoError(t, db.Close())
	require.ErrorIs(t, db.State().Set(t.Context(), keyOf("p", "k"), json.RawMessage(`1`)), ErrClosed)
	_, err := db.State().Get(t.Context(), keyOf("p", "k"))
	require.ErrorIs(t, err, ErrClosed)
	require.NoError(t, db.Close(), "once more is no error")
}

func TestState_namesALongKeyInPart(t *testing.T) {
	db := openStore(t, Options{State: services.MemoryLimits{Value: 1}})
	err := db.State().Set(t.Context(), keyOf("p", strings.Repeat("k", 2000)), json.RawMessage(`12`))
	require.ErrorContains(t, err, "k…")
	require.Less(t, len(err.Error()), 300)
}

func TestState_whatIsInTheCacheIsAtHand(t *testing.T) {
	db := openStore(t, Options{})
	set(t, db, keyOf("p", "k"), `1`)
	value, known := db.State().Peek(keyOf("p", "k"))
	require.True(t, known)
	require.Equal(t, `1`, string(value))

	db = reopened(t, db)
	_, known = db.State().Peek(keyOf("p", "k"))
	require.False(t, known, "it is on the disk")
	require.Zero(t, db.Stats().CacheMisses, "the Get that follows counts")
	wantValue(t, db, keyOf("p", "k"), `1`)
	_, known = db.State().Peek(keyOf("p", "k"))
	require.True(t, known)
	require.EqualValues(t, 1, db.Stats().CacheHits)
}
