package actors_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
)

// separatorResult holds what some take for the end of a line, raw and escaped, and a
// character of each length that UTF-8 has.
const separatorResult = `{"content":"a` + "\u2028" + `b` + "\u2029" + `c` + "\u0085" + `d\u000be\u000cf é € 𝄞"}`

// rogueSeparators answers a call in one write, and every further one a byte at a time.
func rogueSeparators(w *rogue) {
	calls := 0
	w.tools["separators"] = func(a ask) string {
		if calls++; calls == 1 {
			return separatorResult
		}
		for _, b := range []byte(reply(a, separatorResult) + "\n") {
			_, _ = os.Stdout.Write([]byte{b})
			time.Sleep(2 * time.Millisecond)
		}
		return ""
	}
	w.serve()
}

func TestProbe_lineSeparatorsAreNotLineEnds(t *testing.T) {
	p := newTrial(t, nil)
	p.start(p.worker("separators", "separators"))
	before := p.log.about("separators")
	p.wantCall("separators", "separators", `{}`, separatorResult)
	p.wantCall("separators", "separators", `{}`, separatorResult)
	require.Equal(t, before, p.log.about("separators"), "there is nothing to log")
	require.Empty(t, p.inspect("separators").Dropped)
}

// frameLimit is the limit of the worker here; that of the wire is 128 MiB, a unit
// test of the driver has it.
const frameLimit = 256 << 10

// longReply is a frame of n bytes.
func longReply(a ask, n int) string {
	empty := reply(a, `{"content":""}`)
	return strings.Replace(empty, `:""`, `:"`+strings.Repeat("x", n-len(empty))+`"`, 1)
}

// rogueFrames answers with frames of the length that it is asked for, and "both" once
// two calls have come.
func rogueFrames(w *rogue) {
	w.tools["frame"] = func(a ask) string { w.says(longReply(a, a.number())); return "" }
	w.tools["silence"] = func(ask) string { w.logs("silent"); return "" }
	w.tools["both"] = func(long ask) string {
		w.says(longReply(long, frameLimit), reply(w.hears(), `{"data":123456}`))
		return ""
	}
	w.serve()
}

func (p *trial) frames() *manifest.Manifest {
	m := p.worker("frames", "frame", "silence", "both")
	m.Host.Limits.FrameBytes = frameLimit
	return m
}

func TestProbe_theFrameLimitAtItsEdge(t *testing.T) {
	p := newTrial(t, nil)
	p.start(p.frames())
	for _, n := range []int{64<<10 - 1, 64 << 10, 64<<10 + 1, frameLimit} {
		got := <-p.begin("frames", "frame", fmt.Sprintf(`{"n":%d}`, n))
		require.NoError(t, got.err)
		require.Len(t, got.result, n-len(`{"jsonrpc":"2.0","id":N,"result":}`), "all of the frame arrived")
	}
	wire := p.host.Subscribe(actors.KindWire, 0)
	defer wire.Close()
	long := p.begin("frames", "both", `{}`)
	require.Equal(t, []string{"asks 6"}, wireOf(wire, "frames", 1))
	short := p.begin("frames", "silence", `{}`)
	require.Len(t, (<-long).result, frameLimit-len(`{"jsonrpc":"2.0","id":N,"result":}`))
	require.Equal(t, answer{result: `{"data":123456}`}, <-short)
	require.Equal(t, []string{"asks 7", "answers 6", "answers 7"}, wireOf(wire, "frames", 3), "in their order")
}

// wireOf is what passes next between the host and a plugin.
func wireOf(wire *actors.Subscription, plugin string, n int) []string {
	var passed []string
	for e := range wire.C {
		frame := e.(actors.Wire)
		if frame.Plugin != plugin {
			continue
		}
		switch m := frame.Message.(type) {
		case paperclip.Request:
			passed = append(passed, "asks "+string(m.ID))
		case paperclip.Response:
			passed = append(passed, "answers "+string(m.ID))
		}
		if len(passed) == n {
			break
		}
	}
	return passed
}

func TestProbe_aFrameAboveTheLimitFailsItsSenderAlone(t *testing.T) {
	p := newTrial(t, nil)
	p.start(p.frames())
	var hanging, others []<-chan answer
	for range 5 {
		hanging = append(hanging, p.begin("frames", "silence", `{}`))
	}
	for range 20 {
		others = append(others, p.begin("neighbor", "hello", `{}`))
	}
	sighted(p, 5, func(e actors.Logged) bool { return e.Text == "silent" })
	began := time.Now()
	hanging = append(hanging, p.begin("frames", "frame", fmt.Sprintf(`{"n":%d}`, frameLimit+1)))
	for _, one := range others {
		require.Equal(t, answer{result: `{"content":"hello"}`}, <-one)
	}
	for _, one := range hanging {
		err := (<-one).err
		require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(err), err)
		for _, part := range []string{"plugin frames", "frame is longer", strconv.Itoa(frameLimit)} {
			require.ErrorContains(t, err, part)
		}
	}
	require.Less(t, time.Since(began), 15*time.Second, "at once, and not at their deadline of 30 s")
	reason := p.wantPhase("frames", lifecycle.Failed, 1).Reason
	require.Equal(t, fmt.Sprintf("plugin frames: a frame is longer than the limit of %d bytes", frameLimit), reason)
}
