package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
)

// runOptions are the flags of run.
type runOptions struct {
	once       bool
	startLimit time.Duration
	drain      time.Duration
	// view is one of the views; live is what that comes to.
	view string
	live bool
	// watch reloads plugins whose files change.
	watch bool
	// listen says where it is asked over HTTP.
	listen listenOptions
}

// over lays the flags that are given over settings.
func (o *runOptions) over(given func(flag string) bool) func(*manifest.Settings) {
	flags := *o
	return func(s *manifest.Settings) {
		if given("start-limit") {
			s.StartLimit = flags.startLimit
		}
		if given("drain") {
			s.Drain = flags.drain
		}
		flags.listen.over(given, &s.Listen)
	}
}

// The defaults of the flags on time.
const (
	defaultStartLimit = 30 * time.Second
	defaultDrain      = 10 * time.Second
)

const runText = `Bring the plugin of each DIR, or those in its direct sub-directories, to ready; then serve
until SIGINT or SIGTERM, which stops all plugins in order within the drain time, as does SIGHUP
where there is a terminal; a service reads its settings again then, as at 'airi-host reload'. A
second signal stops them at once.

A plugin that fails, or a manifest with a problem, keeps no other plugin from running. One
that crashes is started again after a pause: a second at first, twice as long after each
further crash, up to five minutes; at the eleventh crash in a row it is given up.

What plugins keep in the host, which of them are disabled and the configurations that were set
outlive it in its state directory, where one host runs at a time. A plugin that is disabled is not started.

It can be asked while it runs, by 'airi-host ps' and others, through a socket in that directory,
and over HTTP at --listen: /healthz, /readyz, /metrics, and the control API below /api/v1. AIRI's
peers on websockets connect there, too, at /ws. Where the usual address is taken it goes on without HTTP. With --once nothing is kept and nobody can
ask, unless --state or --listen are given.

With --watch a plugin is reloaded once its files have changed and nothing more follows; one that comes
into a DIR is started, one that goes is stopped, and its manifest's problems are told. Its
configuration stays. A DIR may be empty, or not be there yet. What is watched, how soon and how often is "watch" in the settings.

With --once a crash is a failure, the last lines name each plugin that is not ready, and the
exit code is 1. A plugin that waits for its configuration keeps --once waiting until the
start limit.

On a terminal a live view shows where each plugin stands, what it waits for and what it does;
q stops as Ctrl-C does. Each change of a phase has a line of its own where there is no terminal,
with NO_COLOR, and where TERM is dumb; --view live and --view plain choose one or the other.

With --output json the lines are objects with an "event": "phase", "waiting" and "restart" as
they happen, "problem" and "note" about manifests, "disabled" for each plugin that is, "started" with the numbers of "plugins"
and of those "ready", "watch" for what was done with a plugin whose files changed, "listening" with the "address", and "not-ready" for each other one.`

func (c *cli) runCommand() *cobra.Command {
	var opts runOptions
	cmd := &cobra.Command{
		Use:     "run DIR…",
		Short:   "Bring the plugins of directories to ready, then serve until SIGINT or SIGTERM",
		Long:    runText,
		Example: "  airi-host run testdata/plugins\n  airi-host run --once --output json testdata/plugins",
		Args:    c.arguments(1, 0, "at least one DIR, a directory of plugins"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opts.startLimit <= 0 || opts.drain <= 0 {
				return usageError{errors.New("--start-limit and --drain: expected a time above 0, e.g. 30s")}
			}
			if opts.watch && opts.once {
				return usageError{errWatchOnce}
			}
			c.over = opts.over(cmd.Flags().Changed)
			if err := c.configure(c, opts.once); err != nil {
				return err
			}
			opts.listen.by = cmd.Flags().Changed
			opts.listen.ListenSettings = c.settings.Listen
			if err := opts.listen.check(); err != nil {
				return err
			}
			live, err := c.live(opts.view)
			if err != nil {
				return err
			}
			opts.live = live
			opts.startLimit = c.settings.startLimit()
			return c.run(cmd.Context(), args, opts)
		},
	}
	c.configFlag(cmd)
	c.stateFlag(cmd, "the directory for what outlives a host, one host at a time")
	opts.listen.flags(cmd)
	cmd.Flags().BoolVar(&opts.once, "once", false, "exit as soon as every plugin is ready, has failed, or waits for its configuration at the start limit")
	cmd.Flags().BoolVar(&opts.watch, "watch", false, "reload a plugin whose files change, start one that comes, stop one that goes")
	cmd.Flags().DurationVar(&opts.startLimit, "start-limit", defaultStartLimit, "how long the start may take before it is reported as it is")
	cmd.Flags().DurationVar(&opts.drain, "drain", defaultDrain, "how long plugins may take to stop")
	cmd.Flags().StringVar(&opts.view, "view", viewAuto, "what to show on a terminal: auto, live or plain")
	return cmd
}

