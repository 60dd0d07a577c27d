package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWorker_stories(t *testing.T) {
	tests := []story{
		{
			"started and stopped",
			[]Event{WorkerStart, WorkerStarted, WorkerStop, WorkerExited},
			[]State{WorkerStarting, WorkerRunning, WorkerStopping, WorkerStopped},
		},
		{
			"a start that is answered with an error is not retried",
			[]Event{WorkerStart, WorkerStartFailed},
			[]State{WorkerStarting, WorkerStopped},
		},
		{
			"an exit while starting is a crash",
			[]Event{WorkerStart, WorkerExited, WorkerScheduleRetry, WorkerRetry, WorkerStarted},
			[]State{WorkerStarting, WorkerCrashed, WorkerBackoff, WorkerStarting, WorkerRunning},
		},
		{
			"a crash too many",
			[]Event{WorkerStart, WorkerStarted, WorkerExited, WorkerGiveUp, WorkerStart},
			[]State{WorkerStarting, WorkerRunning, WorkerCrashed, WorkerStopped, WorkerStarting},
		},
		{
			"started by hand before its time",
			[]Event{WorkerStart, WorkerExited, WorkerScheduleRetry, WorkerStart},
			[]State{WorkerStarting, WorkerCrashed, WorkerBackoff, WorkerStarting},
		},
		{
			"stopped while it waits for its time",
			[]Event{WorkerStart, WorkerExited, WorkerScheduleRetry, WorkerStop},
			[]State{WorkerStarting, WorkerCrashed, WorkerBackoff, WorkerStopped},
		},
		{
			"stopped before the crash was dealt with",
			[]Event{WorkerStart, WorkerExited, WorkerStop},
			[]State{WorkerStarting, WorkerCrashed, WorkerStopped},
		},
		{
			"the answer to the start crosses with the stop",
			[]Event{WorkerStart, WorkerStop, WorkerStarted, WorkerExited},
			[]State{WorkerStarting, WorkerStopping, WorkerStopping, WorkerStopped},
		},
		{
			"the start fails while it is stopped",
			[]Event{WorkerStart, WorkerStop, WorkerStartFailed},
			[]State{WorkerStarting, WorkerStopping, WorkerStopped},
		},
		{
			"stopped more than once",
			[]Event{WorkerStop, WorkerStart, WorkerStop, WorkerStop, WorkerExited, WorkerStop},
			[]State{WorkerStopped, WorkerStarting, WorkerStopping, WorkerStopping, WorkerStopped, WorkerStopped},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantStory(t, Worker, tt) })
	}
}

func TestWorker_startsOnce(t *testing.T) {
	wantIllegal(t, Worker, WorkerStarting, WorkerStart,
		"invalid worker transition for hello: START in starting (possible: STARTED, START_FAILED, EXITED, STOP)")
	wantIllegal(t, Worker, WorkerRunning, WorkerStart,
		"invalid worker transition for hello: START in running (possible: EXITED, STOP)")
	wantIllegal(t, Worker, WorkerStopping, WorkerStart,
		"invalid worker transition for hello: START in stopping (possible: STARTED, START_FAILED, EXITED, STOP)")
}

// A timer of a back-off that was stopped meanwhile must not start anything.
func TestWorker_lateTimerStartsNothing(t *testing.T) {
	for _, state := range Worker.States() {
		require.Equal(t, state == WorkerBackoff, Worker.Can(state, WorkerRetry), state)
	}
}

func TestWorker_canBeStoppedAlways(t *testing.T) {
	for _, state := range Worker.States() {
		require.True(t, Worker.Can(state, WorkerStop), state)
	}
}
