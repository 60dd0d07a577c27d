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

func TestQuick_longInputsAreNot(t *testing.T) {
	h := &Host{methods: map[string]map[string]protocol.Service{"d": {"m": protocol.QuickFunc(echoCall), "slow": protocol.ServiceFunc(echoCall)}}}
	who := &handle{man: farManifest()}
	who.man.Dialect = "d"
	require.NotNil(t, h.quick(who, protocol.Call{Key: "m"}))
	require.Nil(t, h.quick(who, protocol.Call{Key: "slow"}))
	require.Nil(t, h.quick(who, protocol.Call{Key: "none"}))
	require.Nil(t, h.quick(who, protocol.Call{Key: "m", Input: json.RawMessage(`"` + strings.Repeat("x", maxQuick) + `"`)}))
}
