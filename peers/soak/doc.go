// Soak tortures real workers, for as long as asked, and looks whether the host minds:
//
//	go run ./peers/soak                     # 20 workers, 3 minutes
//	go run ./peers/soak -for 10m -seed 42   # longer, with the choices of another run
//	go run -race ./peers/soak               # with the race detector
//
// The workers are written with Paperclip's published SDK (the fixtures "echo" and
// "rogue" of package peers), each in a process of its own, under one host that starts
// again what crashes, soon and without end. Two of them are left alone.
//
//	torturers ─▶ a deed on a random worker: killed, flooded, deafened, half closed,
//	             stopped, reloaded, made to fork, …  (see the table in deeds.go)
//	callers   ─▶ echo at random workers, and the worker's own calls of its host
//	neighbors ─▶ echo at those left alone, without a pause
//
// A run is three storms of equal length. After each there is a calm: all that is
// under way ends, every worker has to be ready and to answer again, and the memory is
// measured.
//
// # What is checked
//
//   - Every answer is the echo of what was sent. A call that fails does so with one of
//     the codes that its worker's fate can give, and not long after its deadline.
//   - Those left alone answer every call, within [patience], in the session that they
//     began with.
//   - The host logs no error of its own: no panic, no message that it cannot handle,
//     no process that it could not end.
//   - A grandchild in a session of its own is gone once its worker is.
//   - After each storm every plugin comes back.
//   - The heap after a collection and the resident memory after the last storm are
//     not above those after the first by more than a factor and a slack (memory.go);
//     with the race detector, the heap alone.
//   - After the shutdown nothing is left: no process with the run's marker, no child
//     of this process, a zombie included, no cgroup of a worker, no temporary file, and
//     no more goroutines and descriptors than before. That these are found while the
//     workers run is checked too. Where there is no /proc, goroutines and files remain.
//
// Nothing is measured against a clock but by generous deadlines, so that a slow
// machine does less in the same time, and fails no more often.
//
// A seed decides what each torturer and caller does, in its order; it does not decide
// how these meet. It is printed first. A run that fails ends early and prints the seed
// again, what is wrong, and the last events.
//
// It exits with 0 when nothing is wrong, 1 otherwise, 2 for wrong usage.
package main
