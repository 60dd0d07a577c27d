package plugin

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Main is all that the main function of a plugin's own process has to do: it serves
// the plugin to the host that started the process, as [ServePaperclip] or [ServeEliza]
// does, until the host ends it, and exits: with 0 when that was in good order, with 1 and a
// line on standard error when not, with 2 when it cannot tell whose worker it is.
//
//	func main() { plugin.Main(ledger()) }
//
// Which of the two is told by the argument --dialect NAME (paperclip or eliza; the author's
// own arguments are left alone), by AIRI_HOST_DIALECT, by what hosts set in a worker's
// environment (ELIZA_REMOTE_PLUGIN_CHANNEL=stdio, PAPERCLIP_PLUGIN_ID), or else by the first
// frame that comes.
//
// Standard input and output belong to the host. What the author prints to os.Stdout,
// even through a logger that was made before, goes to standard error, and os.Stdin
// is empty; only code that does not use package os can still break the wire.
// SIGTERM and SIGINT are taken for the end of standard input; a second one kills.
func Main(d *Definition) {
	os.Exit(run(d))
}

func run(d *Definition) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	context.AfterFunc(ctx, stop)
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintf(os.Stderr, "%s is a plugin: a host starts it and talks to it on standard input\n", d.name)
	}
	dialect, err := chosen(os.Args[1:], os.LookupEnv)
	if err != nil {
		return d.fail(2, err)
	}
	in, out := takeStandard()
	if dialect == "" {
		if dialect, in, err = spoken(ctx, in); err != nil {
			return d.fail(2, err)
		}
	}
	if err := serveDialect(ctx, d, dialect, in, out); err != nil {
		return d.fail(1, err)
	}
	return 0
}

func (d *Definition) fail(code int, err error) int {
	fmt.Fprintf(os.Stderr, "%s: %v\n", d.name, err)
	return code
}

// serveDialect serves a plugin over the process's own streams. Without a dialect there is no
// host.
func serveDialect(ctx context.Context, d *Definition, dialect string, in io.Reader, out io.Writer) error {
	switch dialect {
	case dialectPaperclip:
		return ServePaperclip(ctx, d, PaperclipOptions{In: in, Out: out})
	case dialectEliza:
		o, err := ElizaOptions{In: in, Out: out}.fromEnvironment()
		if err != nil {
			return err
		}
		return ServeEliza(ctx, d, o)
	}
	closeAll(in, out)
	return nil
}

// PaperclipOptions say how a plugin is served to a Paperclip host. The zero value
// works.
type PaperclipOptions struct {
	// In is what the host writes, Out what it reads. They are closed in the end,
	// where they can be; an In that cannot keeps a goroutine until it ends. If both
	// are nil they are standard input and output, which are then taken away from the
	// author as in Main.
	In  io.Reader
	Out io.Writer

	// MultiCompany tells that the plugin keeps a configuration for each company,
	// which it asks for with "config.get"; otherwise a second company's
	// configuration is refused.
	MultiCompany bool

	// MaxPending is how many calls may be in flight in each direction; the next
	// one fails at once. Zero means protocol.DefaultMaxPending.
	MaxPending int
	// MaxRecord is the longest frame in bytes, in each direction: a longer one of
	// the host's ends the worker, a longer answer becomes an error. Zero means
	// 128 MiB, the limit of Paperclip's host.
	MaxRecord int
	// QueueBytes is how many bytes may wait for the host to read them: then whoever
	// answers, calls or logs waits too, and nothing more is read. Nothing is
	// dropped. Zero means 16 MiB.
	QueueBytes int
	// Routes bound each terminal and channel.
	Routes RouteOptions
	// Grace is how long handlers may still run when the worker ends. Zero means
	// 400 ms: Paperclip's host sends SIGTERM 500 ms after its shutdown was answered.
	Grace time.Duration
}

// RouteOptions bound one route of an environment driver. There are at most MaxPending.
type RouteOptions struct {
	// Chunk is how much is sent at once, in bytes. Zero means what the wire takes:
	// 1,000,000 of a terminal, 262,144 of a channel.
	Chunk int
	// Writes is how many writes of the host may wait to be read, WaitingBytes how many bytes
	// they may have together; the next one is refused, and the host told so. Zero means 256,
	// and 4 MiB of a terminal, 393,216 of a channel.
	Writes, WaitingBytes int
}

const (
	defaultMaxRecord  = 128 << 20
	defaultQueueBytes = 16 << 20
	defaultGrace      = 400 * time.Millisecond
	// drainTime is how long the host may take to read what was written before the
	// end.
	drainTime = 5 * time.Second
)

func (o PaperclipOptions) withDefaults() PaperclipOptions {
	if o.In == nil && o.Out == nil {
		o.In, o.Out = takeStandard()
	}
	if o.MaxRecord <= 0 {
		o.MaxRecord = defaultMaxRecord
	}
	if o.QueueBytes <= 0 {
		o.QueueBytes = defaultQueueBytes
	}
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	return o
}

// ServePaperclip runs the plugin as the worker of a Paperclip host, which may be
// this project's or Paperclip's own, until the host ends it. Package documentation
// tells how the plugin's parts appear there.
//
// It returns nil when the host shut the plugin down, when it closed its end, or when
// ctx ended; otherwise what went wrong: a frame above the limit, or a host that is
// gone while something is written to it. In the end the contexts of handlers are
// cancelled and waited for (Grace), and what they have written is, too (5 s).
func ServePaperclip(ctx context.Context, d *Definition, opts PaperclipOptions) error {
	return newPaperclipWorker(d, opts.withDefaults()).serve(ctx)
}
