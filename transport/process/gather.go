package process

import "github.com/airi-host/airi-host/transport"

var _ transport.Gatherer = (*Process)(nil)

// Gather queues one record for the worker, to be written with those that follow; see
// transport.Gatherer. It fails as Send does.
func (p *Process) Gather(record []byte) error { return p.sent(p.writer.Gather(record)) }

// Push writes what was gathered.
func (p *Process) Push() { p.writer.Push() }
