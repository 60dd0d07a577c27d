package ndjson

// chunk is a run of bytes to write in one call, and how many records end in it.
type chunk struct {
	data    []byte
	records int
	// isRest tells that data is the end of a longer buffer, which stays as long as it does.
	isRest bool
}

// queue holds lines that wait, packed into chunks: many short records share one
// and one write, a long record gets one of its own. It does not count; its owner
// does.
type queue struct {
	chunks []chunk
	spare  []byte // an empty buffer of smallBuffer to keptBuffer bytes, if there is one
}

// push appends record and its end.
func (q *queue) push(record []byte) {
	if n := len(q.chunks); n > 0 {
		last := &q.chunks[n-1]
		fits := min(cap(last.data)-len(last.data), len(record))
		last.data = append(last.data, record[:fits]...)
		record = record[fits:]
		if len(last.data) < cap(last.data) {
			last.data = append(last.data, '\n')
			last.records++
			return
		}
	}
	q.chunks = append(q.chunks, q.fresh(record))
}

// unshift puts what is left of a record, and its end, in front of all others.
func (q *queue) unshift(rest []byte) {
	q.chunks = append([]chunk{q.fresh(rest)}, q.chunks...)
}

// fresh returns a chunk with record and its end.
func (q *queue) fresh(record []byte) chunk {
	var data []byte
	if len(record) < cap(q.spare) {
		data, q.spare = q.spare, nil
	}
	if data == nil {
		data = make([]byte, 0, max(smallBuffer, len(record)+1))
	}
	return chunk{data: append(append(data, record...), '\n'), records: 1}
}

// empty tells whether nothing waits.
func (q *queue) empty() bool { return len(q.chunks) == 0 }

// shift takes the first chunk out.
func (q *queue) shift() chunk {
	first := q.chunks[0]
	q.chunks[0] = chunk{}
	q.chunks = q.chunks[1:]
	return first
}

// recycle keeps the buffer of a written chunk for the next one.
func (q *queue) recycle(written chunk) {
	if size := cap(written.data); !written.isRest && size >= smallBuffer && size <= keptBuffer && size > cap(q.spare) {
		q.spare = written.data[:0]
	}
}
