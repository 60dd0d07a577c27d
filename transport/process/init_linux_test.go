package process

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInit_takesStraysAndLeavesOthersTheirs(t *testing.T) {
	w := start(t, "init")
	w.want("the child: exit status 7")
	w.want("zombies, the worker among them: 1", "the worker: exited with code 5 <nil>", "none is left")
	require.Equal(t, 0, w.wantExit().Status.Code)
}

func TestInit_isNothingForOthers(t *testing.T) {
	Init(t.Context()) // else it would not return
}
