package plugintest_test

import (
	"fmt"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a test that remembers what it is told, and goes on.
type recorder struct {
	testing.TB
	said     []string
	cleanups []func()
}

func (r *recorder) Helper()                      {}
func (r *recorder) Failed() bool                 { return len(r.said) > 0 }
func (r *recorder) Fatal(what ...any)            { r.said = append(r.said, fmt.Sprint(what...)) }
func (r *recorder) Errorf(text string, a ...any) { r.said = append(r.said, fmt.Sprintf(text, a...)) }

func (r *recorder) Logf(text string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(text, args...))
}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

// end is the end of the test.
func (r *recorder) end() {
	for _, f := range r.cleanups {
		f()
	}
}
