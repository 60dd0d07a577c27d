package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

func TestShortfall_saysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		s    shortfall
		want string
	}{
		{
			shortfall{Phase: lifecycle.Failed, FailedIn: lifecycle.Preparing, Reason: "out of cheese.", Place: "p.mjs:3:1"},
			"p failed in preparing: out of cheese. at p.mjs:3:1 (p.json)",
		},
		{
			shortfall{Phase: lifecycle.Failed, FailedIn: lifecycle.WaitingDeps, Reason: "tool:x is late.", Limit: limits[lifecycle.WaitingDeps]},
			"p failed in waiting-deps: tool:x is late: have a plugin offer what airi-host.requires names, " +
				"or raise airi-host.timeouts.capabilities in its manifest (p.json)",
		},
		{
			shortfall{
				Phase: lifecycle.Failed, FailedIn: lifecycle.WaitingDeps, Reason: "tool:x is late.",
				Limit: limits[lifecycle.WaitingDeps], Cycle: []string{"p", "q", "p"},
			},
			"p failed in waiting-deps: tool:x is late: p → q → p wait for each other: take a key out of airi-host.requires " +
				"in one of their manifests (limit: airi-host.timeouts.capabilities; p.json)",
		},
		{
			shortfall{Phase: lifecycle.Preparing, Reason: (&startLimitError{time.Second}).Error(), Limit: startLimitFlag},
			"p is preparing: the start limit of 1s is over (--start-limit): raise it, or see what keeps the plugin (p.json)",
		},
		{
			shortfall{Phase: lifecycle.ConfigurationNeeded},
			"p is configuration-needed: 'airi-host config set p JSON', or plugins.p.config in the settings (p.json)",
		},
		{
			shortfall{Phase: lifecycle.ConfigurationNeeded, Reason: "the configuration of plugin p: /stepp: is not known"},
			"p is configuration-needed: the configuration of plugin p: /stepp: is not known: " +
				"'airi-host config set p JSON', or plugins.p.config in the settings (p.json)",
		},
		{shortfall{Phase: lifecycle.Degraded, Reason: "missing capabilities: tool:x"}, "p is degraded: missing capabilities: tool:x (p.json)"},
		{shortfall{Reason: "the host is shut down\nnow"}, "p did not start: the host is shut down now (p.json)"},
	} {
		c.s.Plugin, c.s.File = "p", "p.json"
		c.s.Advice = c.s.advice(cures{})
		require.Equal(t, c.want, c.s.String())
	}
}

func TestShortfallOf_tellsHowItStands(t *testing.T) {
	host := newHost(t)
	ctx := context.Background()
	ready, needy := greeterCalled("ready"), greeterCalled("needy")
	needy.Host.Configuration.Required = true
	for _, o := range host.StartAll(ctx, manifests(ready, needy), nil, nil) {
		require.NoError(t, o.Err)
	}

	late := fmt.Errorf("plugin needy is still there: %w", &startLimitError{time.Second})
	_, bad := shortfallOf(standingsOf(host), ready, late, trace{}, cures{})
	require.False(t, bad, "it made it in time")
	got, bad := shortfallOf(standingsOf(host), needy, nil, trace{}, cures{})
	require.True(t, bad)
	require.Equal(t, lifecycle.ConfigurationNeeded, got.Phase)
	require.Equal(t, "Host requested configuration before activation.", got.Reason)
	require.Empty(t, got.Limit)
	got, _ = shortfallOf(standingsOf(host), needy, late, trace{}, cures{})
	require.Equal(t, "Host requested configuration before activation: the start limit of 1s is over (--start-limit)", got.Reason)
	require.Equal(t, startLimitFlag, got.Limit)

	got, bad = shortfallOf(standingsOf(host), greeterCalled("absent"), errors.New("plugin absent: no room"), trace{}, cures{})
	require.True(t, bad)
	require.Equal(t, "no room", got.Reason)
}

func TestShortfallOf_tellsWhereItFailed(t *testing.T) {
	host := newHost(t)
	m := greeterCalled("nobody")
	unknown := "builtin:nobody"
	m.Entrypoints.Go = &unknown
	outcomes := host.StartAll(context.Background(), manifests(m), nil, nil)

	failed := trace{failedIn: lifecycle.Loading}
	got, bad := shortfallOf(standingsOf(host), m, outcomes[0].Err, failed, cures{})
	require.True(t, bad)
	require.Equal(t, lifecycle.Failed, got.Phase)
	require.Equal(t, lifecycle.Loading, got.FailedIn)
	require.NotContains(t, got.Reason, "plugin nobody:", "its name stands in front")
	require.Contains(t, got.Reason, "is compiled into this host")

	got, _ = shortfallOf(standingsOf(host), m, &startLimitError{time.Second}, failed, cures{})
	require.Contains(t, got.Reason, "is compiled into this host", "the limit came after")
	got, _ = shortfallOf(standingsOf(host), m, &protocol.Error{Code: protocol.CodeTimeout, Message: "late"}, failed, cures{})
	require.Equal(t, "airi-host.timeouts.load", got.Limit)
	got, _ = shortfallOf(standingsOf(host), m, &protocol.PeerError{Message: "oh", At: "a.mjs:1:2"}, failed, cures{})
	require.Equal(t, "a.mjs:1:2", got.Place)
}

