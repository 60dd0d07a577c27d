package main

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/services/audit"
	"github.com/airi-host/airi-host/services/store"
)

var chain = []protocol.Link{{Key: "tool:visit"}, {Caller: "guest", Ecosystem: "airi", Key: "tool:ledger-pay"}}

func TestDenial_isKeptWithItsChain(t *testing.T) {
	for name, c := range map[string]struct {
		denial actors.Denial
		want   string
	}{
		"nothing more": {actors.Denial{}, ``},
		"a grant":      {actors.Denial{Grant: "invoke:tool:a"}, `{"grant":"invoke:tool:a"}`},
		"a chain":      {actors.Denial{Chain: chain}, `{"chain":[{"key":"tool:visit"},{"caller":"guest","ecosystem":"airi","key":"tool:ledger-pay"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := denialRecord(c.denial)
			require.Equal(t, actionDenied, got.Action)
			require.Equal(t, c.want, string(got.Metadata))
		})
	}
}

// slowAuditor is an auditor whose disk is slow.
type slowAuditor struct {
	services.Auditor
	may <-chan time.Time
}

func (a slowAuditor) Audit(ctx context.Context, r services.Record) (int64, error) {
	<-a.may
	return a.Auditor.Audit(ctx, r)
}

// Whoever reads the audit finds what was done before, although nobody waits for that.
func TestState_searchAuditFindsWhatWasDoneBefore(t *testing.T) {
	db, err := store.Open(t.Context(), t.TempDir(), store.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	st := &state{db: db, trail: audit.New(slowAuditor{db, time.Tick(20 * time.Millisecond)}, audit.Options{})}
	defer st.trail.Close(t.Context())
	for i := range 3 {
		st.ordered("stop", "a", nil)
		list, err := st.searchAudit(t.Context(), admin.AuditSearch{Plugin: "a"})
		require.NoError(t, err)
		require.Len(t, list, i+1)
	}
}

func TestLayout_showsWhoCalledWhom(t *testing.T) {
	e := actors.Called{Origin: actors.Origin{Plugin: "ledger"}, Ecosystem: "paperclip", Scope: "acme", Chain: chain, Took: 1234567, Code: "denied", At: time.Now()}
	require.Contains(t, layout{}.called(e), "tool:visit → guest (airi) tool:ledger-pay → ledger (paperclip) for acme: denied, 1.235ms")
}
