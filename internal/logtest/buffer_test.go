package logtest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuffer_isReadWhileItIsWritten(t *testing.T) {
	var b Buffer
	var writing sync.WaitGroup
	for range 4 {
		writing.Go(func() {
			for range 100 {
				_, _ = fmt.Fprintln(&b, "line")
			}
		})
	}
	for !strings.Contains(b.String(), "line\n") {
		continue
	}
	writing.Wait()
	require.Equal(t, strings.Repeat("line\n", 400), b.String())
}
