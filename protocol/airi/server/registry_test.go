package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lists counts the lists of modules that a client got.
func (r *rig) lists(name string) int {
	syncs, _ := separate(r.told[name])
	return len(syncs)
}

func TestServer_whoeverAnnouncesGetsTheListAtOnce(t *testing.T) {
	r := newRig(t, Options{})
	r.held = true
	r.open("watch")
	r.open("a")
	for i := range 5 {
		r.say("a", byExtension("m", "p", fmt.Sprint(i)))
		require.Contains(t, r.lastList("a"), fmt.Sprintf(`"id":"%d"`, i))
	}
	require.Equal(t, 1+1, r.lists("watch"), "when it came, and the first one")
	require.Equal(t, 1+5, r.lists("a"))
	require.NotContains(t, r.lastList("watch"), `"id":"4"`)
	r.wait(200*time.Millisecond - 1)
	require.Equal(t, 1+1, r.lists("watch"))
	r.wait(1)
	require.Equal(t, 1+2, r.lists("watch"))
	require.Contains(t, r.lastList("watch"), `"id":"4"`, "the last one is never lost")
	require.Equal(t, 1+5, r.lists("a"), "it has it already")
	r.wait(time.Second)
	require.Equal(t, 1+2, r.lists("watch"), "nothing has changed since")
	require.NotContains(t, r.timers, Timer{Kind: TimerSync})
	r.say("a", byExtension("m", "p", "5"))
	require.Equal(t, 1+3, r.lists("watch"), "a change after a pause is told at once")
}

func TestServer_whoComesMeanwhileGetsTheListAtOnce(t *testing.T) {
	r := newRig(t, Options{})
	r.held = true
	r.open("a")
	r.say("a", byExtension("m", "p", "1"))
	r.say("a", byExtension("n", "p", "2"))
	r.open("late")
	require.Equal(t, 1, r.lists("late"))
	require.Contains(t, r.lastList("late"), `"n"`)
	r.wait(time.Second)
	require.Equal(t, 1, r.lists("late"))
}

// 200 peers that join at once made the reference servers send 328 to 589 MB.
func TestServer_joinsAreNotQuadratic(t *testing.T) {
	s := New(Options{})
	const peers = 200
	bytes := 0
	count := func(effects []Effect) {
		for _, e := range effects {
			if e, ok := e.(Send); ok && strings.Contains(string(e.Frame), `"registry:modules:sync"`) {
				bytes += len(e.To) * len(e.Frame)
			}
		}
	}
	for i := range peers {
		count(s.Step(protocolNow, Opened{Conn: Conn(i + 1), Peer: fmt.Sprint("peer-", i)}))
	}
	for i := range peers {
		frame := byModule(fmt.Sprint("module-", i), "a-plugin-of-some-length", fmt.Sprint("instance-", i))
		count(s.Step(protocolNow, Receive(Conn(i+1), []byte(frame))))
	}
	count(s.Step(protocolNow, Fired{Timer{Kind: TimerSync}}))
	require.Less(t, bytes, 20<<20)
}

func TestServer_theMiddleListOfAReannouncementIsNotSent(t *testing.T) {
	r := newRig(t, Options{})
	r.open("watch")
	r.open("a")
	r.say("a", byModule("m", "p", "1"))
	clear(r.told)
	r.say("a", byModule("m", "p", "1"))
	require.Equal(t, 1, r.lists("a"))
	require.Equal(t, 1, r.lists("watch"))
}

// Where the list is long and the peers are many, they get it in turn.
func TestServer_longListsAreSentInTurn(t *testing.T) {
	r := newRig(t, Options{})
	const peers = 9
	r.server.syncBytes = 1 << 10
	for i := range peers {
		r.open(fmt.Sprint("peer-", i))
	}
	r.say("peer-0", byExtension("m", "p", strings.Repeat("x", 200))) // so that four may have it at a time
	r.held = true
	r.wait(time.Second)
	clear(r.told)
	got := func() (names []string) {
		for i := range peers {
			for range r.lists(fmt.Sprint("peer-", i)) {
				names = append(names, fmt.Sprint(i))
			}
		}
		clear(r.told)
		return names
	}
	r.say("peer-8", byExtension("one", "p", "one"))
	now := len(got())
	require.Less(t, now, peers, "not all at once")
	require.Greater(t, now, 1, "who announces, at once, and those whose turn it is")
	r.say("peer-8", byExtension("two", "p", "two"))
	require.Equal(t, []string{"8"}, got())
	heard := map[string]bool{}
	for range peers {
		r.wait(200 * time.Millisecond)
		for _, name := range got() {
			require.False(t, heard[name], "nobody twice before all have had a turn")
			heard[name] = true
		}
	}
	require.Len(t, heard, peers-1, "the last one is never lost")
	r.wait(time.Second)
	require.Empty(t, got(), "all have it")
}
