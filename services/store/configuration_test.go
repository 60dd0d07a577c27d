package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func configure(t *testing.T, db *DB, base int64, plugin, company, value string) Configuration {
	t.Helper()
	c, err := db.SetConfiguration(t.Context(), base,
		Configuration{Plugin: plugin, Company: company, SchemaVersion: 3, Value: json.RawMessage(value)})
	require.NoError(t, err)
	return c
}

func TestConfiguration_countsItsRevisions(t *testing.T) {
	clock := newClock()
	db := openStore(t, Options{Now: clock.Now})
	none, err := db.Configuration(t.Context(), "p", "c1")
	require.NoError(t, err)
	require.Equal(t, Configuration{Plugin: "p", Company: "c1"}, none)

	first := configure(t, db, 0, "p", "c1", `{"a": 1}`)
	clock.pass(time.Hour)
	second := configure(t, db, 1, "p", "c1", `{"a": 2}`)
	all := configure(t, db, 0, "p", "", `{}`)
	require.Equal(t, Configuration{
		Plugin: "p", Company: "c1", Revision: 2, SchemaVersion: 3, Value: json.RawMessage(`{"a": 2}`), At: clock.now,
	}, second)

	db = reopened(t, db)
	got, err := db.Configuration(t.Context(), "p", "c1")
	require.NoError(t, err)
	require.Equal(t, second, got)
	history, err := db.ConfigurationHistory(t.Context(), "p", "c1")
	require.NoError(t, err)
	require.Equal(t, []Configuration{second, first}, history)
	inForce, err := db.Configurations(t.Context())
	require.NoError(t, err)
	require.Equal(t, []Configuration{all, second}, inForce)
}

func TestConfiguration_refusesAnOldBase(t *testing.T) {
	db := openStore(t, Options{})
	configure(t, db, 0, "p", "c1", `{}`)
	for _, base := range []int64{0, 2, -1} {
		_, err := db.SetConfiguration(t.Context(), base, Configuration{Plugin: "p", Company: "c1"})
		var conflict *ConflictError
		require.ErrorAs(t, err, &conflict)
		require.Equal(t, ConflictError{Plugin: "p", Company: "c1", Base: base, Revision: 1}, *conflict)
		require.EqualError(t, err, fmt.Sprintf(
			`plugin p: configuration for company "c1": expected revision %d as the base, found 1 in force: read it again and repeat the change`, base))
	}
	require.Zero(t, db.Stats().FailedWrites)
}

func TestConfiguration_oneOfManyWins(t *testing.T) {
	db := openStore(t, Options{})
	var won atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			_, err := db.SetConfiguration(t.Context(), 0, Configuration{Plugin: "p", Value: json.RawMessage(fmt.Sprint(i))})
			if err == nil {
				won.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, won.Load())
}

func TestConfiguration_keepsAHistoryOfALength(t *testing.T) {
	db := openStore(t, Options{History: 3})
	for i := range int64(5) {
		configure(t, db, i, "p", "", fmt.Sprintf(`{"a":%d}`, i))
	}
	configure(t, db, 0, "q", "", `{}`)
	history, err := db.ConfigurationHistory(t.Context(), "p", "")
	require.NoError(t, err)
	require.Len(t, history, 3)
	require.EqualValues(t, 5, history[0].Revision)
	require.EqualValues(t, 3, history[2].Revision)
	require.EqualValues(t, 2, db.Stats().DroppedRevisions)
}

func TestConfiguration_hasALimit(t *testing.T) {
	db := openStore(t, Options{ConfigurationBytes: 10})
	_, err := db.SetConfiguration(t.Context(), 0, Configuration{Plugin: "p", Value: json.RawMessage(strings.Repeat("1", 11))})
	wantFault(t, err, protocol.CodeInvalid, "plugin p: the configuration is 11 bytes long, and may have 10: make it shorter")
}
