package services

import (
	"context"
	"encoding/json"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

// Directory tells what all plugins offer; a host is one.
type Directory interface {
	Offers() []capability.Offer
}

// Eliza are the limits of what elizaOS's workers alone may ask.
type Eliza struct {
	// ProviderTimeout is how long composeState waits for one provider; 0 means 5 s.
	ProviderTimeout time.Duration
	// Composing is how many states one plugin may have composed at a time; 0 means 16.
	Composing int
	// StateTimeout is how long a state may take, whatever the number of providers; who was
	// not heard by then is left out. 0 means 20 s.
	StateTimeout time.Duration
	// StateBytes is how many bytes of what providers say go into one state; who says more
	// than there is room for is left out. 0 means 8 MiB.
	StateBytes int
}

const (
	defaultProviderTimeout = 5 * time.Second
	defaultStateTimeout    = 20 * time.Second
	defaultComposing       = 16
	defaultStateBytes      = 8 << 20
)

// ElizaRuntime returns the services of an elizaOS worker's runtime, by method. A host calls
// it once: limits for each plugin are kept by what it returns.
func ElizaRuntime(p protocol.Plugins, d Directory, o Options) map[string]protocol.Service {
	o = o.withDefaults()
	events, memories := elizaEvents{p}, newMemories(o.Store)
	settings := settingService{o.Store, o.Config}
	states := stateComposer{
		plugins: p, directory: d, slots: newSlots(orDefault(o.Eliza.Composing, defaultComposing)),
		each: orDefault(o.Eliza.ProviderTimeout, defaultProviderTimeout), whole: orDefault(o.Eliza.StateTimeout, defaultStateTimeout),
		bytes: orDefault(o.Eliza.StateBytes, defaultStateBytes),
	}
	return map[string]protocol.Service{
		"getService":   protocol.QuickFunc(serviceFinder{d}.find),
		"useModel":     protocol.ServiceFunc(models{p}.use),
		"getMemory":    protocol.ServiceFunc(memories.get),
		"createMemory": protocol.ServiceFunc(memories.create),
		"updateMemory": protocol.ServiceFunc(memories.update),
		"emitEvent":    protocol.PublishingFunc(events.emit),
		"getSetting":   protocol.ServiceFunc(settings.get),
		"setSetting":   protocol.ServiceFunc(settings.set),
		"composeState": protocol.ServiceFunc(states.compose),
		"invoke":       protocol.ServiceFunc(invoker{p}.invoke),
		// Its driver has taken those of actions that run.
		"actionCallback": protocol.QuickFunc(func(_ context.Context, call protocol.Call) (json.RawMessage, error) {
			return nil, faultf(call, protocol.CodeNotFound, "callbackId: no action that runs has this callback")
		}),
	}
}

// serviceFinder serves getService: {serviceType} → {available: true}, or null where no
// plugin offers a method of such a service.
type serviceFinder struct{ directory Directory }

func (s serviceFinder) find(_ context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	prefix := string(capability.KindService) + ":" + in.text("serviceType") + "."
	if in.err != nil {
		return nil, in.err
	}
	for _, offer := range s.directory.Offers() {
		if len(offer.Key) > len(prefix) && string(offer.Key[:len(prefix)]) == prefix && offer.State == stateReady {
			return json.RawMessage(`{"available":true}`), nil
		}
	}
	return null, nil
}

// stateReady is the state of an offer that can be called.
const stateReady = "ready"

// models serves useModel: {modelType, params, timeoutMs?} → the model's result. What it says
// in parts is passed on to a worker that asks for that; the limit is this host's own.
type models struct{ plugins protocol.Plugins }

func (m models) use(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	key := string(capability.KindModel) + ":" + in.text("modelType")
	if in.err == nil {
		in.checkKey("modelType", key)
	}
	if in.err != nil {
		return nil, in.err
	}
	return m.plugins.Invoke(ctx, protocol.Call{
		Key: key, Input: in.raw("params"), Scope: call.Scope, Caller: call.Caller, Trace: call.Trace, Cause: call.Cause, Progress: call.Progress,
		Deadline: deadline(string(in.members["timeoutMs"])),
	})
}

// elizaEvents serves emitEvent: {name, payload?} → null. Its name is the event's for all
// who hear it, whichever ecosystem they are of.
type elizaEvents struct{ plugins protocol.Plugins }

func (e elizaEvents) emit(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	name := in.text("name")
	if payload, given := in.members["payload"]; given && kindOf(payload) != "an object" {
		in.expected("payload", "an object, or none")
	}
	if in.err == nil {
		in.checkKey("name", eventPrefix+name)
	}
	if in.err != nil {
		return nil, in.err
	}
	return done(e.plugins.Publish(ctx, protocol.Call{
		Key: eventPrefix + name, Input: in.members["payload"], Scope: call.Scope, Caller: call.Caller, Trace: call.Trace, Cause: call.Cause,
	}))
}

// settingService serves getSetting and setSetting: {key, value?}. A setting that was never
// set is the member of the plugin's configuration that has its name.
type settingService struct {
	store  Store
	config func(plugin, company string) json.RawMessage
}

func settingKey(call protocol.Call, key string) StateKey {
	return StateKey{Plugin: call.Caller, ScopeKind: "instance", Namespace: "eliza.settings", Key: key}
}

func (s settingService) get(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	key := in.text("key")
	if in.err != nil {
		return nil, in.err
	}
	value, err := s.store.Get(ctx, settingKey(call, key))
	if err != nil || value != nil {
		return value, err
	}
	value = null
	protocol.EachMember(s.config(call.Caller, call.Scope), func(name, member []byte) {
		if string(name) == key {
			value = member
		}
	})
	return value, nil
}

func (s settingService) set(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	key, value := in.text("key"), in.members["value"]
	if value == nil {
		in.failf("value: is missing: expected any JSON, null too")
	}
	if in.err != nil {
		return nil, in.err
	}
	return done(s.store.Set(ctx, settingKey(call, key), append(json.RawMessage{}, value...)))
}
