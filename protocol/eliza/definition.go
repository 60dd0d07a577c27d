package eliza

import (
	"encoding/json"
	"strconv"
)

// Definition is what a plugin has, as its worker announces it. Nil fields are left out
// of the announcement.
type Definition struct {
	Name        string
	Description string
	// Priority ranks the plugin's capabilities among those of others.
	Priority *int
	// Dependencies are the names of other plugins.
	Dependencies []string
	// Config and Schema are objects of the plugin's own.
	Config, Schema json.RawMessage
	Actions        []Action
	Providers      []Provider
	// Models are the types of models that the plugin serves.
	Models     []string
	Events     []Events
	Services   []Service
	Evaluators []Action
	Endpoints  []Endpoint
	// Views, Widgets and ComponentTypes are arrays for a user interface.
	Views, Widgets, ComponentTypes json.RawMessage
}

// Action is an action or an evaluator.
type Action struct {
	Name, Description string
	// Similes are other names for it, Examples an array of conversations.
	Similes  []string
	Examples json.RawMessage
	// Validates tells that the plugin can say whether it fits.
	Validates bool
}

// Provider is a provider.
type Provider struct {
	Name, Description string
	// About are further members of its announcement: dynamic, position, private.
	About json.RawMessage
}

// Events are the handlers of events of one name.
type Events struct {
	Name     string
	Handlers int
}

// Service is a service with the methods that a host may call.
type Service struct {
	Type, Description string
	Methods           []string
}

// Endpoint is an HTTP endpoint.
type Endpoint struct {
	// Path is as the host gets it, Method one of GET, POST, PUT, PATCH and DELETE, or ""
	// for GET.
	Path, Method string
	// About are further members of its announcement: name, public, publicReason,
	// isMultipart.
	About json.RawMessage
	// Unserved tells that the plugin has no handler for it.
	Unserved bool
}

// handler is one function of the plugin as the host calls it.
type handler struct {
	surface string
	// name is the capability's, index which of an event's handlers it is.
	name       string
	index      int
	isValidate bool
}

// handlers are a worker's, by the ids that it gives them.
type handlers struct {
	byID map[string]handler
	// last numbers them over the worker's life. The reference begins anew with what init
	// adds, so that ids can repeat.
	last int
}

// ref keeps a handler and returns the reference to it.
func (h *handlers) ref(part string, of handler) json.RawMessage {
	h.last++
	id := of.surface + ":" + part + ":" + strconv.Itoa(h.last)
	h.byID[id] = of
	return newObject().raw("rpc", isTrue).str("id", id).done()
}

// describe writes the announcement of a definition in the reference's order, and keeps
// its handlers.
func (h *handlers) describe(p Definition) json.RawMessage {
	o := newObject().optional("name", p.Name).str("mode", "remote").optional("description", p.Description)
	if p.Priority != nil {
		o = o.raw("priority", strconv.AppendInt(nil, int64(*p.Priority), 10))
	}
	if p.Dependencies != nil {
		o = o.raw("dependencies", texts(p.Dependencies))
	}
	o = o.raw("config", p.Config).raw("schema", p.Schema)
	o = o.raw("actions", list(p.Actions, func(a Action) json.RawMessage { return h.action(surfaceAction, a) }))
	o = o.raw("providers", list(p.Providers, h.provider))
	if p.Models != nil {
		models := newObject()
		for _, m := range p.Models {
			models = models.raw(m, h.ref(m, handler{surface: surfaceModel, name: m}))
		}
		o = o.raw("models", models.done())
	}
	if p.Events != nil {
		events := newObject()
		for _, e := range p.Events {
			events = events.raw(e.Name, h.events(e))
		}
		o = o.raw("events", events.done())
	}
	o = o.raw("services", list(p.Services, h.service))
	o = o.raw("evaluators", list(p.Evaluators, func(a Action) json.RawMessage { return h.action(surfaceEvaluator, a) }))
	o = o.raw("routes", list(p.Endpoints, h.endpoint))
	return o.raw("views", p.Views).raw("widgets", p.Widgets).raw("componentTypes", p.ComponentTypes).done()
}

// list is an array of what each item is written as, nil for none.
func list[T any](items []T, write func(T) json.RawMessage) json.RawMessage {
	if len(items) == 0 {
		return nil
	}
	out := json.RawMessage{'['}
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, write(item)...)
	}
	return append(out, ']')
}

func texts(words []string) json.RawMessage {
	if all := list(words, quote); all != nil {
		return all
	}
	return json.RawMessage(`[]`)
}

func (h *handlers) action(surface string, a Action) json.RawMessage {
	o := newObject().str("name", a.Name).raw("handler", h.ref(a.Name, handler{surface: surface, name: a.Name}))
	if a.Similes != nil {
		o = o.raw("similes", texts(a.Similes))
	}
	o = o.optional("description", a.Description).raw("examples", a.Examples)
	if a.Validates {
		o = o.raw("validate", h.ref(a.Name+".validate", handler{surface: surface, name: a.Name, isValidate: true}))
	}
	return o.done()
}

func (h *handlers) provider(p Provider) json.RawMessage {
	o := newObject().str("name", p.Name).raw("get", h.ref(p.Name, handler{surface: surfaceProvider, name: p.Name}))
	return o.optional("description", p.Description).join(p.About).done()
}

func (h *handlers) events(e Events) json.RawMessage {
	refs := json.RawMessage{'['}
	for i := range e.Handlers {
		if i > 0 {
			refs = append(refs, ',')
		}
		refs = append(refs, h.ref(e.Name+"#"+strconv.Itoa(i), handler{surface: surfaceEvent, name: e.Name, index: i})...)
	}
	return append(refs, ']')
}

func (h *handlers) service(s Service) json.RawMessage {
	o := newObject().str("serviceType", s.Type).raw("rpcMethods", texts(s.Methods)).optional("capabilityDescription", s.Description)
	for _, m := range s.Methods {
		name := s.Type + "." + m
		o = o.raw("rpc:"+m, h.ref(name, handler{surface: surfaceService, name: name}))
	}
	return o.done()
}

func (h *handlers) endpoint(e Endpoint) json.RawMessage {
	method := e.Method
	if method == "" {
		method = "GET"
	}
	o := newObject().str("path", e.Path).optional("type", e.Method).join(e.About)
	if !e.Unserved {
		part := method + " " + e.Path
		o = o.raw("routeHandler", h.ref(part, handler{surface: surfaceRoute, name: part}))
	}
	return o.done()
}
