package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func audit(t *testing.T, db *DB, r Record) int64 {
	t.Helper()
	number, err := db.Audit(t.Context(), r)
	require.NoError(t, err)
	return number
}

func wantAudit(t *testing.T, db *DB, s Search, want ...int64) {
	t.Helper()
	all, err := db.AuditRecords(t.Context(), s)
	require.NoError(t, err)
	numbers := []int64{}
	for _, r := range all {
		numbers = append(numbers, r.Number)
	}
	require.Equal(t, fmt.Sprint(want), fmt.Sprint(numbers))
}

func TestAudit_isRemembered(t *testing.T) {
	clock := newClock()
	db := openStore(t, Options{Now: clock.Now})
	r := Record{
		Plugin: "p", Company: "c1", Action: "activity.log", Message: "hello",
		EntityType: "issue", EntityID: "7", Metadata: json.RawMessage(`{"a": 1}`),
	}
	r.Number, r.At = audit(t, db, r), clock.now
	all, err := reopened(t, db).AuditRecords(t.Context(), Search{})
	require.NoError(t, err)
	require.Equal(t, []Record{r}, all)
}

func TestAudit_isSearched(t *testing.T) {
	db := openStore(t, Options{})
	for i := range 6 {
		audit(t, db, Record{Plugin: string("pq"[i%2]), Company: string("cd"[i/3])})
	}
	wantAudit(t, db, Search{}, 6, 5, 4, 3, 2, 1)
	wantAudit(t, db, Search{Limit: 2}, 6, 5)
	wantAudit(t, db, Search{Before: 5, Limit: 2}, 4, 3)
	wantAudit(t, db, Search{Plugin: "p"}, 5, 3, 1)
	wantAudit(t, db, Search{Plugin: "p", Company: "d"}, 5)
}

func TestAudit_theOldAreDropped(t *testing.T) {
	clock := newClock()
	db := openStore(t, Options{Now: clock.Now, Audit: 3, AuditAge: time.Hour})
	for range 5 {
		audit(t, db, Record{Action: "start"})
	}
	wantAudit(t, db, Search{}, 5, 4, 3)
	require.EqualValues(t, 2, db.Stats().DroppedAudit)
	clock.pass(time.Hour + time.Millisecond)
	audit(t, db, Record{Action: "start"})
	wantAudit(t, db, Search{}, 6)
	require.EqualValues(t, 5, db.Stats().DroppedAudit)
}

func TestAudit_hasALimit(t *testing.T) {
	db := openStore(t, Options{AuditBytes: 10})
	_, err := db.Audit(t.Context(), Record{Plugin: "p", Message: strings.Repeat("x", 11)})
	wantFault(t, err, protocol.CodeInvalid, "plugin p: the audit record is 11 bytes long, and may have 10: make it shorter")
}

func TestPageOf_isBounded(t *testing.T) {
	for asked, want := range map[int]int{-1: 100, 0: 100, 1: 1, 1000: 1000, 1001: 1000} {
		require.Equal(t, want, pageOf(asked))
	}
}

func TestAudit_isSearchedByTime(t *testing.T) {
	clock := newClock()
	db := openStore(t, Options{Now: clock.Now})
	audit(t, db, Record{Action: "start"})
	clock.pass(time.Minute)
	audit(t, db, Record{Action: "stop"})
	wantAudit(t, db, Search{Since: clock.now.Add(-time.Second)}, 2)
	wantAudit(t, db, Search{Since: clock.now.Add(-time.Minute)}, 2, 1)
	wantAudit(t, db, Search{Since: clock.now.Add(time.Millisecond)})
}
