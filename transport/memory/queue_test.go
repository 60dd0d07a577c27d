package memory

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQueue_firstReasonStays(t *testing.T) {
	q := newQueue(Options{}.resolved())
	read, write := errors.New("read"), errors.New("write")
	q.endWriter(write, read)
	q.end(errors.New("later"), errors.New("later"))
	_, err := q.pop()
	require.Equal(t, read, err)
	require.Equal(t, write, q.push(nil))
}

func TestQueue_countsBytesOut(t *testing.T) {
	q := newQueue(Options{}.resolved())
	require.NoError(t, q.push([]byte("1234")))
	require.Equal(t, 4, q.bytes)
	_, err := q.pop()
	require.NoError(t, err)
	require.Zero(t, q.bytes)
}
