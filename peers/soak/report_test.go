package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReport_saysThatNothingIsWrong(t *testing.T) {
	k := newSoak(settings{seed: 42, workers: 20}, nil, nil, t.Output())
	k.calms = []memory{{heap: 1 << 20}, {heap: 2 << 20}, {heap: 3 << 20}}
	k.book.count("deeds", "kill")
	var out strings.Builder
	k.report(&out)
	require.Contains(t, out.String(), "seed 42, 20 workers")
	require.Contains(t, out.String(), "deeds           1: kill 1\n")
	require.Contains(t, out.String(), "not done: bad framing, ")
	require.Contains(t, out.String(), "1.0 MiB → 2.0 MiB → 3.0 MiB")
	require.True(t, strings.HasSuffix(out.String(), "nothing is wrong\n"), out.String())
}

func TestReport_saysWhatIsWrong(t *testing.T) {
	k := newSoak(settings{seed: 42}, nil, nil, t.Output())
	k.book.note("before it")
	k.book.fault("this")
	var out strings.Builder
	k.report(&out)
	require.Regexp(t, `(?s)the last events.* before it\n.* FAULT this\n\nwrong, with -seed 42:\nthis\n$`, out.String())
	require.Contains(t, out.String(), "heap            unknown")
}
