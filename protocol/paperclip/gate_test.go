package paperclip

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestWantedBy(t *testing.T) {
	for _, c := range []struct {
		method, params string
		want           wanted
	}{
		{"companies.list", `{"companyId":"c"}`, wanted{all: true}},
		{"state.get", `{"companyId":" c "}`, wanted{company: "c"}},
		{"state.get", `{"companyId":"","scopeKind":"company","scopeId":"s"}`, wanted{company: "s"}},
		{"state.get", `{"scopeKind":"company","scopeId":" "}`, wanted{all: true}},
		{"state.get", `{"scopeKind":"company"}`, wanted{all: true}},
		{"state.get", `{"scopeKind":"instance","scopeId":"s"}`, wanted{}},
		{"state.get", `{"filter":{"companyId":"f"}}`, wanted{}},
		{"events.subscribe", `{"filter":{"companyId":"f"}}`, wanted{company: "f"}},
		{"events.subscribe", `{"filter":null}`, wanted{}},
		{"state.get", `[{"companyId":"c"}]`, wanted{}},
		{"state.get", ``, wanted{}},
	} {
		require.Equal(t, c.want, wantedBy(c.method, raw(c.params)), "%s %s", c.method, c.params)
	}
}

func TestGate_asksInTheReferencesOrder(t *testing.T) {
	const ask = `{"id":1,"method":"companies.get","params":{"companyId":"c"}}`
	p := Plugin{Handles: func(method string) bool { return method != "companies.get" }}
	require.Equal(t, []string{`send {"id":1,"error":{"code":-32601,"message":"Host does not handle method \"companies.get\""}}`},
		newRig(t, p, protocol.Settings{}).receive(ask))
	p.Handles = nil
	require.Equal(t, []string{`send {"id":1,"error":{"code":-32001,"message":"Plugin \"lab\" is missing required capability \"companies.read\" for method \"companies.get\""}}`},
		newRig(t, p, protocol.Settings{}).receive(ask))
	p.Grants = []string{"companies.read"}
	require.Equal(t, []string{`send {"id":1,"error":{"code":-32005,"message":"Plugin \"lab\" is not allowed to perform \"companies.get\": company context is required"}}`},
		newRig(t, p, protocol.Settings{}).receive(ask))
	p.Proactive = func(string) bool { return true }
	require.Equal(t, []string{`serve 1 companies.get {"companyId":"c"} in c for lab`},
		newRig(t, p, protocol.Settings{}).receive(ask))
}

func TestGate_tellsWhatItDenies(t *testing.T) {
	for _, c := range []struct {
		p    Plugin
		ask  string
		want []protocol.Effect
	}{
		{Plugin{Handles: func(string) bool { return false }}, `"method":"state.get"`, nil},
		{Plugin{Grants: []string{"plugin.state.read"}}, `"method":"state.get","params":{}`, nil},
		{Plugin{}, `"method":"state.get","params":{"companyId":"c"}`, []protocol.Effect{protocol.Denied{
			Method: "state.get", Scope: "c", Grant: "plugin.state.read",
			Reason: `Plugin "lab" is missing required capability "plugin.state.read" for method "state.get"`,
		}}},
		{Plugin{Grants: []string{"plugin.state.read"}}, `"method":"state.get","params":{"companyId":"c"}`, []protocol.Effect{protocol.Denied{
			Method: "state.get", Scope: "c",
			Reason: `Plugin "lab" is not allowed to perform "state.get": company context is required`,
		}}},
	} {
		r, denials := newRig(t, c.p, protocol.Settings{}), []protocol.Effect(nil)
		for _, e := range r.d.Step(now, protocol.Received{Message: decode(t, []byte(`{"jsonrpc":"2.0","id":1,`+c.ask+`}`))}, nil) {
			if _, denial := e.(protocol.Denied); denial {
				denials = append(denials, e)
			}
		}
		require.Equal(t, c.want, denials, c.ask)
	}
}

func TestGate_scope(t *testing.T) {
	const (
		required = "company context is required"
		missing  = "the worker referenced a missing, expired, or unknown invocation scope"
		foreign  = `requested company "x" but the current invocation is scoped to company "c"`
		scoped   = `the current invocation is scoped to company "c"`
	)
	none, invalid := authority{}, authority{invalid: true}
	inC := authority{invocation: invocation{company: "c"}}
	for _, c := range []struct {
		method string
		w      wanted
		a      authority
		want   string
	}{
		{"state.get", wanted{}, none, ""},
		{"state.get", wanted{}, invalid, ""},
		{"state.get", wanted{}, inC, ""},
		{"state.get", wanted{company: "c"}, none, required},
		{"state.get", wanted{company: "c"}, invalid, missing},
		{"state.get", wanted{company: "c"}, inC, ""},
		{"state.get", wanted{company: "x"}, inC, foreign},
		{"state.get", wanted{all: true}, none, required},
		{"state.get", wanted{all: true}, invalid, missing},
		{"state.get", wanted{all: true}, inC, scoped},
		{"companies.list", wanted{all: true}, none, ""},
		{"companies.list", wanted{all: true}, invalid, missing},
		{"companies.list", wanted{all: true}, inC, ""},
		{"config.get", wanted{}, none, required},
		{"config.get", wanted{}, invalid, missing},
		{"config.get", wanted{}, inC, ""},
		{"secrets.resolve", wanted{}, none, required},
		{"secrets.resolve", wanted{company: "x"}, inC, foreign},
	} {
		require.Equal(t, c.want, outOfScope(c.method, c.w, c.a), "%+v", c)
	}
}

func TestGate_letsNoWorkerCallACapability(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	require.Equal(t, []string{`send {"id":1,"error":{"code":-32601,"message":"Host does not handle method \"tool:greet\""}}`},
		r.receive(`{"id":1,"method":"tool:greet","params":{}}`))
}
