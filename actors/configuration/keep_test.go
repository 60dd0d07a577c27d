package configuration

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// What the plugin has taken is kept, also when whoever set it gives up in that moment: else it
// might be in the store and not in force.
func TestCommit_whoGivesUpWhileItIsKeptHasSetIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.start(t)
		ctx, giveUp := context.WithCancel(t.Context())
		r.store.before = giveUp
		_, err := r.Commit(ctx, "picky", Change{Value: json.RawMessage(`{"a":1}`)})
		require.NoError(t, err)
		r.wantIs(t, lifecycle.Ready, `{"a":1}`)
		r.wantKept(t, `{"a":1}`)
	})
}

// A change of which nobody knows whether it was kept is refused; the next one goes by what the
// store has then.
func TestCommit_whatMayHaveBeenKeptIsLookedAtBeforeTheNextOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		require.NoError(t, r.set(t, `{"a":1}`))
		r.start(t)
		r.store.slow = true
		wantFault(t, r.set(t, `{"a":2}`), protocol.CodeOutcomeUnknown, "the store was writing")
		r.wantSeen(t, `{"a":1}`, `{"a":2}`, `{"a":1}`)
		r.wantIs(t, lifecycle.Ready, `{"a":1}`)
		r.store.slow = false

		base := int64(1)
		_, err := r.Commit(t.Context(), "picky", Change{Value: json.RawMessage(`{"a":3}`), Base: &base})
		wantFault(t, err, protocol.CodeConflict, "expected revision 1 as the base, found 2 in force")
		require.NoError(t, r.set(t, `{"a":3}`))
		r.wantIs(t, lifecycle.Ready, `{"a":3}`)
		r.wantKept(t, `{"a":1}`, `{"a":2}`, `{"a":3}`)

		r.store.broken = errors.New("the disk is gone")
		require.ErrorContains(t, r.set(t, `{"a":4}`), "the disk is gone")
		r.wantIs(t, lifecycle.Ready, `{"a":3}`)
	})
}
