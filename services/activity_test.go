package services

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// auditor remembers records.
type auditor struct {
	records []Record
	err     error
}

func (a *auditor) Audit(_ context.Context, r Record) (int64, error) {
	a.records = append(a.records, r)
	return int64(len(a.records)), a.err
}

func TestActivity_isARecordOfThePlugins(t *testing.T) {
	kept := &auditor{}
	w := newWorker(t, &plugins{}, Options{Auditor: kept})
	require.Equal(t, `null`, w.call("activity.log",
		`{"companyId":"c1","message":"synced","entityType":"issue","entityId":"7","metadata":{"n":1}}`))
	require.Equal(t, `null`, w.call("activity.log", `{"message":"again","metadata":null}`))
	require.Equal(t, []Record{
		{Plugin: "demo", Company: "c1", Action: "activity.log", Message: "synced", EntityType: "issue", EntityID: "7", Metadata: json.RawMessage(`{"n":1}`)},
		{Plugin: "demo", Company: "c1", Action: "activity.log", Message: "again"},
	}, kept.records)
	kept.err = errors.New("disk full")
	_, err := w.try("activity.log", `{"message":"more"}`)
	require.ErrorIs(t, err, kept.err)
}

func TestActivity_refusesWhatIsNone(t *testing.T) {
	w := newWorker(t, &plugins{}, Options{Auditor: &auditor{}})
	w.wantRefused(protocol.CodeInvalid, "activity.log", `{"message":" "}`, "message: expected a string that is not blank")
	w.wantRefused(protocol.CodeInvalid, "activity.log", `{"message":"m","entityId":7}`, "entityId: expected a string, got a number")
	w.wantRefused(protocol.CodeInvalid, "activity.log", `{"message":"m","metadata":[]}`, "metadata: expected an object, got an array")
	w.scope = ""
	w.wantRefused(protocol.CodeInvalid, "activity.log", `{"message":"m"}`, "companyId: expected a company: an activity is about one")
}

func TestActivity_isLimitedByTheMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &auditor{}
		w := newWorker(t, &plugins{}, Options{Auditor: kept, Activities: 2})
		w.call("activity.log", `{"message":"1"}`)
		time.Sleep(20 * time.Second)
		w.call("activity.log", `{"companyId":"c2","message":"2"}`)
		w.wantRefused(protocol.CodeOverloaded, "activity.log", `{"message":"3"}`,
			"2 records were made within the last minute: try again in 40s")
		other := w
		other.name = "other"
		other.call("activity.log", `{"message":"1"}`)
		time.Sleep(40 * time.Second)
		w.call("activity.log", `{"message":"3"}`)
		require.Len(t, kept.records, 4)
	})
}
