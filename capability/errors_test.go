package capability

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestErrors_texts(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{&NotFoundError{Key: "tool:x"}, "nobody offers tool:x"},
		{&NotFoundError{Key: "tool:x", Plugin: "p"}, "plugin p does not offer tool:x"},
		{&NotFoundError{Key: "tool:x", Plugin: "p", Instance: "a"}, "plugin p, instance a does not offer tool:x"},
		{&NotFoundError{Key: "tool:x", Instance: "a"}, "no instance a offers tool:x"},
		{&NotReadyError{Key: "tool:x", Owner: plugin("p"), State: announced}, "tool:x of plugin p is not ready: announced"},
		{
			&NotReadyError{Key: "tool:x", Owner: plugin("p"), State: degraded, Reason: "restarting"},
			"tool:x of plugin p is not ready: degraded (restarting)",
		},
		{
			&AmbiguousError{Key: "job:sync", Plugins: []string{"a", "b"}},
			"job:sync is offered by several plugins (a, b): name the one to use, e.g. --plugin a, or the call's Plugin",
		},
		{
			&AmbiguousError{Key: "job:sync", Plugins: []string{"a", "b"}, More: true},
			"job:sync is offered by several plugins (a, b and others): name the one to use, e.g. --plugin a, or the call's Plugin",
		},
		{
			&OfferLimitError{Owner: plugin("p"), Key: "tool:x", Limit: 2},
			"plugin p cannot offer tool:x: it offers 2 capabilities, its limit: take some back, or raise the limit",
		},
		{
			&WaitLimitError{Waiting: "tool:x", Limit: 2},
			"cannot wait for tool:x: 2 others wait for capabilities, the limit: try again later",
		},
		{&TimeoutError{Key: "nope", After: 30 * time.Millisecond}, "Capability `nope` is not ready after 30ms."},
		{&TimeoutError{Key: "nope", After: DefaultWait}, "Capability `nope` is not ready after 15000ms."},
	}
	for _, tt := range tests {
		require.EqualError(t, tt.err, tt.want)
	}
}
