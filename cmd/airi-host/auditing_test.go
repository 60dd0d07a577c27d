package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
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

func TestLayout_showsWhoCalledWhom(t *testing.T) {
	e := actors.Called{Origin: actors.Origin{Plugin: "ledger"}, Ecosystem: "paperclip", Scope: "acme", Chain: chain, Took: 1234567, Code: "denied", At: time.Now()}
	require.Contains(t, layout{}.called(e), "tool:visit → guest (airi) tool:ledger-pay → ledger (paperclip) for acme: denied, 1.235ms")
}
