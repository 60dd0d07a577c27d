package manifest

import "time"

// The bounds of limits in settings. They keep a slip of the pen from making a host that
// holds nothing back, and are no advice.
const (
	// MaxCount is for what is counted.
	MaxCount = 1_000_000
	// MaxBytes is for what may be in memory, MaxStoredBytes for what may be on a disk.
	MaxBytes       = 1 << 30
	MaxStoredBytes = 1 << 40
	// MaxAge is for how long something is kept: ten years.
	MaxAge = 10 * 365 * 24 * time.Hour
	// MaxRedirects is as many as anybody follows.
	MaxRedirects = 100
)

// HostTimeouts are how long plugins are waited for.
type HostTimeouts struct {
	Timeouts
	// Drain is how long calls in flight at a plugin may take to end when it is stopped,
	// before it is told.
	Drain time.Duration
}

// StopSettings say how patiently a worker process is ended: how long each step may take
// before the next.
type StopSettings struct {
	// CloseInput is for the end of its input, Term for SIGTERM, Kill for SIGKILL.
	CloseInput, Term, Kill time.Duration
}

// WorkerSettings are about the worker processes of all plugins.
type WorkerSettings struct {
	// QueueFrames and QueueBytes are how many frames may wait for a worker that reads
	// slowly, and how many bytes they may have.
	QueueFrames, QueueBytes int
	// ExitGrace is how long a worker that has closed a pipe may take to exit.
	ExitGrace time.Duration
	// DrainIdle and DrainMost are how long the pipes of a worker that has exited are
	// read while a process of its own holds them: from the last byte, and in all.
	DrainIdle, DrainMost time.Duration
	// Cgroup is the directory of cgroup v2 below which each worker has one of its own.
	Cgroup string
	// TraceLines and TraceBytes are how long a stack trace may be that is one record of
	// the log; TraceLine is how long a line is held for one that goes on with it,
	// TracePause how long several are, TraceMost how long both may come to.
	TraceLines, TraceBytes           int
	TraceLine, TracePause, TraceMost time.Duration
}

// ReadingSettings are about how manifests are read.
type ReadingSettings struct {
	// Evaluation is for one manifest that is code.
	Evaluation time.Duration
	// FileBytes is the largest file that is read as a manifest; Entries is how many
	// directory entries are looked at below one directory of plugins.
	FileBytes, Entries int
}

// APISettings are what those who ask a running host may make it hold.
type APISettings struct {
	// Requests are answered at a time, Followers among them; Connections may be open at
	// one listener.
	Requests, Followers, Connections int
	// FollowLines and FollowBytes may wait for one follower.
	FollowLines, FollowBytes int
	// LogBytes of the end of logs are shown at once.
	LogBytes int
	// History is how many events are kept for who asks later.
	History int
	// BodyBytes is the largest body of a call.
	BodyBytes int
	// Command is for a start, a stop and a reload.
	Command time.Duration
	// HeaderBytes is the longest header of a request.
	HeaderBytes int
	// HeaderTimeout is how long it may take to come, BodyTimeout the body of a call,
	// AnswerTimeout how long an answer may take to be read, IdleTimeout how long a
	// connection waits for the next request.
	HeaderTimeout, BodyTimeout, AnswerTimeout, IdleTimeout time.Duration
	// Drain is how long those that are asking may take once the host has ended.
	Drain time.Duration
}

// StateSettings are what one plugin may keep as its state.
type StateSettings struct {
	// Keys is the number of values, Bytes the size of all with their keys, ValueBytes
	// that of one.
	Keys, Bytes, ValueBytes int
}

// StoreSettings are about the database in the state directory.
type StoreSettings struct {
	// CacheBytes is how much of the plugins' state is kept in memory; nil is the
	// default, 0 is nothing.
	CacheBytes *int
	// MaxBytes is how long the database may become.
	MaxBytes int64
	// QueueWrites and QueueBytes may wait to be committed, BatchWrites go into one
	// commit.
	QueueWrites, QueueBytes, BatchWrites int
	// Busy is how long a write waits for another program.
	Busy time.Duration
	// Readers is how many reads go to the database at a time.
	Readers int
	// Unsynced commits without waiting for the disk.
	Unsynced bool
	// History is how many revisions of one configuration are kept, ConfigurationBytes
	// how long one may be.
	History, ConfigurationBytes int
	// Grants and Subscriptions are how many one plugin may have.
	Grants, Subscriptions int
	// Runs is how many runs of jobs are kept for one plugin, RunAge for how long.
	Runs   int
	RunAge time.Duration
	// Audit is how many audit records are kept, AuditAge for how long; AuditBytes is
	// how long one may be.
	Audit      int
	AuditAge   time.Duration
	AuditBytes int
	// Entities is how many one plugin may keep, EntityBytes how long one may be,
	// EntityAnswer how long those of one answer may be together.
	Entities, EntityBytes, EntityAnswer int
}

// JobSettings are about the jobs that run by their schedules.
type JobSettings struct {
	// SkipMissed leaves out what was missed while the host or the plugin was down.
	SkipMissed bool
	// Limit is for one run, Drain for those that run when the host stops.
	Limit, Drain time.Duration
	// AtOnce is how many run at a time, Jobs how many are followed, of all plugins;
	// PerPlugin is how many of one run at a time.
	AtOnce, PerPlugin, Jobs int
}

// FolderLimits are what plugins may do in the folders that are declared for them.
type FolderLimits struct {
	// FileBytes is the largest file that is read or written.
	FileBytes int64
	// Files and Bytes are what a folder may hold that a plugin writes to.
	Files int
	Bytes int64
	// AtOnce is how many calls of one plugin run at a time.
	AtOnce int
}

// ServiceSettings are what single plugins may ask of the host.
type ServiceSettings struct {
	// Activities is how many audit records one may make in a minute, Secrets how many
	// secrets it may resolve in a minute for one company.
	Activities, Secrets int
	// Series is how many series of measurements are kept of one plugin.
	Series int
	// States is how many states one elizaOS plugin may have composed at a time,
	// ProviderTimeout how long one waits for a provider, StateTimeout how long for all of
	// them, and StateBytes what they say together.
	States                        int
	ProviderTimeout, StateTimeout time.Duration
	StateBytes                    int
}

// QueueSettings are what waits in the command line that runs the host.
type QueueSettings struct {
	// Events wait to be printed, Frames to be logged with AIRI_HOST_DEBUG=wire.
	Events, Frames int
	// LogLines wait for the live view, and Bytes of text for who reads slowly what is printed or logged.
	LogLines, Bytes int
	// Kept are lines of plugins' logs on their way to the queues of their files.
	Kept int
	// Patience is how long whoever prints or logs waits for who reads, Drain how long
	// what waits then may take once the host has ended.
	Patience, Drain time.Duration
}
