package ndjson

// Records that others follow at once wait for those, and share a write.

// Gather is Send for a record that others follow at once: it is written with the
// next one that is sent, or when [Writer.Push] or [Writer.Flush] is called, which the
// caller owes. It fails as Send does.
func (w *Writer) Gather(record []byte) error {
	if err := w.enter(record); err != nil {
		return err
	}
	defer w.mu.Unlock()
	w.queue.push(record)
	return nil
}

// Push writes what was gathered, unless somebody is at it.
func (w *Writer) Push() {
	w.mu.Lock()
	if w.turn || w.err != nil || w.queue.empty() {
		w.mu.Unlock()
		return
	}
	w.turn = true
	w.mu.Unlock()
	w.write()
}

// write writes what is queued: as far as the destination takes it at once here, the
// rest in the writer's own goroutine. The caller has the turn.
func (w *Writer) write() {
	for w.try != nil {
		head, more := w.take()
		if !more {
			return
		}
		n, err := w.try.TryWrite(head.data)
		if err == nil && n < len(head.data) {
			w.putBack(head, n)
			break
		}
		w.wrote(head, err)
	}
	go w.drain()
}

// putBack queues what is left of a chunk, n bytes of which were written.
func (w *Writer) putBack(head chunk, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settle(0, n)
	if w.err == nil {
		w.queue.chunks = append([]chunk{{data: head.data[n:], records: head.records, isRest: true}}, w.queue.chunks...)
	}
}
