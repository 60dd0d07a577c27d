package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// deed is what a torturer does to a plugin.
type deed struct {
	name string
	// weight is how often it is done, compared with the others.
	weight int
	// rogue tells that the plugin has to have the deeds of the rogue.
	rogue bool
	do    func(t *torture)
}

// torture is one deed on one plugin.
type torture struct {
	*soak
	p   *plugin
	rng *rand.Rand
}

// deeds is the table of all that happens to a worker.
var deeds = []deed{
	// From outside.
	{"kill", 10, false, (*torture).killIt},
	{"kill in flight", 4, true, (*torture).killInFlight},
	{"stop", 4, false, (*torture).stopIt},
	{"start", 4, false, (*torture).startIt},
	{"reload", 6, false, (*torture).reloadIt},
	{"big frame", 4, false, (*torture).bigFrame},
	{"frame too long for it", 2, false, (*torture).hugeFrame},
	// Noise.
	{"stdout junk", 5, true, asks("stdout", func(r *rand.Rand) any { return amount(r, 4<<20) })},
	{"stderr flood", 5, true, asks("stderr", func(r *rand.Rand) any { return amount(r, 4<<20) })},
	{"log flood", 4, true, asks("notify", func(r *rand.Rand) any { return members{"count": 1 + r.IntN(5000)} })},
	{"notification flood", 4, true, asks("notify", func(r *rand.Rand) any {
		return members{"count": 1 + r.IntN(5000), "method": "streams.emit", "params": members{"channel": "c", "event": r.IntN(9)}}
	})},
	{"long line", 3, true, asks("long-line", func(r *rand.Rand) any {
		return members{"bytes": r.IntN(frameLimit * 5 / 4), "end": r.IntN(2) == 0}
	})},
	{"lie", 3, true, asks("say", func(r *rand.Rand) any { return members{"text": lies[r.IntN(len(lies))]} })},
	{"bad framing", 2, true, asks("say", func(r *rand.Rand) any { return members{"text": glued[r.IntN(len(glued))]} })},
	// Pipes.
	{"close stdin", 3, true, asks("close-stdin", nothing)},
	{"close stdout", 3, true, asks("close-stdout", nothing)},
	{"slow reader", 5, true, (*torture).slowReader},
	{"busy", 2, true, asks("spin", func(r *rand.Rand) any { return members{"ms": r.IntN(500)} })},
	// Ends.
	{"exit in flight", 6, true, (*torture).exitInFlight},
	{"exit later", 4, true, asks("exit-after-answer", func(r *rand.Rand) any { return members{"ms": r.IntN(100), "code": r.IntN(2)} })},
	{"throw outside", 3, true, asks("throw-later", nothing)},
	{"term itself", 2, true, asks("kill", func(*rand.Rand) any { return members{"signal": "SIGTERM"} })},
	// Calls.
	{"hang", 4, true, (*torture).hang},
	{"throw", 4, true, (*torture).throw},
	// Obstinacy.
	{"stay", 3, true, (*torture).stay},
	{"fork", 4, true, (*torture).fork},
}

type members map[string]any

func nothing(*rand.Rand) any { return members{} }

// amount is some text, in lines of some length.
func amount(r *rand.Rand, most int) members {
	return members{"bytes": 1 + r.IntN(most), "line": 1 + r.IntN(1<<r.IntN(18))}
}

// lies are frames that mean nothing: answers to calls that never were, of no id, of an
// id that is text, requests that nobody serves, no frame at all.
var lies = []string{
	`{"jsonrpc":"2.0","id":999999999999,"result":1}` + "\n",
	`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}` + "\n",
	`{"jsonrpc":"2.0","id":"nobody","result":{"n":1}}` + "\n",
	`{"jsonrpc":"2.0","id":{"odd":true},"method":"nobody.serves"}` + "\n",
	`{"jsonrpc":"2.0"}` + "\n[]\n{\n\n",
}

// glued are mistakes of framing, which end the session.
var glued = []string{
	`print{"jsonrpc":"2.0","id":999999999999,"result":1}` + "\n",
	"Content-Length: 17\r\n\r\n",
	`{"jsonrpc":"2.0","id":999999999998,"result":1}{"jsonrpc":"2.0","id":999999999999,"result":1}` + "\n",
}

// weights is the sum of all.
var weights = func() (sum int) {
	for _, d := range deeds {
		sum += d.weight
	}
	return sum
}()

// pick takes a deed at random.
func pick(rng *rand.Rand) deed {
	n := rng.IntN(weights)
	i := slices.IndexFunc(deeds, func(d deed) bool { n -= d.weight; return n < 0 })
	return deeds[i]
}

// torment does deeds, one after the other, until ctx ends.
func (k *soak) torment(ctx context.Context, rng *rand.Rand) {
	for ctx.Err() == nil {
		d := pick(rng)
		t := &torture{k, k.victim(d, rng), rng}
		k.do(d, t)
		pause(ctx, time.Duration(rng.IntN(100))*time.Millisecond)
	}
}

func (k *soak) do(d deed, t *torture) {
	k.book.count("deeds", d.name)
	k.book.note("%s: %s", t.p.name, d.name)
	d.do(t)
}

// victim is a plugin at random that the deed can be done to.
func (k *soak) victim(d deed, rng *rand.Rand) *plugin {
	able := slices.DeleteFunc(slices.Clone(k.flock), func(p *plugin) bool { return p.spared || d.rogue && !p.rogue })
	return able[rng.IntN(len(able))]
}

