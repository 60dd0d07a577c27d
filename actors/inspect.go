package actors

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

// Sessions lists all sessions that are not stopped, oldest first.
func (h *Host) Sessions() []SessionInfo {
	list := h.handles()
	infos := make([]SessionInfo, len(list))
	for i, who := range list {
		infos[i] = who.info()
	}
	return infos
}

func (h *Host) handles() []*handle {
	h.mu.Lock()
	list := make([]*handle, 0, len(h.sessions))
	for _, who := range h.sessions {
		list = append(list, who)
	}
	h.mu.Unlock()
	slices.SortFunc(list, func(a, b *handle) int { return a.module.Index - b.module.Index })
	return list
}

// modules lists what registry:modules:sync tells.
func (h *Host) modules() []protocol.Module {
	list := h.handles()
	modules := make([]protocol.Module, len(list))
	for i, who := range list {
		modules[i] = who.module
	}
	return modules
}

// Inspection is all that is known about a plugin.
type Inspection struct {
	SessionInfo
	// Offers are its capabilities.
	Offers []capability.Offer `json:"offers"`
	// Requires is what it needs.
	Requires []string `json:"requires,omitempty"`
	// Schema is what its configuration has to be like, in the words of its ecosystem, where
	// it has said so while it runs.
	Schema json.RawMessage `json:"configurationSchema,omitempty"`
	// Log is the end of its log.
	Log []Logged `json:"log,omitempty"`
}

// Inspect tells all about a plugin, by its name or a session's id. An unknown
// one is a *protocol.Error with CodeNotFound.
func (h *Host) Inspect(name string) (Inspection, error) {
	who := h.find(name)
	if who == nil {
		who = h.current(name)
	}
	if who == nil {
		return Inspection{}, failure(protocol.CodeNotFound, name, "no plugin and no session is called "+name)
	}
	return Inspection{
		SessionInfo: who.info(),
		Offers:      h.offersOf(who.owner()),
		Requires:    who.requires().Strings(),
		Schema:      who.asksFor(),
		Log:         h.Logs(who.Plugin, inspectedLogLines),
	}, nil
}

// inspectedLogLines is how much of a plugin's log an inspection shows.
const inspectedLogLines = 20

func (h *Host) offersOf(owner capability.Owner) []capability.Offer {
	return slices.DeleteFunc(h.Offers(), func(o capability.Offer) bool { return o.Owner != owner })
}

// Capabilities lists one descriptor a key, in the order in which keys came up.
func (h *Host) Capabilities() []capability.Descriptor { return h.snapshot().List() }

// Offers lists every offer of every owner.
func (h *Host) Offers() []capability.Offer { return h.snapshot().Offers() }

// Revision counts the changes of what is offered: while it stays, so do the Offers.
func (h *Host) Revision() uint64 { return h.snapshot().Revision() }

func (h *Host) snapshot() *capability.Snapshot { return h.caps.Snapshot() }

// Wait returns when the capability is ready. A timeout of 0 or less means the
// host's limit (Timeouts.Capabilities). The descriptor is shared by all who wait,
// and not to be written to.
func (h *Host) Wait(ctx context.Context, timeout time.Duration, key string) (*capability.Descriptor, error) {
	if err := h.alive(); err != nil {
		return nil, err
	}
	d, err := h.caps.Wait(ctx, capability.Key(key), orDefault(timeout, h.bounds.Load().timeouts.Capabilities))
	if err != nil {
		return nil, closedToShutdown(err)
	}
	return d, nil
}

// WaitAll returns when each of the capabilities has been ready; each has the full
// timeout, as in Wait.
func (h *Host) WaitAll(ctx context.Context, timeout time.Duration, keys ...string) error {
	if err := h.alive(); err != nil {
		return err
	}
	list := make([]capability.Key, len(keys))
	for i, k := range keys {
		list[i] = capability.Key(k)
	}
	err := h.caps.WaitAll(ctx, list, orDefault(timeout, h.bounds.Load().timeouts.Capabilities))
	return closedToShutdown(err)
}

func closedToShutdown(err error) error {
	if errors.Is(err, capability.ErrClosed) {
		return ErrShutdown
	}
	return err
}

// WaitCapability and CapabilitySnapshot are what a dialect's services use.
func (h *Host) WaitCapability(ctx context.Context, key string, timeout time.Duration) (json.RawMessage, error) {
	d, err := h.Wait(ctx, timeout, key)
	if err != nil {
		return nil, err
	}
	return json.Marshal(d)
}

// CapabilitySnapshot returns all descriptors as a JSON array.
func (h *Host) CapabilitySnapshot() (json.RawMessage, error) { return json.Marshal(h.Capabilities()) }

var _ protocol.Registry = (*Host)(nil)
