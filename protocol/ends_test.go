package protocol

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSettings_nameThePluginInWhatTheySay(t *testing.T) {
	s, gone := Settings{Plugin: "lab"}, errors.New("exit status 1")
	lost := s.Lost("the call of x", gone)
	require.EqualError(t, lost, "plugin lab ended while the call of x was in flight; it may have run: exit status 1")
	require.ErrorIs(t, lost, gone)
	require.Equal(t, CodeOutcomeUnknown, CodeOf(lost))
	require.Equal(t, "lab", lost.Plugin)

	f := s.Unframed("text in front of a frame", "a\x1b[31m")
	require.EqualError(t, f.Err, "plugin lab wrote text in front of a frame; what came is: a?[31m")
	require.Equal(t, CodeWire, CodeOf(f.Err))
	require.Equal(t, Dropped{What: "w", Detail: "a?"}, Drop("w", "a\n"))
}

func TestSettings_refuseAfterTheEnd(t *testing.T) {
	s := Settings{Plugin: "lab"}
	for name, c := range map[string]struct {
		in   Input
		want string
	}{
		"a call":      {Invoke{ID: 7, Call: Call{Key: "tool:x"}}, "not called: tool:x: the connection has ended"},
		"a lent call": {&Invoke{ID: 7, Call: Call{Key: "tool:x"}}, "not called: tool:x: the connection has ended"},
		"a step":      {Run{Step: StepStop}, "not run: stop: the connection has ended"},
		"a reply":     {Reply{ID: 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			out := s.AfterEnd(c.in, nil)
			if c.want == "" {
				require.Empty(t, out)
				return
			}
			require.Len(t, out, 1)
			var err error
			switch e := out[0].(type) {
			case Complete:
				require.Equal(t, CallID(7), e.ID)
				err = e.Err
			case Ran:
				require.Equal(t, StepStop, e.Step)
				err = e.Err
			}
			require.EqualError(t, err, "plugin lab: "+c.want)
			require.ErrorIs(t, err, ErrEnded)
			require.Equal(t, CodeNotReady, CodeOf(err))
		})
	}
}
