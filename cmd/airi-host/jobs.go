package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services/jobs"
	"github.com/airi-host/airi-host/services/store"
)

// timetable has a scheduler follow the jobs of the plugins that are ready, and run those
// that are called. It is nil where nobody would know what has run.
type timetable struct {
	*jobs.Scheduler
	host *actors.Host
	log  *slog.Logger
	// followed are the jobs that were set, by plugin.
	followed map[string][]jobs.Job
	life     context.Context
	cancel   context.CancelFunc
	working  sync.WaitGroup
}

// newTimetable has the store remember the runs of the jobs of the host's plugins: from now
// on of those that are called, and of those that are due once it has begun. Its close must
// follow, before the store's; that of the host lets runs in flight end as all calls.
func newTimetable(host *actors.Host, db *store.DB, o jobs.Options) *timetable {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := &timetable{Scheduler: jobs.New(owners{host}, db, o), host: host, log: o.Log, followed: map[string][]jobs.Job{}}
	t.life, t.cancel = context.WithCancel(context.Background())
	host.SetJobs(t.Scheduler)
	return t
}

// owners run jobs themselves.
type owners struct{ *actors.Host }

func (o owners) Invoke(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	return o.InvokeOwner(ctx, c)
}

// begin runs jobs by their schedules.
func (t *timetable) begin() {
	if t == nil {
		return
	}
	// One that waits is enough: when it is read, all that came before is in the registry.
	changes := t.host.Subscribe(actors.KindCapability, 1)
	t.working.Go(func() { t.Run(t.life) })
	t.working.Go(func() {
		defer changes.Close()
		t.watch(t.life, changes.C)
	})
}

// timetable is that of a host on this state. Without a store there is none: then jobs run
// when they are called, and nobody remembers.
func (st *state) timetable(h *house) *timetable {
	if st.db != nil {
		o := st.configs.settings.jobs(h.log)
		o.Deaf = h.deaf
		h.jobs = newTimetable(h.Host, st.db, o)
	}
	return h.jobs
}

// deaf tells of a plugin whose wire has no word for a caller that gives up.
func (h *house) deaf(plugin string) bool {
	return h.roster.dialect(plugin) == manifest.DialectPaperclip
}

// stop begins no more runs.
func (t *timetable) stop() {
	if t != nil {
		t.cancel()
	}
}

// close begins no more runs and waits for those that run, within the scheduler's drain
// time.
func (t *timetable) close() {
	if t != nil {
		t.cancel()
		t.working.Wait()
	}
}

// hurry gives up the runs in flight.
func (t *timetable) hurry() {
	if t != nil {
		t.GiveUp()
	}
}

func (t *timetable) watch(ctx context.Context, changes <-chan actors.Event) {
	for open := true; open; {
		t.follow(ctx)
		select {
		case _, open = <-changes:
		case <-ctx.Done():
			return
		}
	}
}

// follow sets the jobs that can be called now, where they are others than before.
func (t *timetable) follow(ctx context.Context) {
	ready := readyJobs(t.host.Offers())
	for plugin := range t.followed {
		if _, ok := ready[plugin]; !ok {
			t.Remove(plugin)
		}
	}
	for _, plugin := range slices.Sorted(maps.Keys(ready)) {
		if before, ok := t.followed[plugin]; ok && slices.Equal(before, ready[plugin]) {
			continue
		}
		if err := t.Set(ctx, plugin, ready[plugin]); err != nil {
			t.log.Warn("jobs do not run by their schedules", "plugin", plugin, "error", err)
		}
	}
	t.followed = ready
}

// readyJobs are the jobs that can be called, by plugin, each once: several instances of
// a plugin have the same.
func readyJobs(offers []capability.Offer) map[string][]jobs.Job {
	ready := map[string][]jobs.Job{}
	for _, o := range offers {
		if o.Key.Kind() != capability.KindJob || o.State != lifecycle.CapReady {
			continue
		}
		var metadata struct {
			Schedule string `json:"schedule"`
		}
		_ = json.Unmarshal(o.Metadata, &metadata) // what has no schedule is called by hand
		job := jobs.Job{Key: o.Key.Name(), Schedule: metadata.Schedule}
		if of := ready[o.Owner.Plugin]; !slices.ContainsFunc(of, func(j jobs.Job) bool { return j.Key == job.Key }) {
			ready[o.Owner.Plugin] = append(of, job)
		}
	}
	return ready
}
