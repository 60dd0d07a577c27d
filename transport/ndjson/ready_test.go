package ndjson

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
)

func TestReader_isReadyOnceALineIsThere(t *testing.T) {
	r := NewReader(iotest.OneByteReader(strings.NewReader("ab\ncd\n")), ReaderOptions{})
	require.False(t, r.Ready())
	for range 2 {
		r.Fill()
		require.False(t, r.Ready(), "a line has its end")
	}
	r.Fill()
	require.True(t, r.Ready())
	require.True(t, r.Ready())
	r.Fill() // which does nothing now
	line, err := r.Read()
	require.NoError(t, err)
	require.Equal(t, "ab", string(line))
	require.False(t, r.Ready())
	line, err = r.Read()
	require.NoError(t, err)
	require.Equal(t, "cd", string(line))
}

func TestReader_isReadyAtItsEnd(t *testing.T) {
	r := NewReader(strings.NewReader("rest"), ReaderOptions{})
	r.Fill()
	require.False(t, r.Ready())
	r.Fill()
	require.True(t, r.Ready())
	line, err := r.Read()
	require.NoError(t, err)
	require.Equal(t, "rest", string(line))
	require.True(t, r.Ready())
	_, err = r.Read()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)

	long := NewReader(strings.NewReader("12345"), ReaderOptions{MaxRecord: 3})
	long.Fill()
	require.True(t, long.Ready())
	_, err = long.Read()
	var tooLong *transport.TooLongError
	require.ErrorAs(t, err, &tooLong)
}
