package plugin

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/eliza"
)

// ElizaOptions say how a plugin is served to an elizaOS host. The zero value works.
type ElizaOptions struct {
	// In is what the host writes, Out what it reads. They are as in PaperclipOptions.
	In  io.Reader
	Out io.Writer

	// Name is the plugin's name in the host; "" is what the host tells, else the
	// definition's.
	Name string
	// Key has every call of the host's checked for its signature, and refused if it has
	// none or came before. Nil checks nothing, but where In and Out are the standard ones: there
	// it is what the host has left in the file rpc.key, in hexadecimal digits, of the directory
	// that ELIZA_REMOTE_PLUGIN_STATE_DIR names.
	Key []byte
	// ReplayWindow is how many signed calls may come out of order. Zero means 1024.
	ReplayWindow int
	// Granted are the permissions that the worker itself keeps to, {host?, bun?}; nil are
	// those that the host tells when it begins.
	Granted json.RawMessage
	// Denied is told what the permissions did not allow, and which calls were refused
	// because of their signature; nil tells the log. It must not block.
	Denied func(eliza.Denial)
	// Log takes the plugin's own log, for which the wire has no word; nil writes lines of
	// text to standard error.
	Log slog.Handler

	// MaxPending is how many calls may be in flight in each direction; the next one fails
	// at once. Zero means protocol.DefaultMaxPending.
	MaxPending int
	// MaxRecord is the longest frame in bytes, in each direction. Zero means 64 MiB.
	MaxRecord int
	// QueueBytes is as in PaperclipOptions.
	QueueBytes int
	// InitWait is how long OnInit and OnSetup wait for the host's init, which has the
	// configuration: some hosts send none. Zero means 1 s. One that comes later runs OnSetup
	// again.
	InitWait time.Duration
	// Settle is how long handlers may still run when the host has closed its end, before
	// their contexts end; zero means 1 s. Grace is how long they may run then; zero means 400 ms.
	Settle, Grace time.Duration
}

const (
	defaultElizaRecord = 64 << 20
	defaultInitWait    = time.Second
	defaultSettle      = time.Second
)

func (o ElizaOptions) withDefaults() (ElizaOptions, error) {
	var err error
	if o.In == nil && o.Out == nil {
		o.In, o.Out = takeStandard()
		o, err = o.fromEnvironment()
	}
	if o.Log == nil {
		o.Log = slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: untimed})
	}
	for limit, usual := range map[*int]int{&o.MaxRecord: defaultElizaRecord, &o.QueueBytes: defaultQueueBytes} {
		if *limit <= 0 {
			*limit = usual
		}
	}
	for limit, usual := range map[*time.Duration]time.Duration{&o.InitWait: defaultInitWait, &o.Settle: defaultSettle, &o.Grace: defaultGrace} {
		if *limit <= 0 {
			*limit = usual
		}
	}
	return o, err
}

