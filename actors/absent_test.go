package actors

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestAbsent_whoOffersAKeyWhenItRunsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHostWith(t, Options{Unstarted: func(key, named string) string {
			if key == "tool:off" && named != "b" {
				return "plugin off is disabled"
			}
			return ""
		}},
			offering("a", "tool:a"),
			offering("b", "tool:b").OnSetup(hook(func(context.Context) error { return errors.New("no luck") })))
		info := startReady(t, h, manifestFor("a"))
		_, err := h.Start(t.Context(), manifestFor("b"), StartOptions{})
		require.Error(t, err)
		_, err = h.Stop(t.Context(), info.ID)
		require.NoError(t, err)
		for _, test := range []struct{ key, named, want string }{
			{"tool:a", "", "nobody offers tool:a: plugin a offers it when it runs, and is stopped: start it"},
			{"tool:a", "a", "plugin a does not offer tool:a: plugin a offers it when it runs, and is stopped: start it"},
			{"tool:off", "", "nobody offers tool:off: plugin off is disabled"},
			{"tool:off", "a", "plugin a does not offer tool:off: plugin off is disabled"},
			{"tool:b", "a", "plugin a does not offer tool:b"},
			{"tool:none", "", "nobody offers tool:none"},
		} {
			_, err := h.Invoke(t.Context(), protocol.Call{Key: test.key, Plugin: test.named})
			wantCode(t, err, protocol.CodeNotFound, test.want)
		}
		_, err = callKey(t, h, "tool:b")
		wantCode(t, err, protocol.CodeNotReady, "tool:b of plugin b is not ready: failed (no luck)")
		startReady(t, h, manifestFor("a"))
		wantCall(t, h, "tool:a", `"a"`)
	})
}
