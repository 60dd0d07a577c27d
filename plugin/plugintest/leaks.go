package plugintest

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// mark is the label of the goroutines of one session: one that a hook or a handler starts
// has it, too, and so have those that this one starts.
type mark string

const markLabel = "plugintest"

var marks atomic.Int64

func newMark() mark { return mark(strconv.FormatInt(marks.Add(1), 10)) }

// run does f on a goroutine that bears the mark, already when run returns.
func (m mark) run(f func()) {
	marked := make(chan struct{})
	go pprof.Do(context.Background(), pprof.Labels(markLabel, string(m)), func(context.Context) {
		close(marked)
		f()
	})
	<-marked
}

// settleLook is how often it is looked whether goroutines have ended.
const settleLook = 5 * time.Millisecond

// left waits until no goroutine bears the mark, and returns the stacks of those that do when
// the time is over. Goroutines whose stacks have a part that is ignored do not count.
func (m mark) left(within time.Duration, ignore []string) []string {
	for until := time.Now().Add(within); ; time.Sleep(settleLook) {
		stacks := m.stacks(ignore)
		if len(stacks) == 0 || !time.Now().Before(until) {
			return stacks
		}
	}
}

func (m mark) stacks(ignore []string) []string {
	var profile bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 1) // a buffer takes all
	labels := fmt.Sprintf("%q:%q", markLabel, string(m))
	var found []string
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		ignored := func(part string) bool { return strings.Contains(stack, part) }
		if strings.Contains(stack, "# labels: ") && strings.Contains(stack, labels) && !slices.ContainsFunc(ignore, ignored) {
			found = append(found, stack)
		}
	}
	return found
}
