package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/internal/need"
	"github.com/airi-host/airi-host/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The whole, for ten seconds. It has fewer workers than usual, because other packages
// are tested at the same time.
func TestCommand_soaks(t *testing.T) {
	peers.Install(t, peers.Paperclip)
	var out, log bytes.Buffer
	before := os.Getenv("TMPDIR")
	need.Time(10*time.Second, func(length time.Duration) bool { // for so much to happen
		out.Reset()
		log.Reset()
		code := command([]string{"-for", length.String(), "-workers", "8"}, &out, &log)
		t.Logf("%s\n%s", &log, &out)
		require.Zero(t, code)
		require.Equal(t, before, os.Getenv("TMPDIR"))
		require.Regexp(t, `^soak: seed \d+, 8 workers for `+length.String()+`\n`, log.String())
		return strings.Contains(out.String(), "crashes ")
	})
	for _, row := range []string{
		`neighbors +\d+: ok \d+; `, `calls +\d+: (.*, )?ok \d+`, `workers +.*crashes \d+`, `heap +\d.* → \d.* → \d`, `nothing is wrong\n$`,
	} {
		require.Regexp(t, row, out.String())
	}
}

func TestCommand_refusesWrongUsage(t *testing.T) {
	for _, args := range [][]string{{"x"}, {"-for", "0s"}, {"-workers", "3"}, {"-what"}} {
		require.Equal(t, 2, command(args, &bytes.Buffer{}, &bytes.Buffer{}), args)
	}
	var log bytes.Buffer
	require.Zero(t, command([]string{"-h"}, &bytes.Buffer{}, &log))
	require.Contains(t, log.String(), "-seed")
	log.Reset()
	require.Equal(t, 1, command([]string{"-set", "nobody"}, &bytes.Buffer{}, &log))
	require.Contains(t, log.String(), `soak: there is no set "nobody"`)
}

func TestParse_takesASeedOrMakesOne(t *testing.T) {
	given, err := parse([]string{"-seed", "7"}, &bytes.Buffer{})
	require.NoError(t, err)
	require.EqualValues(t, 7, given.seed)
	made, err := parse(nil, &bytes.Buffer{})
	require.NoError(t, err)
	require.NotZero(t, made.seed)
	require.Regexp(t, regexp.MustCompile(`^(on|off)$`), raceDetector)
}
