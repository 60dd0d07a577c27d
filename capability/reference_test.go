package capability

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const listProviders = "proj-airi:plugin-sdk:apis:protocol:resources:providers:list-providers"

// reference reads what a recorded conversation with the reference host noted: what
// was asked, and the answer as text.
func reference(t *testing.T, name string) [][2]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	var recorded struct {
		Notes [][2]any `json:"notes"`
	}
	require.NoError(t, json.Unmarshal(text, &recorded))
	require.NotEmpty(t, recorded.Notes)
	var notes [][2]string
	for _, n := range recorded.Notes {
		notes = append(notes, [2]string{n[0].(string), fmt.Sprint(n[1])})
	}
	return notes
}

// wantAsRecorded asks for each note in turn and compares the answers.
func wantAsRecorded(t *testing.T, notes [][2]string, asked map[string]func() string) {
	t.Helper()
	for _, n := range notes {
		ask, ok := asked[n[0]]
		require.True(t, ok, "nothing replays %q", n[0])
		require.Equal(t, n[1], ask(), n[0])
	}
}

// text writes a value as the recordings do; their times are masked by 0.
func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// thrown writes an answer or an error as the recordings do.
func thrown(answer string, err error) string {
	if err != nil {
		return "THROW Error: " + err.Error()
	}
	return "ok " + answer
}

func TestReference_registry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{})
		descriptor := func(d Descriptor, _ []Change, err error) string {
			require.NoError(t, err)
			return text(t, d)
		}
		_, _, err := r.Ready(at(0), listProviders, json.RawMessage(`{"source":"plugin-host"}`))
		require.NoError(t, err)
		var elapsed time.Duration

		wantAsRecorded(t, reference(t, "host-caps-registry.meta.json"), map[string]func() string{
			"initial": func() string {
				return strings.ReplaceAll(text(t, r.Snapshot().List()), `"updatedAt":0`, `"updatedAt":"number"`)
			},
			"announce": func() string { return descriptor(r.Announce(at(0), "k", json.RawMessage(`{"a":1}`))) },
			"ready keeps metadata when omitted": func() string {
				return descriptor(r.Ready(at(0), "k", nil))
			},
			"degraded replaces metadata": func() string {
				return descriptor(r.Degrade(at(0), "k", json.RawMessage(`{"b":2}`)))
			},
			"ready after degraded": func() string { return descriptor(r.Ready(at(0), "k", nil)) },
			"announce again resets ready": func() string {
				return fmt.Sprintf("%s ready=%t", descriptor(r.Announce(at(0), "k", nil)), r.Snapshot().Ready("k"))
			},
			"withdraw unknown key creates it": func() string { return descriptor(r.Withdraw(at(0), "never-announced", nil)) },
			"list order = first-touch order": func() string {
				var list []string
				for _, d := range r.Snapshot().List() {
					list = append(list, fmt.Sprintf("%s=%s", d.Key, d.State))
				}
				return text(t, list)
			},
			"wait default timeout is long; explicit 30": func() string {
				begun := time.Now()
				_, err := r.Wait(t.Context(), "nope", 30*time.Millisecond)
				elapsed = time.Since(begun)
				return thrown("", err)
			},
			"elapsed>=30":            func() string { return fmt.Sprint(elapsed >= 30*time.Millisecond) },
			"waitForCapabilities []": func() string { return thrown("undefined", r.WaitAll(t.Context(), nil, 0)) },
			"two waiters same descriptor object": func() string {
				one, two := startWait(t.Context(), r, "same", 0), startWait(t.Context(), r, "same", 0)
				want := hostReady(t, r, "same")
				first, second := <-one, <-two
				require.NoError(t, errors.Join(first.err, second.err))
				require.Equal(t, &want, first.got)
				return fmt.Sprint(first.got == second.got)
			},
		})
	})
}

func TestReference_invokes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{})
		_, _, err := r.Ready(at(0), listProviders, json.RawMessage(`{"source":"plugin-host"}`))
		require.NoError(t, err)
		// Not replayed: a call without a payload, and one of another service. What
		// they answer is the dialect's business.
		var notes [][2]string
		for _, n := range reference(t, "host-caps-invoke.meta.json") {
			if n[0] != "listProviders" && n[0] != "wait without payload" {
				notes = append(notes, n)
			}
		}
		wantAsRecorded(t, notes, map[string]func() string{
			"snapshot": func() string { return thrown(text(t, r.Snapshot().List()), nil) },
			"wait cap:x": func() string {
				waits := startWait(context.Background(), r, "cap:x", time.Second)
				_, _, err := r.Ready(at(0), "cap:x", json.RawMessage(`{"by":"lab"}`))
				require.NoError(t, err)
				got := <-waits
				return thrown(text(t, got.got), got.err)
			},
			"wait timeout": func() string {
				_, err := r.Wait(t.Context(), "cap:y", 15*time.Millisecond)
				return thrown("", err)
			},
		})
	})
}
