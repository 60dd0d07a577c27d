package capability

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/airi-host/airi-host/lifecycle"
)

// NotFoundError tells that nobody offers a key, or not whom the caller named.
type NotFoundError struct {
	Key Key
	// Plugin and Instance are whom the caller named, if anybody.
	Plugin, Instance string
}

// Error names the key and whom the caller named.
func (e *NotFoundError) Error() string {
	switch {
	case e.Plugin != "":
		return fmt.Sprintf("%s does not offer %s", Owner{e.Plugin, e.Instance}, e.Key)
	case e.Instance != "":
		return fmt.Sprintf("no instance %s offers %s", e.Instance, e.Key)
	default:
		return fmt.Sprintf("nobody offers %s", e.Key)
	}
}

// NotReadyError tells that a key is offered, and that the owner whose turn it would
// be is not ready to serve it.
type NotReadyError struct {
	Key   Key
	Owner Owner
	State lifecycle.State
	// Reason is the owner's, or "".
	Reason string
	// Target is the offer's: what would serve it.
	Target any
}

// Error names the key, the owner and its state, and the reason if there is one.
func (e *NotReadyError) Error() string {
	text := fmt.Sprintf("%s of %s is not ready: %s", e.Key, e.Owner, e.State)
	if e.Reason != "" {
		text += " (" + e.Reason + ")"
	}
	return text
}

// AmbiguousError tells that several plugins offer a key of a kind for which nobody
// but the caller can choose: data, job, webhook, http, environment.
type AmbiguousError struct {
	Key Key
	// Plugins are the owners' names in the order of choice, at most eight.
	Plugins []string
	// More tells that there are others.
	More bool
}

// Error lists the plugins and says how one is named.
func (e *AmbiguousError) Error() string {
	names := strings.Join(e.Plugins, ", ")
	if e.More {
		names += " and others"
	}
	return fmt.Sprintf("%s is offered by several plugins (%s): name the one to use, e.g. --plugin %s, or the call's Plugin",
		e.Key, names, e.Plugins[0])
}

// OfferLimitError tells that an owner may not offer more keys. What it offers
// already is not touched.
type OfferLimitError struct {
	Owner Owner
	// Key is the first one that was too many.
	Key   Key
	Limit int
}

// Error names the owner, the key and the limit.
func (e *OfferLimitError) Error() string {
	return fmt.Sprintf("%s cannot offer %s: it offers %d capabilities, its limit: take some back, or raise the limit",
		e.Owner, e.Key, e.Limit)
}

// WaitLimitError tells that the registry has as many waiters as it may have.
type WaitLimitError struct {
	// Waiting is what was to be awaited.
	Waiting string
	Limit   int
}

// Error names the key and the limit.
func (e *WaitLimitError) Error() string {
	return fmt.Sprintf("cannot wait for %s: %d others wait for capabilities, the limit: try again later", e.Waiting, e.Limit)
}

// TimeoutError tells that a key did not become ready in time.
type TimeoutError struct {
	Key Key
	// After is how long the caller was ready to wait.
	After time.Duration
}

// Error is the reference host's text, letter by letter: its peers see it.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("Capability `%s` is not ready after %dms.", e.Key, e.After.Milliseconds())
}

// ErrClosed tells that the registry was closed, so that nothing is awaited any more.
var ErrClosed = errors.New("the registry of capabilities is closed")
