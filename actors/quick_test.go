package actors

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestQuick_servicesAreServedWhereTheyAreCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quick := protocol.QuickFunc(echoCall)
		fails := protocol.QuickFunc(func(context.Context, protocol.Call) (json.RawMessage, error) { panic("oh no") })
		n, _ := served(t, map[string]protocol.Service{"entities.list": quick, "entities.upsert": fails})
		n.says(`{"jsonrpc":"2.0","id":"a","method":"entities.list","params":{"k":1}}`)
		n.hears(`{"jsonrpc":"2.0","id":"a","result":["entities.list","{\"k\":1}","far"]}`)
		n.says(`{"jsonrpc":"2.0","id":"b","method":"entities.upsert","params":{}}`)
		n.hears(`{"jsonrpc":"2.0","id":"b","error":{"code":-32603,"message":"panic: oh no"}}`)
		n.hearsNothing()
	})
}

// halfQuick has {"known":true} at hand, and waits with all else.
type halfQuick struct{ open chan struct{} }

func (halfQuick) Quick(c protocol.Call) (json.RawMessage, bool, error) {
	return json.RawMessage(`"at hand"`), string(c.Input) == `{"known":true}`, nil
}

func (s halfQuick) Serve(context.Context, protocol.Call) (json.RawMessage, error) {
	<-s.open
	return json.RawMessage(`"fetched"`), nil
}

func TestQuick_whatIsNotAtHandHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := halfQuick{make(chan struct{})}
		n, _ := served(t, map[string]protocol.Service{"entities.list": s})
		n.says(`{"jsonrpc":"2.0","id":"a","method":"entities.list","params":{}}`)
		n.says(`{"jsonrpc":"2.0","id":"b","method":"entities.list","params":{"known":true}}`)
		n.hears(`{"jsonrpc":"2.0","id":"b","result":"at hand"}`)
		n.hearsNothing()
		close(s.open)
		n.hears(`{"jsonrpc":"2.0","id":"a","result":"fetched"}`)
	})
}

func TestQuick_longInputsAreNot(t *testing.T) {
	h := &Host{methods: map[string]map[string]protocol.Service{"d": {"m": protocol.QuickFunc(echoCall), "slow": protocol.ServiceFunc(echoCall)}}}
	who := &handle{man: farManifest()}
	who.man.Dialect = "d"
	for _, c := range []struct {
		call protocol.Call
		done bool
	}{
		{protocol.Call{Key: "m"}, true},
		{protocol.Call{Key: "slow"}, false},
		{protocol.Call{Key: "none"}, false},
		{protocol.Call{Key: "m", Input: json.RawMessage(`"` + strings.Repeat("x", maxQuick) + `"`)}, false},
	} {
		_, done, err := h.quick(who, c.call)
		require.NoError(t, err)
		require.Equal(t, c.done, done, c.call.Key)
	}
}
