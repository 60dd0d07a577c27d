package process

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// usual are the bounds that hold unless a Spec has others.
var usual = Traces{}.withDefaults()

const pythonTrace = `Traceback (most recent call last):
  File "/w/main.py", line 3, in <module>
    int("x")
ValueError: invalid literal for int() with base 10: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/w/main.py", line 5, in <module>
    raise RuntimeError("no")
RuntimeError: no`

const goTrace = `panic: assignment to entry in nil map
	panic: again [recovered]
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x47c2a1]

goroutine 1 [running]:
main.main()
	/w/main.go:5 +0x25

goroutine 18 gp=0xc000102380 m=nil [chan receive]:
main.wait(0xc000024070)
	/w/main.go:9 +0x1d
created by main.main in goroutine 1
	/w/main.go:4 +0x1a
exit status 2`

const nodeTrace = `file:///w/worker.mjs:3
throw new TypeError('no luck')
      ^

TypeError: no luck
    at file:///w/worker.mjs:3:7
    at ModuleJob.run (node:internal/modules/esm/module_job:222:25) {
  code: 'ENOLUCK'
}

Node.js v20.11.0`

// Each group of lines is one LogLine.
var traces = []struct {
	name string
	want []string
}{
	{"plain lines are lines", []string{"one", "two", "", "three"}},
	{"an error as JavaScript logs it", []string{"Error: no\n    at f (file:///w/a.mjs:1:2)\n    at g {\n  code: 'E'\n}", "next"}},
	{"what is printed in a block", []string{"{\n  \"a\": [\n  ]\n}", "}", "next"}},
	{"Python", []string{pythonTrace, "after"}},
	{"a logger in Python", []string{"ERROR:root:it failed\n" + pythonTrace, "after"}},
	{"an error of several lines in Python", []string{"Traceback (most recent call last):\n  File \"a\"\nValueError: one\n  two", "three"}},
	{"a panic in Go", []string{"before", goTrace}},
	{"a panic that a server in Go has caught", []string{
		"2026/11/30 http: panic serving 127.0.0.1:1: no\ngoroutine 7 [running]:\nnet/http.(*conn).serve.func1()\n\t/go/server.go:1 +0xb1", "2026/11/30 next",
	}},
	{"Node.js", []string{"before", nodeTrace, "after"}},
	{"a path is not always a trace", []string{"/w/a.mjs:3\nnot a caret follows", "nor here"}},
	{"text that is indented from the beginning", []string{"  one\n  two", "three"}},
}

func TestLogbook_aTraceIsOne(t *testing.T) {
	for _, one := range traces {
		t.Run(one.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := newLogSink()
				b := newLogbook(sink.add, Traces{})
				for line := range strings.SplitSeq(strings.Join(one.want, "\n"), "\n") {
					b.add(Stderr, line)
					b.add(Stdout, "text of another stream") // does not come between
				}
				b.end()
				<-b.told
				require.Equal(t, one.want, textsOf(sink, Stderr))
				_, lost := b.counts()
				require.Zero(t, lost)
			})
		})
	}
}

// textsOf are the texts that came from a stream.
func textsOf(sink *logSink, stream Stream) (texts []string) {
	for _, l := range sink.all() {
		if l.Stream == stream {
			texts = append(texts, l.Text)
		}
	}
	return texts
}

func TestLogbook_waitsForTheRestOfATrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newLogSink()
		b := newLogbook(sink.add, Traces{})
		wantAfter := func(d time.Duration, want ...string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			require.Equal(t, want, textsOf(sink, Stderr))
		}
		b.add(Stderr, "alone")
		wantAfter(usual.Line-1, nil...)
		wantAfter(1, "alone")
		b.add(Stderr, pythonHead)
		wantAfter(usual.Pause-1, "alone")
		b.add(Stderr, "  frame")
		wantAfter(usual.Pause-1, "alone")
		wantAfter(1, "alone", pythonHead+"\n  frame")
		b.end()
		<-b.told
	})
}

// What goes on for ever comes in pieces.
func TestLogbook_aTraceHasBounds(t *testing.T) {
	for name, wanted := range map[string]struct {
		line   string
		pause  time.Duration
		count  int
		within func(text string) bool
		bounds Traces
	}{
		"lines": {"  x", 0, 3 * usual.Lines, func(text string) bool { return strings.Count(text, "\n") < usual.Lines }, Traces{}},
		"bytes": {"  " + strings.Repeat("x", 1000), 0, 100, func(text string) bool { return len(text) < usual.Bytes+1100 }, Traces{}},
		"time": {"  x", 100 * time.Millisecond, 100, func(text string) bool {
			return strings.Count(text, "\n") <= int(usual.Most/(100*time.Millisecond))+1
		}, Traces{}},
		"own lines": {"  x", 0, 20, func(text string) bool { return strings.Count(text, "\n") < 3 }, Traces{Lines: 3}},
		"own bytes": {"  x", 0, 20, func(text string) bool { return len(text) < 30+5 }, Traces{Bytes: 30}},
		"own pause": {"  x", 20 * time.Millisecond, 20, func(text string) bool { return !strings.Contains(text, "x\n") }, Traces{Line: 10 * time.Millisecond, Pause: 10 * time.Millisecond}},
		"own time":  {"  x", 20 * time.Millisecond, 20, func(text string) bool { return strings.Count(text, "\n") <= 3 }, Traces{Most: 50 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := newLogSink()
				b := newLogbook(sink.add, wanted.bounds)
				b.add(Stderr, "goroutine 1 [running]:")
				for range wanted.count {
					b.add(Stderr, wanted.line)
					time.Sleep(wanted.pause)
				}
				b.end()
				<-b.told
				texts, lines := textsOf(sink, Stderr), 0
				require.Greater(t, len(texts), 2)
				for _, text := range texts {
					require.True(t, wanted.within(text), text)
					lines += strings.Count(text, "\n") + 1
				}
				require.Equal(t, wanted.count+1, lines, "a line is lost")
			})
		})
	}
}

// A trace that is dropped is counted line by line.
func TestLogbook_countsTheLinesOfATrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newLogSink()
		b := newLogbook(sink.add, Traces{})
		for i := range LogBurst {
			b.add(Stderr, fmt.Sprint(i))
		}
		for line := range strings.SplitSeq(goTrace, "\n") {
			b.add(Stderr, line)
		}
		b.end()
		<-b.told
		_, lost := b.counts()
		require.EqualValues(t, strings.Count(goTrace, "\n")+1, lost)
	})
}
