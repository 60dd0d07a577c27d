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
// what it has started may have outlived it. Stop ends the whole tree; Close does so
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
// # The tree
//
// A worker starts other programs, and these do what they like: they leave its process
// group, fork twice so that nobody knows their parent, and outlive it. Stop ends them
// all. [Spec].Reach says how, and [Process.Containment] what became of it:
//
//	cgroup   the worker is born in a control group, which the kernel kills as one
//	sweep    the host looks for all that has inherited the worker's marks
//	group    the process group only; not by itself, except where there is no Linux
//
// The marks of a sweep are three. The environment holds [MarkerVar], whose value
// nobody can guess. One resource limit, which Linux keeps and never looks at, holds a
// number that belongs to it, and is inherited even by a program that is started
// without an environment. And what is in the worker's group, or descends from a
// process with a mark, is the worker's, too. No process is signaled without such a
// proof, and then by a descriptor that was taken before the proof, so that a number
// that has changed hands hurts nobody. A sweep reads all of /proc, some 8 ms for 1000
// processes, and a stop takes three to five of them; a start takes none.
//
// What gets away from a sweep: a process that has changed all marks on purpose, and
// one that has become another user's. Nothing gets away from a cgroup but what has
// the right to move itself out. It needs a writable cgroup v2, which there is for
// root, and for a user below systemd with Delegate=yes.
//
// A worker leads a group of its own. A leader that has exited is not reaped while
// others of its tree live: as long as it is a zombie the kernel does not give its
// number away, so that a signal to the group never meets a stranger.
//
// Orphans go to PID 1, which reaps them. Where that is the host, as in a container,
// or where [Spec].Adopt says so, the host reaps those that have a worker's mark, one
// by one. It never waits for "any child": the program around it may have its own.
//
// # The death of the host
//
// When the host is killed, the end of its standard input tells the worker to go; this
// is the first line. The second: on Linux the kernel kills the worker (not its
// descendants), by PR_SET_PDEATHSIG. It does so when the thread that forked ends, not
// the process, so that all workers are forked by one goroutine, which keeps its thread
// as long as any worker lives. The third is [Sweep], with which the next host of the
// same [Spec].Owner ends what is still there.
//
// # Limits
//
// [Limits] holds a worker to memory, processes and time on a processor. What the
// system cannot hold it to does not keep it from starting; Containment says which
// limits are in force, and why others are not. An exit that a limit has caused says so
// in [ExitStatus].
//
// Memory and processes are limited by controllers of cgroup v2, which a group gives to
// those below it only while no process is in itself. Where the host is alone in its group,
// with what it has started, as below a systemd service with Delegate=yes, it moves into a
// group below that, airi-host.self, when the first such limit is asked for, and not
// before; workers' groups stay beside it. It moves nobody else: in a group that it shares, a
// login session say, the limit is not in force.
//
//	airi-host.service        gives memory and pids to those below
//	├─ airi-host.self        the host
//	├─ airi-host.4026…       a worker, and all that it starts
//	└─ airi-host.4026…       another
//
// DelegateSubgroup=airi-host.self, from systemd 254 on, has it start there.
//
// # Logs
//
// What a worker logs is always read, whatever the owner does with it, so that a
// worker never hangs in a write to standard error. Long lines are cut, floods are
// thinned out and counted. See [LogLine].
package process
