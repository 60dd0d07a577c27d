package actors

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// link is how a session reaches its plugin: a port (a program compiled in) or a
// peer (whatever is at the far end of a connection). Apart from invoke and
// cancel, which anybody may call, the session alone uses it.
type link interface {
	// has tells whether the plugin does anything at a step.
	has(protocol.Step) bool
	// run passes through one step, which may need to be told something; a ran
	// message with gen follows, unless the link ends first.
	run(step protocol.Step, gen int, params json.RawMessage)
	// listens tells whether anybody would hear an event of the channel.
	listens() bool
	// emit puts an event on the plugin's channel.
	emit(protocol.Event)
	// invoke starts a call, which is completed once, whatever happens.
	invoke(*call)
	// cancel tells that nobody waits for the call any more.
	cancel(c *call, reason string)
	// endRoutes ends all routes, and lets none be opened any more.
	endRoutes(why error)
	// left closes when the plugin is let go of; nil at a link that completes
	// its calls itself then.
	left() <-chan struct{}
	// end frees all that wait and lets go of the plugin. An ended message
	// follows once nothing of it runs any more; it may be called again.
	end(why error)
	// kill is end without patience.
	kill()
	// process describes the worker process, or nil.
	process() *ProcessInfo
}

// call is one invocation in flight at one session.
type call struct {
	protocol.Call
	// id is the peer's number for it; 0 at a port.
	id protocol.CallID
	// began is when it was made, of one through a peer; zero where nobody looked.
	began time.Time
	// ctx is what a port's handler gets; it ends when the caller stops waiting.
	ctx context.Context
	// done gets a word when the call is over; its answer is there by then.
	done   chan struct{}
	answer answer
	over   atomic.Bool
	// unheard tells that the peer has got no frame yet of a call with a request stream:
	// the first one waits for room. The peer's lock guards it.
	unheard bool
	// bell rings when the time of a call through a peer is over.
	bell *time.Timer
	// stream is what a call has that its caller follows, feeds or bounds by an idle
	// limit; nil for all others.
	stream *stream
}

// answer is how a call ended.
type answer struct {
	result json.RawMessage
	err    error
}

// complete ends the call; only the first one counts, and it tells whether it was.
func (c *call) complete(result json.RawMessage, err error) bool {
	if !c.over.CompareAndSwap(false, true) {
		return false
	}
	if c.stream != nil {
		c.stream.answered()
	}
	c.answer = answer{result, err}
	c.done <- struct{}{}
	return true
}

type (
	// ran tells that a step is over.
	ran struct {
		gen  int
		step protocol.Step
		err  error
	}
	// lost tells that the connection ended, and nobody had asked for it. One that is retired
	// was ended by the host, and is no crash; fault tells that the host broke it off.
	lost struct {
		why            error
		retired, fault bool
	}
	// ended tells that nothing of the plugin runs any more.
	ended struct{}
	// offered tells that the plugin offers a capability. reply and gate may be
	// nil. One that joins is a subscription, beside those that the plugin has to the
	// same events.
	offered struct {
		// inManifest: it stands in the manifest of another ecosystem, which takes any
		// schema: one that is wrong is told and passed over.
		inManifest bool
		offer      protocol.Offer
		joins      bool
		reply      chan<- error
		gate       *gate
	}
	// retracted tells that it offers one no more. reply and gate may be nil.
	retracted struct {
		key    string
		reason string
		reply  chan<- error
		gate   *gate
	}
)
