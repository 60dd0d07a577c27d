package process

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpec_endedIsCalledOnceBeforeTheExitIsTold(t *testing.T) {
	for name, path := range map[string]string{"a worker that exits": "/bin/true", "no program": "/nowhere/at/all", "no plugin": ""} {
		t.Run(name, func(t *testing.T) {
			var ended atomic.Int32
			p, err := Start(Spec{Plugin: name, Path: path, Ended: func() { ended.Add(1) }})
			if path != "/bin/true" {
				require.Error(t, err)
				require.EqualValues(t, 1, ended.Load())
				return
			}
			require.NoError(t, err)
			<-p.exited
			require.EqualValues(t, 1, ended.Load())
			require.NoError(t, p.Close())
			require.EqualValues(t, 1, ended.Load())
		})
	}
}
