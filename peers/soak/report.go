package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
)

// report prints what was done and found, the last events too if something is wrong.
func (k *soak) report(out io.Writer) {
	row := func(what, format string, args ...any) {
		fmt.Fprintf(out, "%-16s"+format+"\n", append([]any{what}, args...)...)
	}
	row("soak", "seed %d, %d workers for %s, %s %s/%s, race detector %s",
		k.seed, k.workers, k.length, runtime.Version(), runtime.GOOS, runtime.GOARCH, raceDetector)
	row("deeds", "%d: %s", k.book.total("deeds"), k.book.listed("deeds"))
	if list := k.undone(); len(list) > 0 {
		row("", "not done: %s", strings.Join(list, ", "))
	}
	row("workers", "%s", k.book.listed("workers"))
	row("phases", "%s", k.book.listed("phases"))
	for _, heading := range []string{"neighbors", "calls", "fans", "given up", "big frames", "huge frames", "to slow readers", "asked for deeds", "thrown", "calm"} {
		row(heading, "%d: %s; the slowest %s", k.book.total(heading), k.book.listed(heading), k.book.slowest(heading))
	}
	row("slowest", "start %s, stop %s, reload %s", k.book.slowest("start"), k.book.slowest("stop"), k.book.slowest("reload"))
	row("log lines", "%s", k.book.listed("lines"))
	row("dropped", "at least: %s", k.book.dropped())
	row("events lost", "%s", k.book.listed("events"))
	row("heap", "%s, at most %g times the first and %s", k.each(func(m memory) string { return mib(m.heap) }), growth, mib(heapSlack))
	row("resident", "%s, at most %g times the first and %s", k.each(func(m memory) string { return mib(m.rss) }), growth, mib(rssSlack))
	row("goroutines", "%d before, %s in the calms, %d after", k.before.goroutines, k.each(func(m memory) string { return fmt.Sprint(m.goroutines) }), k.after.goroutines)
	row("descriptors", "%d before, %s in the calms, %d after", k.before.descriptors, k.each(func(m memory) string { return fmt.Sprint(m.descriptors) }), k.after.descriptors)
	row("processes", "%d while all ran, %d after; children %d and %d; cgroups %d and %d; temporary files %d",
		len(k.during.marked), len(k.after.marked), len(k.during.children), len(k.after.children), len(k.during.cgroups), len(k.after.cgroups), len(k.after.files))
	k.conclude(out)
}

// each is a figure after each storm.
func (k *soak) each(figure func(memory) string) string {
	list := make([]string, len(k.calms))
	for i, m := range k.calms {
		list[i] = figure(m)
	}
	if len(list) == 0 {
		return "unknown"
	}
	return strings.Join(list, " → ")
}

func (k *soak) conclude(out io.Writer) {
	wrong := k.book.verdict()
	if wrong == nil {
		fmt.Fprintln(out, "nothing is wrong")
		return
	}
	if k.book.stacks != "" {
		fmt.Fprintf(out, "\nall goroutines, when something hung first\n%s", k.book.stacks)
	}
	fmt.Fprintf(out, "\nthe last events, in seconds since the start\n")
	for _, e := range k.book.last() {
		fmt.Fprintln(out, e)
	}
	fmt.Fprintf(out, "\nwrong, with -seed %d:\n%s\n", k.seed, wrong)
}