// untimed leaves the time out of a line: whoever reads standard error has it.
func untimed(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// ServeEliza runs the plugin as the worker of an elizaOS host, until the host ends it.
// Package documentation tells how the plugin's parts appear there.
//
// It announces what the definition offers at once, and what OnInit and OnSetup offer when
// they have returned; then it says that it is ready. What is offered later is announced
// when it is. When a hook fails the host is told why, and the worker ends.
//
// It returns nil when the host closed its end, or when ctx ended; otherwise what went
// wrong: a hook, a frame above the limit, a key that cannot be read, or a host that is gone
// while something is written to it. In the end handlers are waited for (Settle), OnStop
// runs, contexts are cancelled and handlers waited for again (Grace), and what they have
// written is, too (5 s).
func ServeEliza(ctx context.Context, d *Definition, opts ElizaOptions) error {
	opts, err := opts.withDefaults()
	if err != nil {
		return err
	}
	return newElizaWorker(d, opts).serve(ctx)
}

// elizaWorker is a worker at the end of an elizaOS host's wire.
type elizaWorker struct {
	*worker
	opts ElizaOptions
	// known is what the host's init told; nil before.
	known atomic.Pointer[elizaKnown]
	// heard is closed when the host has said something that counts: its init, or a call by
	// one that sends none.
	heard    chan struct{}
	hearOnce sync.Once

	// hooks and events are the tasks that have an order.
	hooks, events lane
	// ready tells that the hooks of the start have returned well.
	ready atomic.Bool

	// What follows is under the worker's lock.

	// leaving are the tasks that the host may leave.
	leaving map[protocol.RequestID]context.CancelFunc
	// announced are the keys that the host was told, or is to be told with the end of init:
	// offered are those, added what is announced then besides.
	announced map[string]bool
	offered   []protocol.Offer
	added     []eliza.Definition
	starting  bool
	// isStale tells that a hook for a newer configuration is to run.
	isStale bool
	// unused counts what of the host's was not used, of which the log shows the beginning.
	unused protocol.Strays
	count  uint64
}

// elizaKnown is what a host's init tells.
type elizaKnown struct {
	id     string
	config json.RawMessage
}

var _ end = (*elizaWorker)(nil)

func newElizaWorker(d *Definition, o ElizaOptions) *elizaWorker {
	w := &elizaWorker{
		opts: o, heard: make(chan struct{}), starting: true,
		leaving: map[protocol.RequestID]context.CancelFunc{}, announced: map[string]bool{},
	}
	all, _ := announcements(d.name, d.Offers(), func(key string) bool { return d.handler(key) != nil })
	if len(all) == 0 {
		all = []eliza.Definition{{Name: d.name}}
	}
	w.added = all[1:]
	for _, o := range d.Offers() {
		w.announced[o.Key] = true
	}
	machine := eliza.NewWorker(eliza.WorkerSettings{
		Plugin: all[0], Key: o.Key, ReplayWindow: o.ReplayWindow, Granted: o.Granted, Denied: w.denied, MaxPending: o.MaxPending,
	})
	w.worker = newWorker(d, eliza.Dialect{}.Codec(), machine, wired{
		in: o.In, out: o.Out, record: o.MaxRecord, queue: o.QueueBytes, grace: o.Grace,
	})
	w.end = w
	w.session = newSession(d, elizaHome{workerHome{w.worker}, w})
	w.log = slog.New(o.Log)
	return w
}

func (w *elizaWorker) host() string { return "an elizaOS host" }

func (w *elizaWorker) pluginName() string {
	if k := w.known.Load(); k != nil && k.id != "" {
		return k.id
	}
	if w.opts.Name != "" {
		return w.opts.Name
	}
	return w.definition.name
}

// carryOut does what comes of the machine.
func (w *elizaWorker) carryOut(e protocol.Effect) {
	switch e := e.(type) {
	case eliza.Task:
		w.hear()
		w.take(e)
	case eliza.Started:
		w.started(e)
	case protocol.Abandon:
		if leave := w.leaving[e.ID]; leave != nil {
			leave()
		}
	case protocol.Emitted:
		w.emitted(e.Event)
	case protocol.Dropped:
		w.dropped(e)
	}
}

func (w *elizaWorker) hear() { w.hearOnce.Do(func() { close(w.heard) }) }

// asking tells for the sake of which of the host's calls a call is made.
func (w *elizaWorker) asking(in protocol.Invoke, invocation string) protocol.Input {
	a := eliza.Asking{Invoke: in}
	if invocation != "" {
		a.Within = json.RawMessage(invocation)
	}
	return a
}

func (w *elizaWorker) instead(m protocol.Message, why error) protocol.Message {
	failure, _ := json.Marshal(map[string]string{"name": "Error", "message": why.Error()})
	switch m := m.(type) {
	case eliza.Result:
		return eliza.Result{RequestID: m.RequestID, OK: json.RawMessage(`false`), Error: failure}
	case eliza.StreamEnd:
		return eliza.StreamEnd{StreamID: m.StreamID, Error: failure}
	}
	return nil
}

// dropped tells what of the host's was not used.
func (w *elizaWorker) dropped(d protocol.Dropped) {
	level := slog.LevelWarn
	switch d.What {
	case eliza.DroppedLate, eliza.DroppedCallback:
		level = slog.LevelDebug // who wanted it has given up, and knows
	case eliza.DroppedDenied, eliza.DroppedUnsigned, eliza.DroppedReplay:
		return // it is told by denied
	}
	w.passOver(func(count uint64) {
		w.log.Log(w.ctx, level, "something was not used", "what", d.What, "detail", d.Detail, "count", count)
	})
}

// passOver counts something of the host's that is not used, and has it told.
func (w *elizaWorker) passOver(tell func(count uint64)) {
	w.count++
	if count := w.count; w.unused.Show(time.Now()) {
		w.remarks = append(w.remarks, func() { tell(count) })
	}
}

// denied is the audit of what the worker refuses.
func (w *elizaWorker) denied(d eliza.Denial) {
	if w.opts.Denied != nil {
		w.opts.Denied(d)
		return
	}
	w.passOver(func(count uint64) {
		w.log.WarnContext(w.ctx, "denied", "plugin", d.Plugin, "surface", d.Surface, "target", d.Target,
			"permission", d.Permission, "reason", d.Reason, "count", count)
	})
}
