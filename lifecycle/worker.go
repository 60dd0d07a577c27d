package lifecycle

// The states of a worker: what keeps one plugin running (a child process, a module
// in memory, a websocket peer), as the plugin's supervisor sees it over all
// sessions.
const (
	// WorkerStopped: nothing runs and nothing is planned. Either nobody asked for
	// it, or it was stopped, its start was refused, or the supervisor gave it up;
	// which of these, and why, the supervisor keeps beside the state. Ends when it
	// is started by hand.
	WorkerStopped State = "stopped"

	// WorkerStarting: a session was made and works its way to ready. Ends when it
	// is ready, when the start is refused, or when the worker dies on the way.
	WorkerStarting State = "starting"

	// WorkerRunning: the session was ready. Ends when somebody stops it, or with an
	// exit that nobody asked for.
	WorkerRunning State = "running"

	// WorkerStopping: the session was told to end and has until its deadline to do
	// so by itself. Ends when nothing of it runs any more; how it went is no crash.
	WorkerStopping State = "stopping"

	// WorkerCrashed: the worker went without being asked to. The supervisor counts
	// the crash, clears up what the worker left behind and decides. Ends with that
	// decision: a restart is planned, or the worker is given up.
	WorkerCrashed State = "crashed"

	// WorkerBackoff: nothing runs, a restart is planned, and the plugin's
	// capabilities are degraded meanwhile. Ends when the time has come, when it is
	// started by hand before that, or when it is stopped.
	WorkerBackoff State = "backoff"
)

// The events of a worker.
const (
	// WorkerStart: somebody wants it to run.
	WorkerStart Event = "START"
	// WorkerRetry: the time of a planned restart has come.
	WorkerRetry Event = "RETRY"
	// WorkerStarted: its session is ready.
	WorkerStarted Event = "STARTED"
	// WorkerStartFailed: the start was answered with an error or not at all in
	// time, and nothing of it runs any more. It would end the same way again, so
	// it is not retried. A worker that dies on the way is [WorkerExited] instead:
	// of the two, one start sees one.
	WorkerStartFailed Event = "START_FAILED"
	// WorkerExited: its process has exited, its peer is lost.
	WorkerExited Event = "EXITED"
	// WorkerScheduleRetry: a restart is planned.
	WorkerScheduleRetry Event = "SCHEDULE_RETRY"
	// WorkerGiveUp: it has crashed too often in a row, or may not be restarted.
	WorkerGiveUp Event = "GIVE_UP"
	// WorkerStop: somebody wants it to end. Possible always: where there is
	// nothing left to do, the state stays as it is.
	WorkerStop Event = "STOP"
)

// workerTable has a late answer to a start in it (STARTED, START_FAILED while
// stopping), because it may cross with the stop.
var workerTable = Table{
	WorkerStopped: {
		WorkerStart: WorkerStarting,
		WorkerStop:  WorkerStopped,
	},
	WorkerStarting: {
		WorkerStarted:     WorkerRunning,
		WorkerStartFailed: WorkerStopped,
		WorkerExited:      WorkerCrashed,
		WorkerStop:        WorkerStopping,
	},
	WorkerRunning: {
		WorkerExited: WorkerCrashed,
		WorkerStop:   WorkerStopping,
	},
	WorkerStopping: {
		WorkerStarted:     WorkerStopping,
		WorkerStartFailed: WorkerStopped,
		WorkerExited:      WorkerStopped,
		WorkerStop:        WorkerStopping,
	},
	WorkerCrashed: {
		WorkerScheduleRetry: WorkerBackoff,
		WorkerGiveUp:        WorkerStopped,
		WorkerStop:          WorkerStopped,
	},
	WorkerBackoff: {
		WorkerStart: WorkerStarting,
		WorkerRetry: WorkerStarting,
		WorkerStop:  WorkerStopped,
	},
}

// Worker is what a plugin's supervisor knows of its plugin. It begins in
// [WorkerStopped] and always gets back there; it has no terminal state. Errors name
// the plugin.
var Worker = newMachine(definition{
	name: "worker",
	states: []State{
		WorkerStopped, WorkerStarting, WorkerRunning, WorkerStopping, WorkerCrashed, WorkerBackoff,
	},
	events: []Event{
		WorkerStart, WorkerRetry, WorkerStarted, WorkerStartFailed, WorkerExited,
		WorkerScheduleRetry, WorkerGiveUp, WorkerStop,
	},
	table: workerTable,
})
