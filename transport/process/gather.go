package process

import "github.com/airi-host/airi-host/transport"

var (
	_ transport.Gatherer = (*Process)(nil)
	_ transport.Limited  = (*Process)(nil)
)

// MaxRecord is the largest record in bytes.
func (p *Process) MaxRecord() int {
	if p.spec.MaxRecord <= 0 {
		return transport.DefaultMaxRecord
	}
	return p.spec.MaxRecord
}

// Gather queues one record for the worker, to be written with those that follow; see
// transport.Gatherer. It fails as Send does.
func (p *Process) Gather(record []byte) error { return p.sent(p.writer.Gather(record)) }

// Push writes what was gathered.
func (p *Process) Push() { p.writer.Push() }
