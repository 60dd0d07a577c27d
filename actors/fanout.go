package actors

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// fanOut hands an event to all that hear it, at most once each, and returns when
// all have heard it or its time is over. What a subscriber does with it is its
// own affair: failures are counted and logged, the emitter is not told.
func (h *Host) fanOut(ctx context.Context, c protocol.Call, began time.Time) {
	var all sync.WaitGroup
	for _, who := range h.audience(c) {
		all.Go(func() {
			if _, err := h.callOn(ctx, who, c, limitOf(ctx, c, who, began)); err != nil {
				h.drop(who, "event", c.Key+": "+err.Error(), 1)
			}
		})
	}
	all.Wait()
}

// audience returns the sessions that hear an event, each once.
func (h *Host) audience(c protocol.Call) []*handle {
	var all []*handle
	snapshot := h.snapshot()
	for pattern := range patterns(c.Key) {
		for _, offer := range snapshot.Get(pattern) {
			who, ok := offer.Target.(*handle)
			if !ok || !offer.Invocable || offer.State != lifecycle.CapReady || c.Plugin != "" && c.Plugin != who.Plugin {
				continue
			}
			if !slices.Contains(all, who) && hears(offer.Metadata, c) {
				all = append(all, who)
			}
		}
	}
	return all
}

// patterns are the keys under which an event is heard: its own, and those that end
// in ".*", the narrowest first.
func patterns(event string) iter.Seq[capability.Key] {
	return func(yield func(capability.Key) bool) {
		if !yield(capability.Key(event)) {
			return
		}
		for at := strings.LastIndexByte(event, '.'); at > 0; at = strings.LastIndexByte(event[:at], '.') {
			if !yield(capability.Key(event[:at] + ".*")) {
				return
			}
		}
	}
}

// hears tells whether one of a subscription's filters lets an event through.
func hears(metadata json.RawMessage, c protocol.Call) bool {
	var s protocol.Subscription
	if metadata == nil || json.Unmarshal(metadata, &s) != nil || len(s.Filters) == 0 {
		return true
	}
	var about map[string]json.RawMessage // whose keys are exact, as a struct's are not
	_ = json.Unmarshal(c.Input, &about)  // a payload of another form is about none
	member := func(name string) (text string) {
		_ = json.Unmarshal(about[name], &text) // anything but text is none
		return text
	}
	return slices.ContainsFunc(s.Filters, func(f protocol.EventFilter) bool {
		return (f.CompanyID == "" || f.CompanyID == c.Scope) &&
			(f.ProjectID == "" || f.ProjectID == member("projectId")) && (f.AgentID == "" || f.AgentID == member("agentId"))
	})
}
