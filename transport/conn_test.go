package transport_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
)

func TestTooLongError_namesTheLimit(t *testing.T) {
	err := fmt.Errorf("plugin %s: %w", "hello", &transport.TooLongError{Limit: 128})
	require.EqualError(t, err, `plugin hello: a frame is longer than the limit of 128 bytes`)
	var long *transport.TooLongError
	require.ErrorAs(t, err, &long)
	require.Equal(t, 128, long.Limit)
}

func TestErrors_tellFullFromClosed(t *testing.T) {
	require.NotErrorIs(t, transport.ErrFull, transport.ErrClosed)
	require.ErrorContains(t, transport.ErrFull, "full")
	require.ErrorContains(t, transport.ErrClosed, "closed")
}

func TestDefaultMaxRecord_is64MiB(t *testing.T) {
	require.Equal(t, 64*1024*1024, transport.DefaultMaxRecord)
}