// asks is a deed that the rogue is asked for, and that is all.
func asks(what string, params func(*rand.Rand) any) func(*torture) {
	return func(t *torture) { _ = t.ask(what, params(t.rng), shortly, nil) }
}

// ask has the rogue do something itself. It may die of it, so that any of the usual
// errors is right; a peer's own error is not.
func (t *torture) ask(what string, params any, limit time.Duration, result any) error {
	input, err := json.Marshal(params)
	if err != nil {
		t.book.fault("the parameters of %s: %w", what, err)
		return err
	}
	class, err := t.invoke(context.Background(), "asked for deeds", protocol.Call{Key: "data:" + what, Plugin: t.p.name, Input: input}, limit, result)
	t.want(what, t.p, class, err)
	return err
}

// beside runs n calls of the rogue side by side with a deed, and waits for them.
func (t *torture) beside(n int, what string, params any, do func()) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() { _ = t.ask(what, params, shortly/4, nil) })
	}
	do()
	all.Wait()
}

// killIt kills the process that the host reports for the plugin.
func (t *torture) killIt() {
	info, err := t.host.Inspect(t.p.name)
	if err != nil || info.Process == nil {
		return
	}
	if t.scratch.strike(info.Process.PID) {
		t.book.count("workers", "kills")
		t.book.note("%s: killed %d of %s", t.p.name, info.Process.PID, info.ID)
	}
}

func (t *torture) killInFlight() {
	t.beside(1+t.rng.IntN(8), "hang", members{}, t.killIt)
}

func (t *torture) exitInFlight() {
	t.beside(1+t.rng.IntN(8), "late", members{"ms": 500}, func() { _ = t.ask("exit", members{"code": t.rng.IntN(3)}, shortly, nil) })
}

// bigFrame is nearly as long as a frame may be.
func (t *torture) bigFrame() {
	class, err := t.echo(context.Background(), "big frames", t.p, text{1, newText(t.rng, t.rng.IntN(frameLimit/3)).Text}, patience, false)
	t.want("a big echo", t.p, class, err)
}

// hugeFrame is above the limit: nothing of it may reach the worker.
func (t *torture) hugeFrame() {
	class, err := t.echo(context.Background(), "huge frames", t.p, text{1, strings.Repeat("x", frameLimit)}, shortly, false)
	if err == nil {
		t.book.fault("plugin %s took a frame of more than %d bytes", t.p.name, frameLimit)
	}
	t.want("a huge echo", t.p, class, err, string(protocol.CodeInvalid))
}

// slowReader sends much to a worker that does not read.
func (t *torture) slowReader() {
	if t.ask("deaf", members{"ms": t.rng.IntN(1000)}, shortly, nil) != nil {
		return
	}
	var all sync.WaitGroup
	large := text{1, newText(t.rng, 1<<20).Text}
	for range 4 + t.rng.IntN(20) {
		all.Go(func() {
			class, err := t.echo(context.Background(), "to slow readers", t.p, large, shortly, false)
			t.want("a large echo", t.p, class, err)
		})
	}
	all.Wait()
}

// hang is a call without an answer.
func (t *torture) hang() {
	err := t.ask("hang", members{}, time.Duration(t.rng.IntN(400))*time.Millisecond, nil)
	if err == nil {
		t.book.fault("plugin %s answered what hangs", t.p.name)
	}
}

// throw is an error in the plugin's own words, which have to arrive.
func (t *torture) throw() {
	const words = "not \"today\" – \u2028 or ever"
	input, _ := json.Marshal(members{"message": words}) // cannot fail
	class, err := t.invoke(context.Background(), "thrown", protocol.Call{Key: "data:throw", Plugin: t.p.name, Input: input}, shortly, nil)
	t.want("a throw", t.p, class, err, "peer")
	if class == "ok" || class == "peer" && err.Error() != words {
		t.book.fault("plugin %s threw %q, and what came is: %v", t.p.name, words, err)
	}
}

// stay makes a worker that neither a shutdown nor SIGTERM ends, and ends it.
func (t *torture) stay() {
	if t.ask("ignore-term", members{}, shortly, nil) == nil && t.ask("ignore-shutdown", members{}, shortly, nil) == nil {
		t.reloadIt()
	}
}

// fork has the worker start another program, which outlives it, and then ends the
// worker: the other one has to end as well.
func (t *torture) fork() {
	var did struct{ PID, Parent int }
	if t.ask("fork", members{"ms": 3_600_000, "hold": t.rng.IntN(2) == 0}, shortly, &did) != nil {
		return
	}
	info, err := t.host.Inspect(t.p.name)
	if err == nil && info.Process != nil && info.Process.PID == did.Parent {
		switch t.rng.IntN(4) {
		case 0:
			t.stop(info.ID)
			t.start()
		case 1:
			t.reload(info.ID)
		case 2:
			_ = t.ask("exit", members{}, shortly, nil)
		default:
			t.scratch.strike(did.Parent)
		}
	}
	t.wantGone(did.Parent, did.PID)
}

// wantGone waits for the end of what a worker had started, once the worker has ended.
func (t *torture) wantGone(worker, grandchild int) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for t.scratch.marks(grandchild) {
		if ctx.Err() != nil {
			if !t.scratch.marks(worker) {
				t.book.fault("plugin %s: process %d has outlived its worker %d by %s", t.p.name, grandchild, worker, patience)
			}
			return
		}
		pause(ctx, 20*time.Millisecond)
	}
	t.book.count("workers", "grandchildren ended")
}
