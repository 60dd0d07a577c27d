package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/gateway"
	"github.com/airi-host/airi-host/internal/need"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/services/store"
)

// The scripts in testdata/script say what a user sees. Beside what testscript has:
//
//	exits CODE airi-host …   the exit code is that one
//	scaled CODE TEXT airi-host …  the same, and what it prints matches a regular expression; in
//	                         the arguments {N} is N times 100 ms. A busy machine gets longer times
//	events stdout            every line is a JSON object with an "event"
//	ready STATE N            a host runs in the state directory, N plugins of it are ready
//	peers STATE TEXT         a row of the command peers comes to match a regular expression
//	shows STATE PLUGIN TEXT  what ps notes of a plugin comes to match a regular expression
//	keeps STATE PLUGIN       how a plugin crashed is kept for the next host, as it is shown
//	job STATE KEY HOW        a job is due (at some time), or a run of it is running
//	answers STATE KEY TEXT   a call of the host that runs there comes to answer with TEXT
//	phase STATE PLUGIN PHASE  a plugin comes to be in a phase
//	http OUT METHOD PATH [NAME:VALUE …]  the host whose output is in OUT answers so
//	collector FILE …         there is an OpenTelemetry collector, which the FILEs call COLLECTOR
//	collected TEXT           it comes to be sent what matches a regular expression
//	[node]                   there is Node.js to run modules with
//	$PLUGINS $BROKEN         the plugins that work, and those that do not
//	$MACHINES                the golden files of the state machines
//	$HERE                    this package's folder
//	$BIN                     a folder that holds airi-host and nothing else
//
// When a script is over, no process and no temporary file may be left of it.
func TestScripts(t *testing.T) {
	t.Parallel()
	telemetry := &collector{} // one script uses it
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUp,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"scaled":  scaled,
			"events":  events,
			"ready":   ready,
			"shows":   shows,
			"keeps":   keeps,
			"peers":   peers,
			"job":     job,
			"answers": answers,
			"phase":   inPhase,
			"http":    ask,

			"collector": telemetry.collects,
			"collected": telemetry.collected,
		},
	})
}

func setUp(env *testscript.Env) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	host, err := exec.LookPath("airi-host")
	if err != nil {
		return err
	}
	root := filepath.Join(here, "..", "..")
	env.Setenv("HERE", here)
	env.Setenv("PLUGINS", filepath.Join(root, "testdata", "plugins"))
	env.Setenv("BROKEN", filepath.Join(root, "testdata", "broken"))
	env.Setenv("MACHINES", filepath.Join(root, "lifecycle", "testdata"))
	env.Setenv("BIN", filepath.Dir(host))
	env.Setenv("GORACE", quickExit)
	env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
	env.Setenv("HOME", os.Getenv("HOME")) // has the cache of the go command, with which the ledger is built
	env.Defer(func() {
		if left := leftoversBelow(env.WorkDir); len(left) > 0 {
			env.T().Fatal("processes were left: ", left)
		}
		if left := filesIn(env.Getenv("TMPDIR")); len(left) > 0 {
			env.T().Fatal("files were left: ", left)
		}
	})
	return nil
}

// leftoversBelow lists the processes whose environment names something in a directory. That
// of another script may begin with the same name, and runs at the same time.
func leftoversBelow(dir string) []string { return leftovers(dir + string(filepath.Separator)) }

// filesIn lists what is in a directory for temporary files, but for what the go command
// leaves when the building of the ledger is broken off.
func filesIn(dir string) (left []string) {
	all, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range all {
		if !strings.HasPrefix(filepath.Base(name), "go-build") {
			left = append(left, name)
		}
	}
	return left
}

// condition knows [node]. Where nothing may be skipped, a missing Node.js is an error.
func condition(name string) (bool, error) {
	if name != "node" {
		return false, fmt.Errorf("no condition is called %s", name)
	}
	_, err := exec.LookPath("node")
	if err != nil && os.Getenv("AIRI_HOST_NO_SKIP") != "" {
		return false, fmt.Errorf("AIRI_HOST_NO_SKIP is set: %w", err)
	}
	return err == nil, nil
}

// exits runs a command whose exit code is the first argument.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND …")
	}
	if got := exitCode(ts, args[1:]); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// exitCode runs a command.
func exitCode(ts *testscript.TestScript, command []string) int {
	err := ts.Exec(command[0], command[1:]...)
	if err == nil {
		return 0
	}
	ended, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		ts.Fatalf("%v", err)
	}
	return ended.ExitCode()
}

// units are the times in the arguments of scaled.
var units = regexp.MustCompile(`\{(\d+)\}`)

// scaled runs a command whose outcome depends on who is faster: a plugin, or a limit that
// is among the arguments.
func scaled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: scaled CODE TEXT COMMAND …")
	}
	want, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	good, got := false, 0
	need.Time(100*time.Millisecond, func(unit time.Duration) bool {
		command := slices.Clone(args[2:])
		for i, arg := range command {
			command[i] = units.ReplaceAllStringFunc(arg, func(n string) string {
				times, _ := strconv.ParseInt(strings.Trim(n, "{}"), 10, 64)
				return strconv.FormatInt(times*unit.Milliseconds(), 10)
			})
		}
		got = exitCode(ts, command)
		good = strconv.Itoa(got) == args[0] && want.MatchString(ts.ReadFile("stdout")+ts.ReadFile("stderr"))
		return good
	})
	if !good {
		ts.Fatalf("exit code %d, want %s with %s", got, args[0], want)
	}
}

