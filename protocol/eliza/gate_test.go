package eliza

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

type gateVectors struct {
	Vectors []struct {
		Granted           json.RawMessage
		Surface           string
		Invoked           bool
		Code, Message     *string
		AuditedPermission *string
	}
}

func TestGrants_areAsTheReferenceHasThem(t *testing.T) {
	var v gateVectors
	vectors(t, "permission-gate", &v)
	require.NotEmpty(t, v.Vectors)
	for _, c := range v.Vectors {
		wanted, allowed := GrantsOf(c.Granted).Surface(c.Surface)
		require.Equal(t, c.AuditedPermission == nil, allowed, "%s %s", c.Granted, c.Surface)
		if c.AuditedPermission != nil {
			require.Equal(t, *c.AuditedPermission, wanted)
		}
	}
}

func TestGrants_gateTheRuntime(t *testing.T) {
	for _, c := range []struct {
		granted, method, wanted string
	}{
		{``, "useModel", ""},
		{`{"isolation":"isolated-process"}`, "setSetting", ""},
		{`{"bun":{"read":true}}`, "getSetting", ""},
		{`{"bun":{"read":true}}`, "setSetting", "bun:write | host:*"},
		{`{"bun":{"read":true}}`, "invoke", "bun:run | host:*"},
		{`{"bun":{"write":true}}`, "createMemory", ""},
		{`{"bun":{"write":true}}`, "getMemory", "bun:read | host:*"},
		{`{"bun":{"run":true}}`, "setSetting", ""},
		{`{"host":{"storage":true}}`, "useModel", ""},
		{`{"host":{"storage":false}}`, "composeState", "bun:read | host:*"},
	} {
		wanted, allowed := GrantsOf(raw(c.granted)).Method(c.method)
		require.Equal(t, c.wanted, wanted)
		require.Equal(t, c.wanted == "", allowed)
	}
}