func (c *cli) run(ctx context.Context, dirs []string, opts runOptions) error {
	st, err := c.openState(ctx, opts.once) // before anything runs, the code of manifests too
	if err != nil {
		return err
	}
	return errors.Join(c.runOn(ctx, st, dirs, opts), st.close())
}

// asked is what whoever runs the host asks of it by signals.
type asked struct {
	// stop ends when the host is to stop, now when it is to do so at once.
	stop, now context.Context
	// hangups ask that the settings be read again; nil where a hang-up stops.
	hangups chan os.Signal
}

// runOn runs the plugins of directories on a state, until all has ended.
func (c *cli) runOn(ctx context.Context, st *state, dirs []string, opts runOptions) error {
	defer beInit()()
	log, err := c.logger()
	if err != nil {
		return err
	}
	if !opts.once {
		defer c.spooled()()
		c.service = newService(log)
		defer c.service.close()
	}
	by := asked{hangups: c.hangups(opts.once)}
	stop, now, release := interrupted(ctx, by.hangups == nil)
	defer release()
	by.stop, by.now = stop, now
	f, err := c.openFront(stop, st, opts)
	if err != nil {
		return err
	}
	return errors.Join(c.runBehind(f, by, st, dirs, opts), f.close())
}

// runBehind finds the plugins and runs them behind an open front.
func (c *cli) runBehind(f *front, by asked, st *state, dirs []string, opts runOptions) error {
	found, err := c.discover(by.stop, dirs, opts.watch)
	switch {
	case by.stop.Err() != nil && opts.once:
		return errInterrupted
	case by.stop.Err() != nil:
		return nil // nothing runs yet
	case err != nil:
		return err
	}
	all := found.Manifests
	var passed []string
	found.Manifests, passed = st.disabled.split(all)
	c.printDisabled(passed)
	watching, err := c.newWatching(opts.watch, dirs)
	if err != nil {
		return err
	}
	defer watching.close()
	h, err := c.open(all, st, opts.once)
	if err != nil {
		return err
	}
	watching.look(h, st, all, found.Problems)
	return c.runHouse(h, f, st, course{by, found, watching, opts})
}

// course is what the plugins of a house are run by: those that were found and are not
// disabled, and the watch over their files.
type course struct {
	asked
	found    manifest.Found
	watching *watching
	opts     runOptions
}

// runHouse runs the plugins to the end.
func (c *cli) runHouse(h *house, f *front, st *state, by course) error {
	opts, found := by.opts, by.found
	jobs := st.timetable(h)
	defer jobs.close()
	f.serve(c, h, st)
	endReloads := f.reloadAt(by.stop, by.hangups)
	defer context.AfterFunc(by.stop, c.hurry)() // before release ends stop

	v := c.openView(h.Host, found.Manifests, c.cures(opts.once), st.grants.waiting, opts.live)
	defer v.close()
	defer context.AfterFunc(by.now, v.close)() // a third signal ends the host as it stands
	j := follow(h.Host, c.settings.queues().events, v.show)
	c.service.starting(opts.startLimit, c.settings.ends().front)
	rep, started := c.start(by.stop, h, j, found, opts)
	if started && !opts.once {
		v.do(doingServe)
		c.service.serving(h.Host, len(found.Manifests))
		f.tell(c)
		jobs.begin()
		defer context.AfterFunc(by.now, jobs.hurry)()
		by.watching.begin()
		c.serve(by.stop, rep)
		by.watching.close()
		jobs.stop()
	}
	v.do(doingStop)
	endReloads()
	drain := c.settings.now().drain(defaultDrain)
	c.service.stopping(drain, c.settings.ends().all())
	err := h.close(by.now, drain)
	v.close()
	if lost := j.wait(); lost > 0 {
		h.log.Warn("events were not shown: they came too fast", "count", lost)
	}
	switch {
	case err != nil || !opts.once:
		return err
	case !started:
		return errInterrupted
	}
	return c.conclude(rep, found.Problems)
}

