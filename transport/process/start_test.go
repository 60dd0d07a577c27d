//go:build linux

package process

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStart_givesTheWorkerItsPipesOnly(t *testing.T) {
	// Whoever started the test may have left it descriptors; they are not ours.
	foreign := inheritable()
	for kind, own := range map[Wire][]int{Stdio: {0, 1, 2}, Own: {0, 1, 2, 3, 4}} {
		w := start(t, "descriptors", withWire(kind))
		want := append(own, foreign...)
		slices.Sort(want)
		require.Equal(t, []string{fmt.Sprint(slices.Compact(want))}, w.wantExit().Tail)
	}
}

func TestStart_manyAtOnce(t *testing.T) {
	var workers []*worker
	for range 8 {
		workers = append(workers, start(t, "echo"))
	}
	var group sync.WaitGroup
	for _, w := range workers {
		group.Go(func() {
			for i := range 200 {
				record := strconv.Itoa(i)
				if err := w.Send([]byte(record)); err != nil {
					t.Error(err)
				}
				if got, err := w.Recv(); err != nil || string(got) != record {
					t.Errorf("want %s, got %q, %v", record, got, err)
				}
			}
		})
	}
	group.Wait()
}

func TestStart_startsAndEndsManyTimes(t *testing.T) {
	for range 20 {
		w := start(t, "exit", withArg("3"))
		require.Equal(t, 3, w.wantExit().Status.Code)
		_ = w.Send([]byte("late"))
	}
}
