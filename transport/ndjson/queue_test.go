package ndjson

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// drained returns what a queue holds, chunk by chunk.
func drained(q *queue) (text string, records, chunks int) {
	for !q.empty() {
		c := q.shift()
		text += string(c.data)
		records += c.records
		chunks++
	}
	return text, records, chunks
}

func TestQueue_packsShortRecords(t *testing.T) {
	var q queue
	record := strings.Repeat("x", 999)
	for range 200 {
		q.push([]byte(record))
	}
	text, records, chunks := drained(&q)
	require.Equal(t, strings.Repeat(record+"\n", 200), text)
	require.Equal(t, 200, records)
	require.Equal(t, (200*1000+smallBuffer-1)/smallBuffer, chunks)
}

func TestQueue_countsARecordWhereItEnds(t *testing.T) {
	for _, n := range []int{smallBuffer - 3, smallBuffer - 2, smallBuffer - 1, smallBuffer, 2 * smallBuffer} {
		var q queue
		q.push([]byte("a"))
		q.push(make([]byte, n))
		q.push([]byte("b"))
		text, records, _ := drained(&q)
		require.Len(t, text, n+5)
		require.Equal(t, 3, records)
	}
}

func TestQueue_unshiftGoesFirst(t *testing.T) {
	var q queue
	q.push([]byte("second"))
	q.unshift([]byte("rst"))
	text, records, _ := drained(&q)
	require.Equal(t, "rst\nsecond\n", text)
	require.Equal(t, 2, records)
}

func TestQueue_reusesOneBuffer(t *testing.T) {
	var q queue
	q.push([]byte("a"))
	first := q.shift()
	q.recycle(first)
	q.push([]byte("b"))
	require.Same(t, &first.data[0], &q.shift().data[0])
	q.recycle(first)

	q.push(make([]byte, smallBuffer))
	require.NotNil(t, q.spare, "it is too small for a long record")
	long := q.shift()
	q.recycle(long)
	q.push(make([]byte, smallBuffer))
	require.Same(t, &long.data[0], &q.shift().data[0], "the longer one is kept")
	q.recycle(long)
	q.push(make([]byte, 2*keptBuffer))
	q.recycle(q.shift())
	require.LessOrEqual(t, cap(q.spare), keptBuffer)
}

// A slice of a long chunk, whose beginning was written, is not kept: all of it would be.
func TestQueue_keepsNoPartOfALongChunk(t *testing.T) {
	dst := &slot{room: 2 * keptBuffer}
	w := NewWriter(dst, WriterOptions{})
	require.NoError(t, w.Gather(make([]byte, 2*keptBuffer+smallBuffer)))
	w.Push()
	require.NoError(t, w.Flush(t.Context()))
	require.Len(t, dst.writes(), 2, "the rest came later")
	require.Zero(t, cap(w.queue.spare))
}
