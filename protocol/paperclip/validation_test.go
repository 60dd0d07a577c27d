package paperclip

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestValidation_asksByTheWiresOwnMethods(t *testing.T) {
	c := protocol.Config{Full: json.RawMessage(`{"a":1}`)}
	call := Dialect{}.Validation(protocol.Module{}, c)
	require.Equal(t, protocol.Call{Key: "paperclip:validateConfig", Input: json.RawMessage(`{"config":{"a":1}}`)}, call)
	call = Dialect{}.Validation(protocol.Module{}, protocol.Config{})
	require.Equal(t, `{"config":{}}`, string(call.Input))
	call = Dialect{}.CompanyConfiguration("acme", c)
	require.Equal(t, protocol.Call{Key: "paperclip:configChanged", Input: json.RawMessage(`{"config":{"a":1},"companyId":"acme"}`)}, call)
}

func TestValidated_readsWhatTheWorkerSays(t *testing.T) {
	gone := errors.New("it is gone")
	code := func(n int) error { return &protocol.PeerError{Message: "no", Code: number(n)} }
	problem := func(reasons ...string) (list []protocol.ConfigProblem) {
		for _, r := range reasons {
			list = append(list, protocol.ConfigProblem{Reason: r})
		}
		return list
	}
	for name, c := range map[string]struct {
		result string
		err    error
		want   protocol.Validation
		fails  error
	}{
		"yes":             {result: `{"ok":true}`, want: protocol.Validation{Asked: true}},
		"yes, but":        {result: `{"ok":true,"warnings":["w",7,""]}`, want: protocol.Validation{Asked: true, Warnings: []string{"w"}}},
		"no":              {result: `{"ok":false,"errors":["a","b"]}`, want: protocol.Validation{Asked: true, Invalid: problem("a", "b")}},
		"no word":         {result: `{"ok":false}`, want: protocol.Validation{Asked: true, Invalid: problem("it gives no reason")}},
		"neither":         {result: `null`, want: protocol.Validation{Note: "it says neither yes nor no"}},
		"no hook":         {err: code(codeNotImplemented), want: protocol.Validation{Note: "it has no hook for that"}},
		"no method":       {err: code(codeMethodNotFound), want: protocol.Validation{Note: "it has no hook for that"}},
		"a failure":       {err: code(codeWorker), fails: code(codeWorker)},
		"another's fault": {err: gone, fails: gone},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Dialect{}.Validated(json.RawMessage(c.result), c.err)
			require.Equal(t, c.fails, err)
			require.Equal(t, c.want, got)
		})
	}
}