var errInterrupted = errors.New("interrupted before the plugins had started")

// start starts all plugins, waits for the outcome, and sums it up once all that led
// to it was shown; started is false when it was interrupted before.
func (c *cli) start(stop context.Context, h *house, j *journal, found manifest.Found, opts runOptions) (rep report, started bool) {
	ctx, cancel := context.WithTimeoutCause(stop, opts.startLimit, &startLimitError{opts.startLimit})
	defer cancel()
	h.tellGrants()
	outcomes := h.StartAll(ctx, found.Manifests, h.resumes, nil)
	if opts.once {
		awaitSettled(ctx, h.Host)
		markLate(ctx, outcomes)
	}
	rep = reportOf(h.Host, outcomes, j.catchUp(), c.cures(opts.once))
	rep.unsound, rep.unapproved = filesOf(found.Problems), h.unapproved(found.Manifests)
	if stop.Err() != nil {
		return rep, false
	}
	if c.json() {
		c.encode(startedLine{"started", rep.plugins, rep.ready})
	}
	c.say("%s", rep.summary())
	return rep, true
}

// filesOf lists the files of problems, each one once.
func filesOf(problems manifest.Problems) (files []string) {
	for _, p := range problems {
		if !slices.Contains(files, p.File) {
			files = append(files, p.File)
		}
	}
	return files
}

type startedLine struct {
	Event   string `json:"event"`
	Plugins int    `json:"plugins"`
	Ready   int    `json:"ready"`
}

// awaitSettled waits until no plugin is on its way any more, or until ctx ends: one
// that needs its configuration may yet be given it.
func awaitSettled(ctx context.Context, host *actors.Host) {
	sub := host.Subscribe(actors.KindPhase, 0)
	defer sub.Close()
	for !settled(host.Sessions()) {
		select {
		case <-sub.C:
		case <-ctx.Done():
			return
		}
	}
}

// markLate makes the start limit, if it is over, the outcome of starts that have
// none: of those that wait for their configuration.
func markLate(ctx context.Context, outcomes []actors.Outcome) {
	for i, o := range outcomes {
		if o.Err == nil && ctx.Err() != nil {
			outcomes[i].Err = context.Cause(ctx)
		}
	}
}

func settled(sessions []actors.SessionInfo) bool {
	for _, s := range sessions {
		if s.Instance != "" { // nobody awaits a guest
			continue
		}
		switch s.Phase {
		case lifecycle.Ready, lifecycle.Degraded, lifecycle.Failed, lifecycle.Stopped:
		default:
			return false
		}
	}
	return true
}

// serve tells which plugins are not ready, and waits for the signal to stop.
func (c *cli) serve(stop context.Context, rep report) {
	c.printShortfalls(rep.shortfalls)
	if rep.plugins == 0 {
		c.say("waiting for a plugin; Ctrl-C ends the host")
	} else {
		c.say("serving %s; Ctrl-C stops %s", pluginCount(rep.ready), them(rep.ready))
	}
	<-stop.Done()
	c.say("stopping; a second Ctrl-C stops at once")
}

// conclude prints the last lines of run --once: all that is not ready, and why.
func (c *cli) conclude(rep report, problems manifest.Problems) error {
	c.printShortfalls(rep.shortfalls)
	for _, p := range problems {
		c.say("%s", printable(p.String())) // as an object it was told before
	}
	if len(rep.shortfalls)+len(problems) > 0 {
		return errFailed
	}
	return nil
}
