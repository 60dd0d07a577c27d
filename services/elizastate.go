package services

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

// stateComposer serves composeState: {message, options?} → {values, data, text}, of what
// the providers of all plugins say of the message.
//
//	options   {includeList?, onlyInclude?}: the names of providers; those that are private
//	          or dynamic take part only if they are listed, and with onlyInclude no others do
//	values    the values of all, the last one's where several have one name, and
//	          "providers", the text
//	data      {providers: {NAME: result}}
//	text      the texts of all, a line each
//
// They are asked side by side, and heard by their position. One that fails, takes too long
// or says too much is left out, which the log of who asks tells.
type stateComposer struct {
	plugins   protocol.Plugins
	directory Directory
	slots     *slots
	// each is how long one provider may take, whole how long all of them.
	each, whole time.Duration
	// bytes is how much all of them may say.
	bytes int
}

// providersAtOnce is how many providers are asked at a time for one state.
const providersAtOnce = 16

// provider is one that takes part.
type provider struct {
	name     string
	position float64
	result   providerResult
	raw      json.RawMessage // nil where it failed
	err      error           // why it failed
}

type providerResult struct {
	Text   string                     `json:"text"`
	Values map[string]json.RawMessage `json:"values"`
}

func (s stateComposer) compose(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	if in.object("message"); in.raw("message") == nil {
		in.expected("message", "an object")
	}
	chosen := in.choice()
	if in.err != nil {
		return nil, in.err
	}
	if !s.slots.take(call.Caller) {
		return nil, faultf(call, protocol.CodeOverloaded,
			"%d states are being composed for this plugin, the limit: does a provider of its own compose one? Else ask again later", s.slots.max)
	}
	defer s.slots.free(call.Caller)
	input, err := tryEncode(map[string]json.RawMessage{"message": in.raw("message")})
	if err != nil {
		return nil, faultf(call, protocol.CodeInvalid, "message: nests too deeply")
	}
	all := s.providers(chosen)
	s.ask(ctx, call, input, all)
	if ctx.Err() != nil {
		return nil, ended(ctx, call, "while providers were asked")
	}
	state, err := composed(all)
	if err != nil {
		return nil, faultf(call, protocol.CodeInvalid, "what a provider said nests too deeply")
	}
	return state, nil
}

// choice is which providers take part.
type choice struct {
	listed []string
	only   bool
}

func (p *params) choice() (c choice) {
	o := p.object("options")
	value := o.raw("includeList")
	if value != nil && json.Unmarshal(value, &c.listed) != nil {
		o.expected("includeList", "an array of strings")
	}
	switch only := o.raw("onlyInclude"); string(only) {
	case "", "false":
	case "true":
		c.only = true
	default:
		o.expected("onlyInclude", "a boolean")
	}
	return c
}

func (c choice) takes(name string, hidden bool) bool {
	return slices.Contains(c.listed, name) || !c.only && !hidden
}

// providers are those that take part, in the order in which they are heard.
func (s stateComposer) providers(c choice) (all []*provider) {
	const prefix = string(capability.KindProvider) + ":"
	seen := map[string]bool{}
	for _, offer := range s.directory.Offers() {
		name, ok := strings.CutPrefix(string(offer.Key), prefix)
		if !ok || offer.State != stateReady || seen[name] {
			continue
		}
		var about struct {
			Dynamic, Private json.RawMessage
			Position         json.RawMessage
		}
		if offer.Metadata != nil {
			_ = json.Unmarshal(offer.Metadata, &about) // what says nothing of it hides nothing
		}
		if seen[name] = c.takes(name, string(about.Dynamic) == "true" || string(about.Private) == "true"); !seen[name] {
			continue
		}
		position, err := strconv.ParseFloat(string(about.Position), 64)
		if err != nil || math.IsNaN(position) {
			position = 0
		}
		all = append(all, &provider{name: name, position: position})
	}
	slices.SortStableFunc(all, func(a, b *provider) int { return cmp.Compare(a.position, b.position) })
	return all
}

// ask asks all of them, and returns when each has answered or taken too long.
func (s stateComposer) ask(ctx context.Context, call protocol.Call, input json.RawMessage, all []*provider) {
	var asking sync.WaitGroup
	var said atomic.Int64
	room, end := make(chan struct{}, providersAtOnce), time.Now().Add(s.whole)
	for _, one := range all {
		room <- struct{}{}
		if !time.Now().Before(end) {
			one.err = faultf(call, protocol.CodeTimeout, "it was not asked: all providers have %v together", s.whole)
			<-room
			continue
		}
		asking.Go(func() {
			defer func() { <-room }()
			raw, err := s.plugins.Invoke(ctx, protocol.Call{
				Key: string(capability.KindProvider) + ":" + one.name, Input: input, Scope: call.Scope, Caller: call.Caller,
				Trace: call.Trace, Cause: call.Cause, Deadline: earlier(time.Now().Add(s.each), end),
			})
			if err == nil && said.Add(int64(len(raw))) > int64(s.bytes) {
				said.Add(-int64(len(raw)))
				err = faultf(call, protocol.CodeOverloaded, "what it says has %d bytes, and all of a state have at most %d", len(raw), s.bytes)
			}
			if err == nil {
				err = json.Unmarshal(raw, &one.result)
			}
			if one.err = err; err == nil {
				one.raw = raw
			}
		})
	}
	asking.Wait()
	if ctx.Err() == nil { // else there is no state
		s.tellMissing(call, all)
	}
}

// mostMissing is how many providers the log names of those that a state does without.
const mostMissing = 4

// tellMissing tells who asks of the providers that are left out.
func (s stateComposer) tellMissing(call protocol.Call, all []*provider) {
	log, missing := s.plugins.Log(call.Caller), 0
	for _, one := range all {
		if one.err == nil {
			continue
		}
		if missing++; missing <= mostMissing {
			log.Warn("a state was composed without one of its providers", "provider", one.name, "error", one.err)
		}
	}
	if more := missing - mostMissing; more > 0 {
		log.Warn("a state was composed without more of its providers", "more", more)
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func composed(all []*provider) (json.RawMessage, error) {
	values, results := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	var texts []string
	for _, one := range all {
		if one.raw == nil {
			continue
		}
		results[one.name] = one.raw
		for name, value := range one.result.Values {
			values[name] = value
		}
		if !blank(one.result.Text) {
			texts = append(texts, trim(one.result.Text))
		}
	}
	text := strings.Join(texts, "\n")
	values["providers"] = encode(text)
	return tryEncode(map[string]any{"values": values, "data": map[string]any{"providers": results}, "text": text})
}
