package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The first two are what the reference host said when a session was stopped while
// it waited for capabilities, and while its init hook ran.
func TestIllegalError_sessionSpeaksAsTheReference(t *testing.T) {
	tests := []struct {
		from, to State
		want     string
	}{
		{Stopped, Prepared, "Invalid plugin lifecycle transition: stopped -> prepared for module lab-plugin-0"},
		{Ready, Loaded, "Invalid plugin lifecycle transition: ready -> loaded for module lab-plugin-0"},
		{"", Ready, "Invalid plugin lifecycle transition:  -> ready for module lab-plugin-0"},
	}
	for _, tt := range tests {
		_, err := Session.Move("lab-plugin-0", tt.from, tt.to)
		require.EqualError(t, err, tt.want)
	}
}

func TestIllegalError_firedSessionSpeaksAsTheReference(t *testing.T) {
	_, err := Session.Fire("lab-plugin-0", Stopped, SessionPrepared)
	require.EqualError(t, err, "Invalid plugin lifecycle transition: stopped -> prepared for module lab-plugin-0")
	require.Equal(t, &IllegalError{
		Machine: "session", Session: "lab-plugin-0", From: Stopped, To: Prepared, Event: SessionPrepared,
	}, err)
}

func TestIllegalError_othersSayWhatIsPossible(t *testing.T) {
	_, err := Worker.Move("hello", WorkerRunning, WorkerBackoff)
	require.EqualError(t, err, "invalid worker transition for hello: running -> backoff (possible: EXITED, STOP)")

	_, err = Worker.Fire("hello", WorkerRunning, WorkerStart)
	require.EqualError(t, err, "invalid worker transition for hello: START in running (possible: EXITED, STOP)")

	_, err = Route.Fire("duplex-route-1", RouteClosed, RouteEnd)
	require.EqualError(t, err, "invalid route transition for duplex-route-1: END in closed (possible: nothing)")
}

func TestIllegalError_eventThatIsNone(t *testing.T) {
	_, err := Session.Fire("hello-0", Failed, "EXPLODE")
	require.EqualError(t, err, "invalid session transition for hello-0: EXPLODE in failed (possible: STOP)")
}
