package actors

import (
	"context"
	"encoding/json"
	"fmt"
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
//
//	emitter ─▶ its lane ─┬─▶ lane ─▶ subscriber
//	                     └─▶ lane ─▶ subscriber
//
// An emitter's next event comes to the subscribers' lanes when this one is in all of
// them, so that each hears them in that order. A subscriber in another process hears the
// next when the frame of this one is on its way; one that is compiled in, when its
// handler has returned or the event's time is over.
func (h *Host) fanOut(ctx context.Context, c protocol.Call, began time.Time) {
	var all sync.WaitGroup
	for _, who := range h.audience(ctx, c) {
		t, full := who.hears.enter(len(c.Input), who.bounds.limits)
		switch {
		case full != nil:
			h.drop(who, "event", c.Key+": "+full.Error(), 1)
		case isHearing(ctx, who): // it would wait for its own end
			go h.hear(context.WithoutCancel(ctx), who, t, c, limitOf(ctx, &c, who, began))
		default:
			all.Go(func() { h.hear(ctx, who, t, c, limitOf(ctx, &c, who, began)) })
		}
	}
	published(ctx)
	all.Wait()
}

// hear tells one subscriber of an event, in its turn.
func (h *Host) hear(ctx context.Context, who *handle, t *turn, c protocol.Call, l limit) {
	defer t.leave()
	t.await(ctx, l.at)
	err := stillHears(who, c)
	if err == nil {
		around, _ := ctx.Value(hearingKey{}).(*hearing)
		_, err = h.callOn(context.WithValue(ctx, hearingKey{}, &hearing{who, t, around}), who, &c, l)
	}
	if err != nil {
		h.drop(who, "event", c.Key+": "+err.Error(), 1)
	}
}

// stillHears says why a subscriber does not hear what has waited for it.
func stillHears(who *handle, c protocol.Call) error {
	if who.draining.Load() || !who.up.Load() {
		return fmt.Errorf("plugin %s is being stopped, or has ended: %s was not called", who.Plugin, c.Key)
	}
	return nil
}

// hearing is in the context of a subscriber's handler: who hears an event, and what was
// heard when that event was published.
type hearing struct {
	who    *handle
	turn   *turn
	around *hearing
}

type hearingKey struct{}

// isHearing tells whether an event is published by what a subscriber does with another.
func isHearing(ctx context.Context, who *handle) bool {
	one, _ := ctx.Value(hearingKey{}).(*hearing)
	for ; one != nil; one = one.around {
		if one.who == who {
			return true
		}
	}
	return false
}

// sent tells that a call is on its way to a peer: of an event, the next one may follow.
func sent(ctx context.Context, c *protocol.Call) {
	if !capability.Key(c.Key).Is(capability.KindEvent) {
		return
	}
	if one, ok := ctx.Value(hearingKey{}).(*hearing); ok {
		one.turn.leave()
	}
}

// publishing is in the context of what a peer publishes events by: its turn.
type publishing struct{}

// published lets a peer's next event through.
func published(ctx context.Context) {
	if t, ok := ctx.Value(publishing{}).(*turn); ok {
		t.leave()
	}
}

// audience returns the sessions that hear an event, each once.
func (h *Host) audience(ctx context.Context, c protocol.Call) []*handle {
	var all []*handle
	snapshot := h.snapshot()
	circle := ""
	if c.Told {
		circle = h.circleOf(ctx, c.Caller)
	}
	for pattern := range patterns(c.Key) {
		for _, offer := range snapshot.Get(pattern) {
			who, ok := offer.Target.(*handle)
			if !ok || !offer.Invocable || offer.State != lifecycle.CapReady || c.Plugin != "" && c.Plugin != who.Plugin {
				continue
			}
			if circle != "" && who.circle() == circle { // it hears of it where it was told
				continue
			}
			if !slices.Contains(all, who) && hears(offer.Metadata, c) {
				all = append(all, who)
			}
		}
	}
	return all
}

// servedFor is in the context in which a peer's call is served: who makes it.
type servedFor struct{}

// circleOf is the circle of who publishes, which may have gone meanwhile; "" for none.
func (h *Host) circleOf(ctx context.Context, caller string) string {
	if who, _ := ctx.Value(servedFor{}).(*handle); who != nil && who.Plugin == caller {
		return who.circle()
	}
	if who := h.current(caller); who != nil {
		return who.circle()
	}
	return ""
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
