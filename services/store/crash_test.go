package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// killsVariable says how often the writer is killed.
const killsVariable = "AIRI_HOST_STORE_KILLS"

func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv(killsVariable)
	if text == "" {
		return 20
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, killsVariable)
	return n
}

// A process that writes is killed at any moment, again and again. What it was told to
// be kept has to be there, whole.
func TestDB_aKillLosesNothingThatWasAcknowledged(t *testing.T) {
	dir := t.TempDir()
	acknowledged := [writers]int{}
	total := 0
	for range kills(t) {
		c := startChild(t, "writes", dir)
		c.wantLine("open")
		for range rand.IntN(150) {
			var g, n int
			require.True(t, c.lines.Scan())
			_, err := fmt.Sscan(c.lines.Text(), &g, &n)
			require.NoError(t, err)
			acknowledged[g] = n
		}
		require.NoError(t, c.cmd.Process.Kill())
		for c.lines.Scan() { // what it has said before it was killed
			var g, n int
			if _, err := fmt.Sscan(c.lines.Text(), &g, &n); err == nil {
				acknowledged[g] = n
			}
		}
		c.kill()
		db, err := Open(context.Background(), dir, Options{})
		require.NoError(t, err)
		for g, n := range acknowledged {
			value, err := db.State().Get(t.Context(), keyOf("p", fmt.Sprint(g)))
			require.NoError(t, err)
			if n == 0 && value == nil {
				continue
			}
			kept := numberIn(value)
			require.GreaterOrEqual(t, kept, n, "key %d", g)
			require.LessOrEqual(t, kept, n+1, "key %d: at most the one in flight", g)
			acknowledged[g] = kept // what was read once stays too
			total += n
		}
		require.NoError(t, db.Close())
	}
	t.Log("values at the end:", acknowledged)
	require.Positive(t, total)
}