// events checks that a file has one event a line and nothing else.
func events(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: events FILE")
	}
	text := ts.ReadFile(args[0])
	lines := bytes.Split(bytes.TrimSuffix([]byte(text), []byte("\n")), []byte("\n"))
	for _, line := range lines {
		var e struct{ Event string }
		if err := json.Unmarshal(line, &e); err != nil || e.Event == "" {
			ts.Fatalf("%q is no event: %v", line, err)
		}
	}
}

// ready waits until a host runs in a state directory and so many of its plugins are
// ready.
func ready(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: ready STATE N")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	await(ts, args[0], args[1]+" plugins are ready", func(ctx context.Context, host *admin.Client) bool {
		list, err := host.Plugins(ctx)
		n := 0
		for _, one := range list {
			if one.Phase == lifecycle.Ready {
				n++
			}
		}
		return err == nil && n >= want
	})
}

// job waits until a job is due at some time, or a run of it has begun and has not ended.
func job(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || args[2] != "due" && args[2] != "running" {
		ts.Fatalf("usage: job STATE KEY due|running")
	}
	await(ts, args[0], args[1]+" is "+args[2], func(ctx context.Context, host *admin.Client) bool {
		list, _ := host.Jobs(ctx, "", 1)
		return slices.ContainsFunc(list, func(one admin.Job) bool {
			switch {
			case one.Key != args[1]:
				return false
			case args[2] == "due":
				return !one.Next.IsZero()
			}
			return len(one.Runs) > 0 && one.Runs[0].EndedAt.IsZero()
		})
	})
}

// answers waits until a call answers with a text, or fails with it.
func answers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: answers STATE KEY TEXT")
	}
	await(ts, args[0], args[1]+" answers "+args[2], func(ctx context.Context, host *admin.Client) bool {
		got, err := host.Call(ctx, admin.CallRequest{Key: args[1], Input: json.RawMessage(`{}`), Timeout: admin.Duration(time.Second)})
		return strings.Contains(string(got), args[2]) || err != nil && strings.Contains(err.Error(), args[2])
	})
}

// inPhase waits until a plugin is in a phase.
func inPhase(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: phase STATE PLUGIN PHASE")
	}
	await(ts, args[0], args[1]+" is "+args[2], func(ctx context.Context, host *admin.Client) bool {
		one, err := host.Inspect(ctx, args[1])
		return err == nil && string(one.Phase) == args[2]
	})
}

// await waits until something is so of the host in a state directory.
func await(ts *testscript.TestScript, dir, what string, is func(context.Context, *admin.Client) bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	host, again := clientOf(ts.MkAbs(dir)), time.NewTicker(5*time.Millisecond)
	defer again.Stop()
	for !is(ctx, host) {
		select {
		case <-again.C:
		case <-ctx.Done():
			ts.Fatalf("it is not so: %s", what)
		}
	}
}

// shows waits until what ps notes of a plugin matches.
func shows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: shows STATE PLUGIN TEXT")
	}
	want, err := regexp.Compile(args[2])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	host, again := clientOf(ts.MkAbs(args[0])), time.NewTicker(5*time.Millisecond)
	defer again.Stop()
	for note := ""; ; {
		list, err := host.Plugins(ctx)
		for _, one := range list {
			if one.Plugin == args[1] {
				note = (&cli{}).notesOf(one, time.Now())
			}
		}
		if err == nil && want.MatchString(note) {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			ts.Fatalf("%s: %q does not match %s: %v", args[1], note, want, err)
		}
	}
}

// keeps waits until the store has of a plugin's crashes what ps shows: that is written
// behind what is told, and lost where the host is killed in between.
func keeps(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: keeps STATE PLUGIN")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	state := ts.MkAbs(args[0])
	shown, err := clientOf(state).Inspect(ctx, args[1])
	ts.Check(err)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		kept, err := keptCrashes(ctx, state, args[1])
		if err == nil && kept.All == shown.Worker.Crashes && kept.GivenUp == shown.Worker.GivenUp {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			ts.Fatalf("%s: %+v is not kept: %+v, %v", args[1], shown.Worker, kept, err)
		}
	}
}

// keptCrashes reads a copy of a running host's store. The copy may be none: then it fails.
func keptCrashes(ctx context.Context, state, plugin string) (kept store.Crashes, err error) {
	dir, err := os.MkdirTemp("", "airi-host-kept")
	if err != nil {
		return kept, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	files, err := filepath.Glob(filepath.Join(state, "*.db*"))
	if err != nil {
		return kept, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o600)
		}
		if err != nil {
			return kept, err
		}
	}
	db, err := store.Open(ctx, dir, store.Options{})
	if err != nil {
		return kept, err
	}
	defer func() { _ = db.Close() }() // it is a copy
	all, err := db.Plugins(ctx)
	for _, one := range all {
		if one.Name == plugin {
			return one.Crashes, err
		}
	}
	return kept, err
}

// peers waits until a row of the command peers matches.
func peers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: peers STATE TEXT")
	}
	want, err := regexp.Compile(args[1])
	ts.Check(err)
	await(ts, args[0], "a peer is "+args[1], func(ctx context.Context, host *admin.Client) bool {
		list, _ := host.Peers(ctx)
		return slices.ContainsFunc(list, func(p gateway.Peer) bool {
			return slices.ContainsFunc(peerRows(p, time.Now()), func(row []string) bool { return want.MatchString(strings.Join(row, "  ")) })
		})
	})
}
