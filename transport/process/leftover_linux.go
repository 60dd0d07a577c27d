package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// sweepWait is how long Sweep waits for what it has killed.
const sweepWait = 5 * time.Second

// Sweep ends what hosts of the same owner, which were killed, have left behind:
// processes that carry the owner's marker, or the tag that belongs to it, or are in
// a cgroup of theirs, or descend from one of these, and whose host lives no more.
// It kills them at once: their input has ended long ago, with their host. Then it
// removes the cgroups of dead hosts that nothing is in.
//
// A host calls it before it starts its first worker, with what it gives to
// Spec.Owner. What belongs to a live host, also to this one, is left alone. So are
// this process and those that it descends from, processes of another PID namespace,
// and other users' processes, which cannot be looked into.
//
// It reads the environment of every process, which takes some tens of milliseconds
// where there are 1000.
//
// It returns what it has ended. The error names what lives on when ctx ends, or
// after five seconds. It needs Linux 5.4 or newer; elsewhere its error is
// errors.ErrUnsupported.
func Sweep(ctx context.Context, owner string) ([]Leftover, error) {
	if err := checkOwner(owner); err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, sweepWait)
	defer cancel()
	s := sweep{owner: owner, spared: lineage(snapshot()), cgroups: map[string]bool{}}
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		found := s.look()
		if len(found) == 0 {
			break
		}
		s.end(found)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return s.report(found)
		}
	}
	s.removeCgroups()
	return s.report(nil)
}

// remain is a process that a dead host has left behind.
type remain struct {
	proc
	marker marker
}

// sweep is one call of Sweep.
type sweep struct {
	owner   string
	spared  map[int]bool
	all     []Leftover      // in the order in which they were found
	cgroups map[string]bool // the directories that they were in
}

// lineage is this process and those that it descends from.
func lineage(all []proc) map[int]bool {
	line := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !line[pid]; {
		line[pid] = true
		i := slices.IndexFunc(all, func(p proc) bool { return p.pid == pid })
		if i < 0 {
			break
		}
		pid = all[i].parent
	}
	return line
}

// look finds what is left: those with a marker first, because tags and cgroups are
// known by them.
func (s *sweep) look() []remain {
	all := slices.DeleteFunc(snapshot(), func(p proc) bool { return p.dead() || s.spared[p.pid] })
	marks := map[int]marker{}
	tags := map[tag]marker{}
	for _, p := range all {
		if m, ok := s.markerOf(p.pid); ok {
			marks[p.pid], tags[tagOf(m)] = m, m
		}
	}
	s.addCgroups(marks)
	var found []proc
	for _, p := range all {
		if _, ok := marks[p.pid]; !ok {
			t, _ := readTag(p.pid)
			if m, ok := tags[t]; ok {
				marks[p.pid] = m
			}
		}
		if _, ok := marks[p.pid]; ok {
			found = append(found, p)
		}
	}
	var left []remain
	for _, p := range withChildren(found, all, s.spared) {
		if _, ok := marks[p.pid]; !ok {
			marks[p.pid] = marks[p.parent] // parents come first
		}
		left = append(left, remain{p, marks[p.pid]})
	}
	return left
}

// markerOf reads the marker of a process, if it is one of the owner's whose host is
// dead.
func (s *sweep) markerOf(pid int) (marker, bool) {
	for _, entry := range environOf(pid) {
		text, found := bytes.CutPrefix(entry, []byte(MarkerVar+"="))
		if !found {
			continue
		}
		if m, ok := parseMarker(string(text)); ok && m.owner == s.owner && !m.host.lives() {
			return m, true
		}
	}
	return marker{}, false
}

// addCgroups marks all that is in the cgroups of the owner's dead hosts: those that
// the marked are in, and those beside which this host's would be.
func (s *sweep) addCgroups(marks map[int]marker) {
	for pid := range marks {
		if dir, ok := cgroupOf(pid); ok {
			s.cgroups[dir] = true
		}
	}
	base, _ := workersCgroup()
	for _, dir := range deadCgroups(base) {
		if _, owner, _ := parseCgroupName(dir); owner == digest(s.owner) {
			s.cgroups[dir] = true
		}
	}
	for dir := range s.cgroups {
		pids := (&cgroup{dir}).living()
		if slices.ContainsFunc(pids, func(pid int) bool { return s.spared[pid] }) {
			delete(s.cgroups, dir) // this host runs in there
			continue
		}
		host, _, _ := parseCgroupName(dir)
		for _, pid := range pids {
			if _, ok := marks[pid]; !ok {
				marks[pid] = marker{host: host}
			}
		}
	}
}

// end kills what was found, and whatever is in its cgroups by now.
func (s *sweep) end(found []remain) {
	for dir := range s.cgroups {
		(&cgroup{dir}).kill()
	}
	for _, r := range found {
		l := Leftover{Pid: r.pid, Command: command(r.pid), Plugin: r.marker.plugin, Host: r.marker.host.pid}
		if !slices.ContainsFunc(s.all, func(known Leftover) bool { return known.Pid == l.Pid }) {
			s.all = append(s.all, l)
		}
		signalProc(r.pid, syscall.SIGKILL, r.is)
	}
}

// command is the name of a process's program, also of a zombie's.
func command(pid int) string {
	return string(bytes.TrimSpace(readSmall("/proc/" + strconv.Itoa(pid) + "/comm")))
}

// removeCgroups removes the cgroups that were emptied, and those that dead hosts
// had left empty, whoever owned them.
func (s *sweep) removeCgroups() {
	base, _ := workersCgroup()
	for _, dir := range deadCgroups(base) {
		s.cgroups[dir] = true
	}
	for dir := range s.cgroups {
		if c := (&cgroup{dir}); !c.populated() {
			c.remove()
		}
	}
}

// report tells what was ended, given what lives on.
func (s *sweep) report(left []remain) ([]Leftover, error) {
	if len(left) == 0 {
		return s.all, nil
	}
	var pids []int
	for _, r := range left {
		pids = append(pids, r.pid)
	}
	ended := slices.DeleteFunc(s.all, func(l Leftover) bool { return slices.Contains(pids, l.Pid) })
	return ended, fmt.Errorf("sweep: %d processes that dead hosts have left behind live on, pids %v: end them by hand", len(pids), pids)
}
