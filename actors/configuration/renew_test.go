package configuration

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// renewing gives a plugin defaults, one after the other.
type renewing struct {
	*rig
	value string
}

// withDefaults runs a test in a bubble of fake time.
func withDefaults(t *testing.T, test func(r *renewing)) {
	t.Helper()
	within(t, func(of *rig) {
		r := &renewing{rig: of}
		r.Book.Defaults = func(string, string) (json.RawMessage, bool) {
			if r.value == "" {
				return nil, false
			}
			return json.RawMessage(r.value), false
		}
		test(r)
	})
}

// renew changes the defaults.
func (r *renewing) renew(t *testing.T, value string) (string, error) {
	t.Helper()
	before, old := r.Book.InForce("picky", ""), r.value
	r.value = value
	return r.Renew(t.Context(), "picky", "", before, func() { r.value = old })
}

func (r *renewing) wantRenewed(t *testing.T, value, effect string) {
	t.Helper()
	got, err := r.renew(t, value)
	require.NoError(t, err)
	require.Equal(t, effect, got)
}

func TestConfigurator_renewsWhatTheDefaultsSay(t *testing.T) {
	withDefaults(t, func(r *renewing) {
		t := r.t
		r.wantRenewed(t, `{"a":1}`, AtItsStart)
		r.start(t)
		r.wantRenewed(t, `{"a":2}`, Now)
		r.wantRenewed(t, `{ "a": 2 }`, "")
		r.wantRenewed(t, ``, Now)
		r.wantIs(t, lifecycle.Ready, `{}`)
		r.wantSeen(t, `{"a":1}`, `{"a":2}`, `{}`)
		require.NoError(t, r.set(t, `{"b":1}`))
		r.wantRenewed(t, `{"a":3}`, "")
		r.wantIs(t, lifecycle.Ready, `{"b":1}`)
		_, err := r.Renew(t.Context(), "stranger", "", Configuration{}, nil)
		wantFault(t, err, protocol.CodeNotFound, "stranger")
	})
}

// What is refused is out of force before the plugin is given back what it had.
func TestConfigurator_renewsNothingThatIsRefused(t *testing.T) {
	withDefaults(t, func(r *renewing) {
		t := r.t
		r.value = `{"a":1}`
		r.start(t)
		r.validate = noBad
		_, err := r.renew(t, `{"bad":1}`)
		wantFault(t, err, protocol.CodeConfiguration, "this is bad")
		r.wantIs(t, lifecycle.Ready, `{"a":1}`)
		r.wantSeen(t, `{"a":1}`)

		r.validate, r.setup = nil, noBad
		_, err = r.renew(t, `{"bad":2}`)
		require.ErrorContains(t, err, "this is bad")
		r.wantIs(t, lifecycle.Ready, `{"a":1}`)
		r.wantSeen(t, `{"a":1}`, `{"bad":2}`, `{"a":1}`)

		r.m.Host.Configuration.Schema = json.RawMessage(`{"properties":{"a":{"type":"integer"}}}`)
		_, err = r.renew(t, `{"a":"x"}`)
		wantFault(t, err, protocol.CodeConfiguration, "/a")
		r.wantIs(t, lifecycle.Ready, `{"a":1}`)
	})
}
