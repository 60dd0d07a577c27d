// Package process answers one question: how does a worker, which is a child
// process, become a connection that cannot hurt its host?
//
// [Start] runs a program and returns a [Process], which is a [transport.Conn] whose
// records are lines:
//
//	p, err := process.Start(process.Spec{
//		Plugin: "hello",
//		Path:   "/usr/bin/node",
//		Args:   []string{"worker.js"},
//		Dir:    "/srv/plugins/hello",
//		Env:    process.Environment(nil, os.LookupEnv),
//		Log:    func(l process.LogLine) { fmt.Println(l.Stream, l.Text) },
//	})
//	if err != nil {
//		return err
//	}
//	defer p.Close()
//	_ = p.Send([]byte(`{"hello":1}`))
//	record, err := p.Recv() // an *ExitError when the worker ended instead
//	report, err := p.Stop(ctx, process.Ladder{})
//
// # Two things end
//
// A connection and a process are not the same, and either may end first:
//
//   - The process exits: [Process.Done] is closed, within a second although a
//     descendant may hold the pipes for ever. Recv still returns all that arrived
//     before, and then an [*ExitError].
//   - The worker closes a pipe and lives: Recv gives a [*LostError] after a short
//     wait for an exit. The process goes on until its owner stops it.
//
// Whoever started a Process stops it in the end, also when it has exited, because
// the rest of its group may have outlived it. Stop ends the group; Close does so
// at once and is all that a hurried owner has to call. Every wait in this package
// is bounded.
//
// # Descriptors
//
// With [Stdio] the worker reads records on its standard input and writes them on
// its standard output; what it writes to standard error becomes log lines. With
// [Own] records travel on descriptors 3 (to the worker) and 4 (to the host), so
// that a stray print cannot break the framing, and standard output becomes log
// lines too. Standard input is then a pipe that carries nothing. In both, the end
// of standard input tells the worker to go.
//
//	host                                        worker
//	Send ──▶ ndjson.Writer ──▶ input  ───pipe──▶ 0 (Stdio) or 3 (Own)
//	Recv ◀── ndjson.Reader ◀── output ◀──pipe─── 1 (Stdio) or 4 (Own)
//	Log  ◀── queue ◀── splitter ◀────────pipe─── 2, and 1 (Own)
//
// The host's writing end never blocks: what a full pipe does not take is queued,
// and a queue that is full refuses. The reading end is waited for with poll(2) by
// the goroutine in Recv, which costs a thread for each worker and saves each lone
// call the detour through the runtime's poller. A write to a worker that is gone
// fails with EPIPE and ends the connection. It cannot end the host: the runtime
// turns a broken pipe into a fatal SIGPIPE for descriptors 1 and 2 only, and it
// makes sure at its start that 0 to 2 are open, so that no pipe gets their number.
//
// # Groups and threads
//
// A worker leads a process group of its own, and signals go to the group. A
// leader that has exited is not reaped while others of its group live: as long as
// it is a zombie the kernel does not give its number away, so that a signal never
// meets a stranger. A descendant that leaves the group (setsid) is out of reach,
// but holds nothing up.
//
// On Linux the kernel kills the worker (not its descendants) when the host is
// killed: PR_SET_PDEATHSIG. It does so when the thread that forked ends, not the
// process, so that all workers are forked by one goroutine, which keeps its thread
// as long as any worker lives. This is the second line; the first is that the
// host's death ends the worker's standard input.
//
// # Logs
//
// What a worker logs is always read, whatever the owner does with it, so that a
// worker never hangs in a write to standard error. Long lines are cut, floods are
// thinned out and counted. See [LogLine].
package process
