// Package jobs answers one question: when do the jobs of plugins run?
//
// A [Scheduler] follows the schedules of the jobs that it is told of, calls "job:KEY"
// of the plugin when one is due, and has a [Store] remember what became of each run:
//
//	s := jobs.New(host, db, jobs.Options{Log: log})
//	go s.Run(ctx) // until ctx ends
//	err := s.Set(ctx, "mirror", []jobs.Job{{Key: "sync", Schedule: "*/15 * * * *"}})
//
// Who calls Set and Remove decides when a plugin's jobs are followed: while the plugin
// is ready.
//
// A job is also run by hand, by Trigger or, where the host asks the scheduler before the
// plugin, by whoever calls "job:KEY" (Serve).
//
// # Schedules
//
// A schedule is Paperclip's: five fields, minute, hour, day of the month, month and day
// of the week (0 is Sunday), each with *, numbers, ranges, lists and steps. Times are in
// UTC, as in Paperclip, so that no hour is left out or comes twice. Where both days are
// restricted a date has to be both, as in Paperclip and unlike cron. See [Parse].
//
// # What holds for a run
//
//	due while one of the same job    is left out, remembered as [Skipped] and counted,
//	  has not ended                  whoever began the one before
//	due while too many others run,   waits for one of them to end; plugins of which
//	  or of the same plugin            fewer run go first
//	missed, since the host or the    runs once as soon as the plugin is back, however
//	  plugin was down                many were missed; not at all with Options.SkipMissed
//	due by a clock that was set      is followed from the new time on; nothing runs twice
//	  back by 5 minutes or more      for less
//	longer than Options.Limit        fails
//	its caller gives up              fails, and the plugin is told; where it cannot be
//	                                 (Options.Deaf) it has not ended, and goes on without
//	the host stops                   may end within Options.Drain, then is given up; what
//	                                 waits is missed
//
// What is missed is known by the store, which remembers until when each job's schedule
// was followed; it begins when the job is first seen, and again when its schedule
// changes. A run that has begun is never begun again.
//
// # Concurrency
//
// All methods may run concurrently. A scheduler has one goroutine of its own (Run), and
// one for each run.
package jobs
