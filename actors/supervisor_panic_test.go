package actors

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
)

// unanswerable is an answer's channel on which whoever answers panics.
func unanswerable() chan<- made {
	to := make(chan made)
	close(to)
	return to
}

// A supervisor that panics while it makes a session leaves no half of one: it ends as any other,
// who listens is told, and the plugin can be started.
func TestSupervisor_aSessionThatIsHalfMadeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:a"))
		told := listen(t, h, KindPhase, nil)
		m, loaded := manifestFor("a"), make(chan error, 1)
		sup, err := h.supervisor(m, nil)
		require.NoError(t, err)
		sup.tell(begin{man: m, runtime: h.runtime, made: unanswerable(), loaded: loaded})
		settle()
		wantNoSession(t, h, "a")
		require.Len(t, loaded, 1, "however that went: it was answered")
		require.Contains(t, told.phases("a"), string(lifecycle.Stopped))
		startReady(t, h, manifestFor("a"))
		wantCall(t, h, "tool:a", `"a"`)
	})
}

// One that was to take the place of a session that has crashed: what that offered goes.
func TestSupervisor_anHeirThatIsHalfMadeEndsAsWell(t *testing.T) {
	for name, heir := range map[string]begin{
		"before it is known": {restart: true, inherits: true}, // of no manifest
		"once it is known":   {man: farManifest(), restart: true, inherits: true, start: &StartOptions{}, made: unanswerable()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := startMortal(t, Options{Restart: steady}, nil, "tool:a")
				p := spySupervisor(m.host, "far")
				startReady(t, m.host, farManifest())
				m.crashes()
				peek(p.self, func() {
					p.cancelRestart()
					p.next = &heir
					p.current.self.tell(replace{})
				})
				settle()
				wantNoSession(t, m.host, "far")
				for _, o := range m.host.Offers() {
					require.NotEqual(t, "far", o.Owner.Plugin)
				}
				startReady(t, m.host, farManifest())
				wantOffers(t, m.host, "tool:a ready")
			})
		})
	}
}
