package configuration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestDifferences_nameMembersAndNoValues(t *testing.T) {
	d := differences{}
	d.compare("", json.RawMessage(`{"a":1,"b":{"c":1,"d":2},"gone":0,"n":1.0,"x/y":1}`), json.RawMessage(`{"b":{"d":3,"c":1,"e":4},"a":1,"n":1.0,"x/y":2,"list":[1]}`))
	require.Equal(t, differences{added: []string{"/b/e", "/list"}, changed: []string{"/b/d", "/x~1y"}, removed: []string{"/gone"}}, d)
}

func TestDifferences_areBounded(t *testing.T) {
	var many []string
	for i := range maxListed + 7 {
		many = append(many, fmt.Sprintf(`"m%d":1`, i))
	}
	d := differences{}
	d.compare("", json.RawMessage(`{}`), json.RawMessage("{"+strings.Join(many, ",")+"}"))
	require.Len(t, d.added, maxListed)
	require.Equal(t, 7, d.more)
}

func TestPlan_tellsWhatWouldChange(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.validate = noBad
		r.m.Host.Scope = "acme"
		plan := func(change Change, value string) Plan {
			t.Helper()
			change.Value = json.RawMessage(value)
			p, err := r.Plan(t.Context(), "picky", change)
			require.NoError(t, err)
			return p
		}
		require.Equal(t, AtItsStart, plan(Change{}, `{"a":1}`).Effect)
		r.start(t)
		require.NoError(t, r.set(t, `{"a":1,"b":2}`))
		p := plan(Change{Patch: true}, `{"a":2,"b":null,"c":"s3cret"}`)
		require.Equal(t, Plan{
			Plugin: "picky", Validation: Validation{Status: Valid, Validation: protocol.Validation{Asked: true}},
			Revision: 1, Next: 2, Added: []string{"/c"}, Changed: []string{"/a"}, Removed: []string{"/b"}, Effect: Now, Session: r.newest("picky").ID,
		}, p)
		require.Equal(t, []string{"it is what is in force already"}, plan(Change{}, `{"b":2,"a":1}`).Warnings)
		refused := plan(Change{}, `{"bad":1}`)
		require.Equal(t, Invalid, refused.Validation.Status)
		require.Equal(t, []protocol.ConfigProblem{{Reason: "this is bad"}}, refused.Validation.Invalid)
		others := plan(Change{Company: "globex"}, `{"a":1}`)
		require.Equal(t, WhenItAsks, others.Effect)
		require.Equal(t, []string{alone}, others.Warnings)
		require.Equal(t, Now, plan(Change{Company: "acme"}, `{"a":9}`).Effect, "it is its own")

		_, err := r.Commit(t.Context(), "picky", Change{Company: "acme", Value: json.RawMessage(`{"own":1}`)})
		require.NoError(t, err)
		p = plan(Change{}, `{"a":3}`)
		require.Equal(t, WhenItAsks, p.Effect)
		require.Equal(t, []string{`the plugin goes by its own configuration for company "acme", which goes before this one`}, p.Warnings)
		r.wantSeen(t, `null`, `{"a":1,"b":2}`, `{"own":1}`)
	})
}

func TestChange_isHeldToItsForm(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		for text, c := range map[string]Change{
			"expected a JSON object, the configuration of plugin picky":  {Value: json.RawMessage(`[1]`)},
			"the configuration of plugin picky":                          {Value: json.RawMessage(`null`)},
			"expected either a configuration or its end, got both":       {Unset: true, Value: json.RawMessage(`{}`)},
			`has no configuration that was kept for company "globex"`:    {Unset: true, Company: "globex"},
			"expected a JSON object, the configuration of plugin picky ": {},
		} {
			_, err := r.Validate(t.Context(), "picky", c)
			wantFault(t, err, protocol.CodeInvalid, strings.TrimSpace(text))
		}
		_, err := r.Plan(t.Context(), "nobody", Change{})
		wantFault(t, err, protocol.CodeNotFound, "no plugin is called nobody")
	})
}