func TestReportOf_counts(t *testing.T) {
	host := newHost(t)
	needy := greeterCalled("needy")
	needy.Host.Configuration.Required = true
	outcomes := host.StartAll(context.Background(), manifests(needy, greeterCalled("ready")), nil, nil)
	got := reportOf(host, outcomes, nil, cures{})
	require.Equal(t, 2, got.plugins)
	require.Equal(t, 1, got.ready)
	require.Len(t, got.shortfalls, 1)
	require.Equal(t, "needy", got.shortfalls[0].Plugin)
}

// What is said of one plugin must not cost a look at all that the others offer.
func TestReportOf_isQuickWithManyPlugins(t *testing.T) {
	host := newHost(t)
	list := make([]*manifest.Manifest, 2000)
	for i := range list {
		list[i] = greeterCalled(fmt.Sprint("greeter-", i))
	}
	outcomes := host.StartAll(context.Background(), list, nil, nil)
	began := cpuTime(t)
	require.Equal(t, len(list), reportOf(host, outcomes, nil, cures{}).ready)
	require.Less(t, cpuTime(t)-began, time.Second)
}

// cpuTime is what this process has used of the processor, however little it gets of it.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestMarkLate_isForStartsWithoutAnOutcome(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), time.Hour, &startLimitError{time.Hour})
	failed := errors.New("failed before")
	outcomes := []actors.Outcome{{}, {Err: failed}}
	markLate(ctx, outcomes)
	require.NoError(t, outcomes[0].Err, "there is time")

	cancel()
	markLate(ctx, outcomes)
	require.ErrorIs(t, outcomes[0].Err, context.Canceled)
	require.Equal(t, failed, outcomes[1].Err)
}

func TestReport_summaryNamesWhatIsNotReadyAndTheCure(t *testing.T) {
	failed := func(plugin, reason string) shortfall {
		return shortfall{Plugin: plugin, Phase: lifecycle.Failed, Reason: reason}
	}
	for want, r := range map[string]report{
		"2 of 2 plugins ready": {plugins: 2, ready: 2},
		"0 of 0 plugins ready, 1 manifest with problems (airi-host validate a.json)":           {unsound: []string{"a.json"}},
		"0 of 0 plugins ready, 2 manifests with problems (airi-host validate names them)":      {unsound: []string{"a.json", "b.json"}},
		"1 of 2 plugins ready, 1 failed (p: out of ␛cheese)":                                   {plugins: 2, ready: 1, shortfalls: []shortfall{failed("p", "out of \x1bcheese.")}},
		"0 of 1 plugin ready, 1 not ready (p: raise it)":                                       {plugins: 1, shortfalls: []shortfall{{Plugin: "p", Phase: lifecycle.Preparing, Reason: "late", Advice: "raise it"}}},
		"0 of 1 plugin ready, 1 needs configuration (p: give it)":                              {plugins: 1, shortfalls: []shortfall{{Plugin: "p", Phase: lifecycle.ConfigurationNeeded, Advice: "give it"}}},
		"0 of 2 plugins ready, 2 need configuration (p: give it; q: give it)":                  {plugins: 2, shortfalls: []shortfall{{Plugin: "p", Phase: lifecycle.ConfigurationNeeded, Advice: "give it"}, {Plugin: "q", Phase: lifecycle.ConfigurationNeeded, Advice: "give it"}}},
		"0 of 5 plugins ready, 4 failed (a: x; b: x; c: x; and 1 more), 1 not ready (e: slow)": {plugins: 5, shortfalls: []shortfall{failed("a", "x"), failed("b", "x"), {Plugin: "e", Reason: "slow"}, failed("c", "x"), failed("d", "x")}},
		"0 of 1 plugin ready, 1 failed (p: " + strings.Repeat("é", longestCure/2) + "…)":       {plugins: 1, shortfalls: []shortfall{failed("p", strings.Repeat("é", 1000))}},
	} {
		require.Equal(t, want, r.summary())
	}
}
