package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/peers"

	"github.com/airi-host/airi-host/internal/need"
)

// The hosts that are measured are this program, which in a test is the test binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "-subject" || os.Args[1] == "-worker") {
		os.Exit(command(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// bound is the longest that a whole comparison may take in a test.
const bound = "3m"

func TestCommand_comparesWithTheRealHost(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	peers.Install(t, peers.Paperclip)
	var out, log bytes.Buffer
	args := []string{"-rounds", "2", "-scale", "0.002", "-workers", "2", "-limit", bound, "-json"}
	require.Zero(t, command(args, strings.NewReader(""), &out, &log), log.String())

	loads, hosts := map[string]int{}, map[string]int{}
	for line := range bytes.Lines(out.Bytes()) {
		var r struct {
			row
			Full float64 `json:"fullMiB"`
		}
		require.NoError(t, json.Unmarshal(line, &r))
		hosts[r.Host]++
		if r.Load == "" {
			require.Greater(t, r.Full, 5.0, "%s", line)
			continue
		}
		loads[r.Load]++
		require.Positive(t, r.CPUMicros, "%s", line)
		require.Positive(t, r.PerSecond, "%s", line)
		require.Positive(t, r.CPURatio, "%s", line)
	}
	require.Equal(t, map[string]int{"paperclip": 8, "airi-host": 12, "bare loop": 10}, hosts)
	require.Len(t, loads, 9)
}

func TestCommand_comparesAModuleWithABareLoop(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	need.Node(t)
	var out, log bytes.Buffer
	args := []string{"-airi", "-rounds", "1", "-scale", "0.01", "-limit", bound, "-json"}
	require.Zero(t, command(args, strings.NewReader(""), &out, &log), log.String())

	hosts := map[string]int{}
	for line := range bytes.Lines(out.Bytes()) {
		var r row
		require.NoError(t, json.Unmarshal(line, &r))
		hosts[r.Host]++
		for _, figure := range []float64{r.CPUMicros, r.PerSecond, r.P50Micros, r.SpeedRatio, r.P50Ratio} {
			require.Positive(t, figure, "%s", line)
		}
	}
	require.Equal(t, map[string]int{"bare loop": len(eventaLoads), "bare Eventa": len(eventaLoads), "airi-host": len(eventaLoads)}, hosts)
}

func TestCommand_comparesARemotePluginWithABareLoop(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	peers.Install(t, peers.Paperclip)
	var out, log bytes.Buffer
	args := []string{"-eliza", "-rounds", "1", "-scale", "0.01", "-limit", bound, "-json"}
	require.Zero(t, command(args, strings.NewReader(""), &out, &log), log.String())

	hosts := map[string]int{}
	for line := range bytes.Lines(out.Bytes()) {
		var r row
		require.NoError(t, json.Unmarshal(line, &r))
		hosts[r.Host]++
		for _, figure := range []float64{r.CPUMicros, r.PerSecond, r.P50Micros} {
			require.Positive(t, figure, "%s", line)
		}
	}
	all := len(remoteLoads)
	require.Equal(t, map[string]int{"bare loop": all - 1, "airi-host": all, "airi-host, signing": all}, hosts)
}

func TestCommand_refusesWrongUsage(t *testing.T) {
	for _, args := range [][]string{{"x"}, {"-rounds", "0"}, {"-scale", "0"}, {"-what"}} {
		require.Equal(t, 2, command(args, strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}), args)
	}
	var log bytes.Buffer
	require.Equal(t, 1, command([]string{"-subject", "nobody"}, strings.NewReader(""), &bytes.Buffer{}, &log))
	require.Equal(t, "bench: there is no host \"nobody\" to be measured\n", log.String())
	require.Zero(t, command([]string{"-h"}, strings.NewReader(""), &bytes.Buffer{}, &log))
	require.Contains(t, log.String(), "-rounds")
}

func TestCommand_endsAtItsLimit(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	modules := peers.Install(t, peers.Paperclip)
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second/2, errors.New("enough"))
	defer cancel()
	s := settings{rounds: 1_000_000, scale: 1, only: "B, one"}
	b := &bench{settings: s, modules: modules, program: os.Args[0], dir: t.TempDir(), out: &bytes.Buffer{}, log: &bytes.Buffer{}}
	require.ErrorContains(t, b.goWorker(ctx), "enough")
}
