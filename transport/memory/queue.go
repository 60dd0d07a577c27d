package memory

import (
	"sync"

	"github.com/airi-host/airi-host/transport"
)

// queue carries the records of one direction. Each side has its own reason once
// the pipe has ended, and the first reason stays.
type queue struct {
	maxRecords, maxBytes int

	mu      sync.Mutex
	changed sync.Cond // on mu: a record came, or the end
	records [][]byte
	bytes   int

	readErr, writeErr error
}

func newQueue(opts Options) *queue {
	q := &queue{maxRecords: opts.QueueRecords, maxBytes: opts.QueueBytes}
	q.changed.L = &q.mu
	return q
}

// push appends a record, which the queue owns from now on.
func (q *queue) push(record []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.writeErr != nil:
		return q.writeErr
	case len(q.records) >= q.maxRecords, q.bytes >= q.maxBytes:
		return transport.ErrFull
	}
	q.records = append(q.records, record)
	q.bytes += len(record)
	q.changed.Signal()
	return nil
}

// pop takes the first record out, or waits for one.
func (q *queue) pop() ([]byte, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.records) == 0 {
		if q.readErr != nil {
			return nil, q.readErr
		}
		q.changed.Wait()
	}
	record := q.records[0]
	q.records[0] = nil
	q.records = q.records[1:]
	q.bytes -= len(record)
	return record, nil
}

// endReader ends the queue from its reading side: what waits is dropped.
func (q *queue) endReader(reader, writer error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.records, q.bytes = nil, 0
	q.readErr = reader // also over the other side's EOF: we closed, and say so
	q.end(reader, writer)
}

// endWriter ends the queue from its writing side: what waits is still returned.
func (q *queue) endWriter(writer, reader error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writeErr = writer
	q.end(reader, writer)
}

func (q *queue) end(reader, writer error) {
	if q.readErr == nil {
		q.readErr = reader
	}
	if q.writeErr == nil {
		q.writeErr = writer
	}
	q.changed.Broadcast()
}
