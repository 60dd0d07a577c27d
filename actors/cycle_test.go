package actors

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
)

// cycles returns what is told of cycles.
func (r *record) cycles() []string {
	var list []string
	for _, line := range r.all() {
		if strings.Contains(line, ">") {
			list = append(list, line)
		}
	}
	return list
}

func TestCycle_isNamedAtOnceToEachMember(t *testing.T) {
	for name, test := range map[string]struct {
		needs map[string]string // plugin to what it requires, in order of start
		order []string
		want  []string
	}{
		"self": {map[string]string{"a": "tool:a"}, []string{"a"}, []string{"a waits for [tool:a] a>a"}},
		"two": {map[string]string{"a": "tool:b", "b": "tool:a"}, []string{"a", "b"}, []string{
			"a waits for [tool:b] a>b>a", "b waits for [tool:a] b>a>b",
		}},
		"three": {map[string]string{"a": "tool:b", "b": "tool:c", "c": "tool:a"}, []string{"b", "a", "c"}, []string{
			"a waits for [tool:b] a>b>c>a", "b waits for [tool:c] b>c>a>b", "c waits for [tool:a] c>a>b>c",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHost(t, offering("a", "tool:a"), plugin.Define("b"), offering("c", "tool:c"))
				events := listen(t, h, KindWaiting, nil)
				for _, name := range test.order {
					// b promises in its manifest what the others declare in Go.
					m := manifestFor(name, requires(test.needs[name]))
					if name == "b" {
						promises("tool:b")(m)
					}
					beginStart(t, h, m)
				}
				require.ElementsMatch(t, test.want, events.cycles())
				require.Zero(t, time.Since(h.Sessions()[0].Since))
			})
		})
	}
}

func TestCycle_thereIsNoneWhileAnotherOwnerMayCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:a"), offering("b", "tool:b"), offering("c", "tool:c").OnInit(lasts(time.Second)))
		events := listen(t, h, KindWaiting, nil)
		c := beginStart(t, h, manifestFor("c"))
		a := beginStart(t, h, manifestFor("a", requires("tool:b|tool:c")))
		b := beginStart(t, h, manifestFor("b", requires("tool:a")))
		require.Empty(t, events.cycles())
		for _, started := range []<-chan outcomeOf{a, b, c} {
			require.Equal(t, lifecycle.Ready, (<-started).info.Phase)
		}
	})
}

func TestCycle_aNeedThatWasMetBlocksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:a").OnInit(lasts(10*time.Second)), offering("b", "tool:b"))
		events := listen(t, h, KindWaiting, nil)
		startReady(t, h, manifestFor("b"))
		a := beginStart(t, h, manifestFor("a", requires("tool:b")))
		_, err := h.Stop(t.Context(), "plugin-session-0")
		require.NoError(t, err)
		b := beginStart(t, h, manifestFor("b", requires("tool:a")))
		require.Empty(t, events.cycles(), "a initializes: it waits for b no more")
		require.NoError(t, (<-a).err)
		require.NoError(t, (<-b).err)
	})
}
