package peers

import (
	"encoding/json"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// The tenants of these tests; for the first one plugins may act of their own accord.
var tenants = []string{"acme", "globex", "initech"}

// A host with the waiter is started once for all tests of who may see what.
func TestHost_keepsTenantsApart(t *testing.T) {
	t.Parallel()
	h := openHome(t, Paperclip, `{"companies": ["acme"], "plugins": {"waiter": {"companies": {
		"acme": {"config": {"of": "acme"}}, "globex": {"config": {"of": "globex"}}, "initech": {"config": {"of": "initech"}}}}}}`, nil)
	h.start(t, "waiter", Changes{})
	for name, run := range map[string]func(*testing.T, *home){
		"at once": keepsTenantsApartAtOnce, "after the answer": endsAScopeWithItsCall, "of its own accord": actsOfItsOwnAccord,
	} {
		t.Run(name, func(t *testing.T) { run(t, h) })
	}
}

// Many calls for all tenants run at once in one worker; none is told, by a config, a
// state or an error, what is another's.
func keepsTenantsApartAtOnce(t *testing.T, h *home) {
	t.Helper()
	const visits = 90
	var all sync.WaitGroup
	results, errs := make([]json.RawMessage, visits), make([]error, visits)
	for n := range visits {
		input := `{"params":{"n":` + strconv.Itoa(n) + `,"other":"` + tenants[(n+1)%len(tenants)] + `"}}`
		all.Go(func() {
			results[n], errs[n] = h.Invoke(t.Context(), protocol.Call{
				Key: "action:visit", Plugin: "waiter", Scope: tenants[n%len(tenants)], Input: json.RawMessage(input),
			})
		})
	}
	all.Wait()
	for n, result := range results {
		require.NoError(t, errs[n])
		company, other := tenants[n%len(tenants)], tenants[(n+1)%len(tenants)]
		require.JSONEq(t, `{"company":"`+company+`","found":"`+company+`/`+strconv.Itoa(n)+`","config":{"of":"`+company+`"},
			"spied":{"code":-32005,"message":`+quoted(t, `Plugin "waiter" is not allowed to perform "state.get": requested company "`+
			other+`" but the current invocation is scoped to company "`+company+`"`)+`}}`, string(result))
	}
}

const noInvocation = `{"code":-32005,"message":"Plugin \"waiter\" is not allowed to perform \"state.get\": ` +
	`the worker referenced a missing, expired, or unknown invocation scope"}`

func endsAScopeWithItsCall(t *testing.T, h *home) {
	t.Helper()
	for _, company := range tenants[:2] { // the id of a call that is over beats acting of its own accord
		h.wantActs(t, `null`, "waiter", "linger", company, `{}`)
		require.JSONEq(t, noInvocation, h.calls(t, protocol.Call{Key: "data:lingered", Plugin: "waiter"}))
		h.wantActs(t, `null`, "waiter", "linger", company, `{}`)
		require.JSONEq(t, noInvocation, h.calls(t, protocol.Call{Key: "data:lingered", Plugin: "waiter", Scope: company}))
	}
}

func actsOfItsOwnAccord(t *testing.T, h *home) {
	t.Helper()
	errand := func(company, scope string) string {
		t.Helper()
		return h.calls(t, protocol.Call{Key: "data:errand", Plugin: "waiter", Scope: scope, Input: json.RawMessage(`{"company":"` + company + `"}`)})
	}
	require.JSONEq(t, `{"value":null}`, errand("acme", ""))
	require.JSONEq(t, `{"value":null}`, errand("acme", "globex"), "while it works for another, too")
	require.JSONEq(t, `{"code":-32005,"message":"Plugin \"waiter\" is not allowed to perform \"state.get\": company context is required"}`,
		errand("globex", ""))
	require.JSONEq(t, noInvocation, errand("globex", "globex"), "no timer has the scope of a call that runs meanwhile")
}
