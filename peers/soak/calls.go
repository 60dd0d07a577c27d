package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

const (
	// patience is the deadline of whatever has to succeed.
	patience = 30 * time.Second
	// shortly is that of a call that need not.
	shortly = 4 * time.Second
	// late is how long after its deadline a call may return; only the machine is
	// between the two.
	late = 20 * time.Second
)

// usual are the codes with which a call of a tortured worker fails. A call that the
// caller gives up is cancelled, one that is too large invalid; these are expected
// where that is done.
var usual = []protocol.Code{
	protocol.CodeNotReady, protocol.CodeOutcomeUnknown, protocol.CodeTimeout,
	protocol.CodeOverloaded, protocol.CodeNotFound,
}

// text is what an echo carries.
type text struct {
	N    uint64 `json:"n"`
	Text string `json:"text"`
}

// letters are of every length in UTF-8, and what needs care in JSON and in lines.
var letters = []rune("abc xyz 012 \"\\/<&\n\r\t\x01äßπ€\u2028\u2029字😀")

// newText is a text of about so many bytes that has not been sent before.
func newText(rng *rand.Rand, size int) text {
	var b strings.Builder
	for b.Len() < min(size, 4<<10) {
		b.WriteRune(letters[rng.IntN(len(letters))])
	}
	if b.Len() > 0 && b.Len() < size {
		return text{rng.Uint64N(1 << 53), strings.Repeat(b.String(), size/b.Len())}
	}
	return text{rng.Uint64N(1 << 53), b.String()}
}

// size is mostly that of a usual call.
func size(rng *rand.Rand) int {
	switch n := rng.IntN(100); {
	case n < 80:
		return rng.IntN(2 << 10)
	case n < 97:
		return rng.IntN(64 << 10)
	}
	return rng.IntN(1 << 20)
}

// invoke makes a call with a deadline, and counts how it ended, by class: "ok", a
// code, or "peer" for the plugin's own words. A call that does not return soon after
// its deadline is a fault, and so is an error that is none of these.
func (k *soak) invoke(ctx context.Context, heading string, c protocol.Call, limit time.Duration, result any) (class string, err error) {
	began := time.Now()
	c.Deadline = began.Add(limit)
	key, plugin := c.Key, c.Plugin // of the call itself nothing: a timer that was stopped may be kept until its time
	overdue := time.AfterFunc(limit+late, func() {
		k.book.hangs("%s of plugin %s does not return %s after its deadline of %s", key, plugin, late, limit)
	})
	answer, err := k.host.Invoke(ctx, c)
	overdue.Stop()
	k.book.took(heading, time.Since(began))
	if err == nil && result != nil {
		if wrong := json.Unmarshal(answer, result); wrong != nil {
			k.book.fault("%s of plugin %s: its answer is no %T: %.100q: %w", c.Key, c.Plugin, result, answer, wrong)
		}
	}
	class = classOf(err)
	if class == "" {
		k.book.fault("%s of plugin %s failed with an error of no kind: %w", c.Key, c.Plugin, err)
	}
	k.book.count(heading, class)
	return class, err
}

func classOf(err error) string {
	if err == nil {
		return "ok"
	}
	if _, ok := errors.AsType[*protocol.PeerError](err); ok {
		return "peer"
	}
	return string(protocol.CodeOf(err))
}

// isGlued tells that a text came back with nothing but a run of x in it: the worker wrote
// its long line while a frame of its own was half written, which no host can see.
func isGlued(sent, back text) bool {
	more := len(back.Text) - len(sent.Text)
	if back.N != sent.N || more <= 0 {
		return false
	}
	at := 0
	for at < len(sent.Text) && sent.Text[at] == back.Text[at] {
		at++
	}
	return back.Text[at+more:] == sent.Text[at:] && strings.Trim(back.Text[at:at+more], "x") == ""
}

// echo has a text sent back, and compares.
func (k *soak) echo(ctx context.Context, heading string, p *plugin, t text, limit time.Duration, wait bool) (class string, err error) {
	input, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	var back text
	class, err = k.invoke(ctx, heading, protocol.Call{Key: "data:echo", Plugin: p.name, Input: input, Wait: wait}, limit, &back)
	if err == nil && back != t && !isGlued(t, back) {
		k.book.fault("plugin %s: echo of %d (%d bytes) is %d (%d bytes)", p.name, t.N, len(t.Text), back.N, len(back.Text))
	}
	return class, err
}

// want makes a fault of an error whose class is not among those.
func (k *soak) want(what string, p *plugin, class string, err error, also ...string) {
	if class != "ok" && !slices.Contains(usual, protocol.Code(class)) && !slices.Contains(also, class) {
		k.book.fault("%s of plugin %s: %s is not expected: %w", what, p.name, class, err)
	}
}

// callMany calls random workers until ctx ends.
func (k *soak) callMany(ctx context.Context, rng *rand.Rand) {
	for ctx.Err() == nil {
		p := k.flock[rng.IntN(len(k.flock))]
		switch {
		case !p.rogue && rng.IntN(4) == 0:
			k.fan(p, rng)
		case rng.IntN(20) == 0:
			k.giveUp(p, rng)
		default:
			class, err := k.echo(context.Background(), "calls", p, newText(rng, size(rng)), shortly, rng.IntN(2) == 0)
			k.wantOf(p, "an echo", class, err)
		}
		pause(ctx, time.Duration(rng.IntN(20))*time.Millisecond)
	}
}

// wantOf is want, but that those left alone do not fail.
func (k *soak) wantOf(p *plugin, what, class string, err error) {
	if p.spared && class == string(protocol.CodeTimeout) {
		return // within the short deadline that is the machine's to decide
	}
	if p.spared && class != "ok" {
		k.book.fault("%s of plugin %s, which is left alone: %w", what, p.name, err)
	}
	k.want(what, p, class, err)
}

// fan has a worker ask the host, several times at once.
func (k *soak) fan(p *plugin, rng *rand.Rand) {
	calls := 1 + rng.IntN(50)
	input := fmt.Appendf(nil, `{"params":{"calls":%d,"flight":%d}}`, calls, 1+rng.IntN(8))
	var did struct{ Calls int }
	class, err := k.invoke(context.Background(), "fans", protocol.Call{Key: "action:fan", Plugin: p.name, Input: input}, shortly, &did)
	if err == nil && did.Calls != calls {
		k.book.fault("plugin %s: %d calls of the host instead of %d", p.name, did.Calls, calls)
	}
	k.wantOf(p, "a fan", class, err)
}

// giveUp calls and does not wait for the answer.
func (k *soak) giveUp(p *plugin, rng *rand.Rand) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer time.AfterFunc(time.Duration(rng.IntN(3000))*time.Microsecond, cancel).Stop()
	class, err := k.echo(ctx, "given up", p, newText(rng, size(rng)), shortly, false)
	if class != string(protocol.CodeCancelled) {
		k.wantOf(p, "an echo", class, err)
	}
}

// callNeighbor calls one that is left alone, until ctx ends: each answer has to come.
func (k *soak) callNeighbor(ctx context.Context, p *plugin, rng *rand.Rand) {
	for ctx.Err() == nil {
		if _, err := k.echo(context.Background(), "neighbors", p, newText(rng, size(rng)), patience, false); err != nil {
			k.book.fault("plugin %s, which is left alone, does not answer: %w", p.name, err)
			return
		}
		pause(ctx, time.Millisecond)
	}
}

// pause waits for so long, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
