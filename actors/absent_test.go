package actors

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

func TestAbsent_whoOffersAKeyWhenItRunsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endless := strings.Repeat("x", 2*maxDetail)
		failing := func(text string) plugin.Hook {
			return hook(func(context.Context) error { return errors.New(text) })
		}
		h := startHostWith(t, Options{Unstarted: func(key, named string) string {
			if key == "tool:off" && named != "b" {
				return "plugin off is disabled"
			}
			return ""
		}},
			offering("a", "tool:a"),
			offering("b", "tool:b").OnSetup(failing("no luck")),
			offering("c", "tool:c").OnSetup(failing(endless)))
		info := startReady(t, h, manifestFor("a"))
		for _, name := range []string{"b", "c"} {
			_, err := h.Start(t.Context(), manifestFor(name), StartOptions{})
			require.Error(t, err)
		}
		_, err := h.Stop(t.Context(), info.ID)
		require.NoError(t, err)
		for _, test := range []struct{ key, named, want string }{
			{"tool:a", "", "nobody offers tool:a: plugin a offers it when it runs, and is stopped: start it"},
			{"tool:a", "a", "plugin a does not offer tool:a: plugin a offers it when it runs, and is stopped: start it"},
			{"tool:b", "", "nobody offers tool:b: plugin b offers it when it runs, and has failed (no luck)"},
			{"tool:c", "", "nobody offers tool:c: plugin c offers it when it runs, and has failed (" + endless[:maxDetail] + "…)"},
			{"tool:off", "", "nobody offers tool:off: plugin off is disabled"},
			{"tool:off", "a", "plugin a does not offer tool:off: plugin off is disabled"},
			{"tool:b", "a", "plugin a does not offer tool:b"},
			{"tool:none", "", "nobody offers tool:none"},
		} {
			_, err := h.Invoke(t.Context(), protocol.Call{Key: test.key, Plugin: test.named})
			wantCode(t, err, protocol.CodeNotFound, test.want)
		}
		startReady(t, h, manifestFor("a"))
		wantCall(t, h, "tool:a", `"a"`)
	})
}
