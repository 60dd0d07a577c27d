package store

import (
	"time"

	"github.com/airi-host/airi-host/services"
)

// Options bound a store. The zero value works: each zero means the default that
// stands there.
type Options struct {
	// Lock is the directory's lock if the caller holds it already, who then releases
	// it after Close; nil lets the store take one for its own time.
	Lock *Lock
	// State is what one plugin may keep as its state; see [services.MemoryLimits] for
	// the defaults, which are the same here.
	State services.MemoryLimits
	// CacheBytes is how much of the state is kept in memory, keys included; 0 means
	// 32 MiB, less than 0 nothing.
	CacheBytes int
	// MaxBytes is how long the database may become; 0 means 4 GiB. What does not fit
	// fails as on a full disk.
	MaxBytes int64
	// QueueWrites and QueueBytes are how many writes may wait to be committed and how
	// long they may be together; 0 means 1024 and 64 MiB. One more is refused with
	// [protocol.CodeOverloaded].
	QueueWrites, QueueBytes int
	// BatchWrites is how many writes one commit takes at most; 0 means 256.
	BatchWrites int
	// Busy is how long a write waits for another program that has the file locked; 0
	// means 5 s.
	Busy time.Duration
	// Readers is how many reads go to the database at a time, more wait; 0 means 4.
	Readers int
	// Unsynced commits without waiting for the disk, which a power failure may cost
	// the last writes; the end of the process costs none. A write is faster by what a
	// sync of the disk takes.
	Unsynced bool

	// History is how many revisions of one configuration are kept, the one in force
	// among them; 0 means 20.
	History int
	// ConfigurationBytes is how long one configuration may be; 0 means 1 MiB.
	ConfigurationBytes int
	// Grants and Subscriptions are how many one plugin may have; 0 means 256 each.
	Grants, Subscriptions int
	// Runs is how many runs of jobs are kept for one plugin, RunAge for how long; 0
	// means 1000 and 30 days.
	Runs   int
	RunAge time.Duration
	// Audit is how many audit records are kept, AuditAge for how long; 0 means 100,000
	// and 90 days. AuditBytes is how long one may be; 0 means 64 KiB.
	Audit      int
	AuditAge   time.Duration
	AuditBytes int
	// Entities is how many one plugin may keep, EntityBytes how long one may be; 0
	// means 10,000 and 1 MiB.
	Entities, EntityBytes int
	// EntityAnswer is how long the data of the entities of one answer may be together;
	// 0 means 16 MiB. A search that finds more fails with [protocol.CodeOverloaded].
	EntityAnswer int

	// Now tells the time; nil is time.Now.
	Now func() time.Time
}

const day = 24 * time.Hour

func (o Options) withDefaults() Options {
	setDefault(&o.State.Keys, 10_000)
	setDefault(&o.State.Bytes, 16<<20)
	setDefault(&o.State.Value, 1<<20)
	if o.CacheBytes == 0 {
		o.CacheBytes = 32 << 20
	}
	setDefault(&o.MaxBytes, 4<<30)
	setDefault(&o.QueueWrites, 1024)
	setDefault(&o.QueueBytes, 64<<20)
	setDefault(&o.BatchWrites, 256)
	setDefault(&o.Busy, 5*time.Second)
	setDefault(&o.Readers, 4)
	setDefault(&o.History, 20)
	setDefault(&o.ConfigurationBytes, 1<<20)
	setDefault(&o.Grants, 256)
	setDefault(&o.Subscriptions, 256)
	setDefault(&o.Runs, 1000)
	setDefault(&o.RunAge, 30*day)
	setDefault(&o.Audit, 100_000)
	setDefault(&o.AuditAge, 90*day)
	setDefault(&o.AuditBytes, 64<<10)
	setDefault(&o.Entities, 10_000)
	setDefault(&o.EntityBytes, 1<<20)
	setDefault(&o.EntityAnswer, 16<<20)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func setDefault[N int | int64 | time.Duration](limit *N, otherwise N) {
	if *limit <= 0 {
		*limit = otherwise
	}
}
