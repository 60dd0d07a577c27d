package actors

import (
	"errors"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// Denial is something that a plugin asked of the host and may not have, as
// Options.Denied is told of it.
type Denial struct {
	Origin
	// What is the method of its wire, or the key of the capability, that it asked for.
	What string
	// Scope is the tenant that it was about, "" for none.
	Scope string
	// Grant is the one that is missing; "" where it is not for want of a grant.
	Grant string
	// Reason is what the plugin was told. It quotes what the plugin chose.
	Reason string
	// Chain are the calls that led to it, the one that was refused last, of a long chain the
	// first and the last of them; nil where it is no call of another plugin, or none led to it.
	Chain []protocol.Link
	At    time.Time
}

// notGranted is the failure of a call for want of a grant to make it, which was told when
// it was refused.
type notGranted struct{ err *protocol.Error }

func (e *notGranted) Error() string { return e.err.Error() }

// Unwrap gives it its code.
func (e *notGranted) Unwrap() error { return e.err }

// tellDenied tells who wants to know of denials.
func (h *Host) tellDenied(who *handle, d Denial) {
	if h.denied == nil {
		return
	}
	d.Origin, d.At = who.Origin, time.Now()
	h.denied(d)
}

// noteDenial tells of the failure of a service if that is a denial.
func (h *Host) noteDenial(who *handle, c protocol.Call, err error) {
	if err == nil || h.denied == nil || !protocol.IsDenial(err) {
		return
	}
	if _, told := errors.AsType[*notGranted](err); !told {
		h.tellDenied(who, Denial{What: c.Key, Scope: c.Scope, Reason: err.Error()})
	}
}

// mayInvoke holds a plugin to what its manifest says that it may call, and to what it was
// granted of that.
func (h *Host) mayInvoke(who *handle, c protocol.Call) error {
	key := capability.Key(c.Key)
	var why string
	switch {
	case !who.man.MayInvoke(key):
		why = "its manifest's airi-host.invoke does not list it"
	case h.permits != nil && !h.permits(who.Plugin, key):
		why = "its manifest's airi-host.invoke lists it, and that was not granted"
	default:
		return nil
	}
	err := failure(protocol.CodeDenied, who.Plugin, fmt.Sprintf("plugin %s may not call %s: %s", who.Plugin, c.Key, why))
	h.tellDenied(who, Denial{What: c.Key, Scope: c.Scope, Grant: manifest.InvokePrefix + c.Key, Reason: err.Message, Chain: chainOf(c)})
	return &notGranted{err}
}
