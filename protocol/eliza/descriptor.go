package eliza

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// MaxHandlers is how many handlers one worker may announce; what has more is refused.
const MaxHandlers = 4096

// MaxAnnounced is how many bytes the announcements of one worker may have together, all that
// it adds later among them; what has more is refused.
const MaxAnnounced = 16 << 20

// descriptor is what a worker announces.
type descriptor struct {
	// name is the plugin's own name for itself.
	name string
	// entries are what can be called, in the order of the descriptor.
	entries []entry
	// ids are the handlers' ids.
	ids []string
	// skipped says of what is passed over why.
	skipped []string
}

// entry is one capability and how it is reached.
type entry struct {
	offer  protocol.Offer
	target target
}

// target is what a capability comes to on the wire.
type target struct {
	surface string
	// name is the capability's own: an action's, a provider's and so on.
	name string
	// ids are the handlers' ids: several of an event, one of anything else. An id is
	// never taken apart.
	ids []string
	// isValidate tells that it answers with a truth.
	isValidate bool
	// isRaw tells that it is a handler called by its id.
	isRaw bool
	// method and path are an endpoint's.
	method, path string
	// quoted are the surface and the ids as they stand in frames.
	quoted []json.RawMessage
	// words are the members of a frame with the surface and the only id.
	words []byte
}

// spelt prepares what stands in frames.
func (t *target) spelt() *target {
	t.quoted = append(make([]json.RawMessage, 0, len(t.ids)+1), quote(t.surface))
	for _, id := range t.ids {
		t.quoted = append(t.quoted, quote(id))
	}
	t.words = fmt.Appendf(nil, `,"surface":%s,"target":%s`, t.quoted[0], t.quoted[1])
	return t
}

// reading reads one descriptor and keeps the first problem.
type reading struct {
	descriptor
	priority int
	problem  string
	// taken are the ids and the keys so far.
	taken map[string]bool
}

// readDescriptor reads what was announced; the error says which field is wrong.
func readDescriptor(raw json.RawMessage) (descriptor, error) {
	r := &reading{taken: make(map[string]bool)}
	r.whole(raw)
	if r.problem != "" {
		return descriptor{}, &protocol.Error{Code: protocol.CodeWire, Message: r.problem}
	}
	return r.descriptor, nil
}

func (r *reading) whole(raw json.RawMessage) {
	if !isObject(raw) {
		r.wrong("descriptor", "an object", raw)
		return
	}
	name := member(raw, "name")
	if typeOf(name) != "nothing" && typeOf(name) != "a string" {
		r.wrong("descriptor.name", "a string", name)
	} else if r.name = textOf(name); name == nil || r.name == "" {
		r.fail("worker-announce-plugin descriptor missing name")
	}
	r.priority = priorityOf(member(raw, "priority"))
	r.each(raw, "dependencies", func(at string, v json.RawMessage) { r.str(at, v) })
	r.each(raw, "actions", r.action)
	r.each(raw, "providers", r.provider)
	r.table(raw, "models", r.model)
	r.table(raw, "events", r.event)
	r.each(raw, "services", r.service)
	r.each(raw, "evaluators", r.evaluator)
	r.each(raw, "routes", r.route)
	for _, ui := range []string{"views", "widgets", "componentTypes"} {
		r.each(raw, ui, func(string, json.RawMessage) {})
	}
}

// priorityOf is JavaScript's Number of a priority, within what an offer can have.
func priorityOf(raw json.RawMessage) int {
	f, err := strconv.ParseFloat(strings.TrimSpace(textOf(raw)), 64)
	if raw == nil || err != nil || math.IsNaN(f) {
		return 0
	}
	const most = 1_000_000
	return int(max(-most, min(f, most)))
}

func (r *reading) fail(problem string) {
	if r.problem == "" {
		r.problem = problem
	}
}

func (r *reading) wrong(at, wanted string, got json.RawMessage) {
	r.fail(fmt.Sprintf("%s: expected %s, got %s", protocol.Clip(at), wanted, typeOf(got)))
}

// each visits the items of an array that may be absent.
func (r *reading) each(of json.RawMessage, name string, visit func(at string, v json.RawMessage)) {
	list := member(of, name)
	if list == nil {
		return
	}
	if typeOf(list) != "an array" {
		r.wrong("descriptor."+name, "an array", list)
		return
	}
	i := 0
	eachItem(list, func(v json.RawMessage) {
		if r.problem == "" {
			visit("descriptor."+name+"["+strconv.Itoa(i)+"]", v)
		}
		i++
	})
}

// table visits the members of an object that may be absent.
func (r *reading) table(of json.RawMessage, name string, visit func(at, key string, v json.RawMessage)) {
	list := member(of, name)
	if list == nil {
		return
	}
	if !isObject(list) {
		r.wrong("descriptor."+name, "an object", list)
		return
	}
	protocol.EachMember(list, func(key, v []byte) {
		if r.problem == "" {
			visit("descriptor."+name+"."+string(key), string(key), v)
		}
	})
}

func (r *reading) str(at string, v json.RawMessage) string {
	s, ok := text(v)
	if !ok {
		r.wrong(at, "a string", v)
	}
	return s
}

// texts reads an array of strings that may be absent.
func (r *reading) texts(at string, v json.RawMessage) (all []string) {
	if v == nil {
		return nil
	}
	if typeOf(v) != "an array" {
		r.wrong(at, "an array", v)
	}
	i := 0
	eachItem(v, func(item json.RawMessage) {
		all = append(all, r.str(at+"["+strconv.Itoa(i)+"]", item))
		i++
	})
	return all
}

// ref reads {rpc: true, id}, the reference to a handler.
func (r *reading) ref(at string, v json.RawMessage) string {
	switch {
	case !isObject(v):
		r.wrong(at, `{"rpc": true, "id": …}`, v)
		return ""
	case string(member(v, "rpc")) != "true":
		r.wrong(at+".rpc", "true", member(v, "rpc"))
		return ""
	}
	id := r.str(at+".id", member(v, "id"))
	switch {
	case r.problem != "":
	case len(r.ids) == MaxHandlers:
		r.fail(fmt.Sprintf("%s: %d handlers are announced, the limit: announce fewer", at, MaxHandlers))
	case r.taken["id "+id]:
		r.fail(fmt.Sprintf("%s: the id %s stands there twice: every handler has one of its own", at, strconv.Quote(protocol.Clip(id))))
	default:
		r.taken["id "+id] = true
		r.ids = append(r.ids, id)
	}
	return id
}

// add keeps a capability, unless its key is there already.
func (r *reading) add(kind, name, description string, about json.RawMessage, t target) {
	key := kind + ":" + name
	if r.taken["key "+key] {
		r.skipped = append(r.skipped, key+" is announced twice: the first one counts")
		return
	}
	r.taken["key "+key] = true
	r.entries = append(r.entries, entry{
		offer:  protocol.Offer{Key: key, Invocable: true, Priority: r.priority, Description: description, Metadata: about},
		target: t,
	})
}

// optionalText is a description: text as it is, anything else as String makes it.
func optionalText(v json.RawMessage) string {
	if isAbsent(v) {
		return ""
	}
	return textOf(v)
}

// kept are the members of an object that are there, as metadata.
func kept(v json.RawMessage, names ...string) json.RawMessage {
	o := newObject()
	for _, name := range names {
		o = o.raw(name, member(v, name))
	}
	if len(o) == 1 {
		return nil
	}
	return o.done()
}

func (r *reading) action(at string, v json.RawMessage) {
	r.handled(at, v, surfaceAction)
}

func (r *reading) evaluator(at string, v json.RawMessage) {
	r.handled(at, v, surfaceEvaluator)
}

// handled reads what has a handler and perhaps a validate: actions and evaluators.
func (r *reading) handled(at string, v json.RawMessage, surface string) {
	name := r.str(at+".name", member(v, "name"))
	r.texts(at+".similes", member(v, "similes"))
	id := r.ref(at+".handler", member(v, "handler"))
	validate := member(v, "validate")
	about := kept(v, "similes", "examples")
	description := optionalText(member(v, "description"))
	if validate != nil {
		about = newObject().raw("similes", member(v, "similes")).raw("examples", member(v, "examples")).str("validate", surface+":"+name+".validate").done()
	}
	r.add(surface, name, description, about, target{surface: surface, name: name, ids: []string{id}})
	if validate == nil {
		return
	}
	r.add(surface, name+".validate", "Whether "+surface+" "+name+" fits.", nil,
		target{surface: surface, name: name, ids: []string{r.ref(at+".validate", validate)}, isValidate: true})
}

func (r *reading) provider(at string, v json.RawMessage) {
	name := r.str(at+".name", member(v, "name"))
	id := r.ref(at+".get", member(v, "get"))
	r.add(surfaceProvider, name, optionalText(member(v, "description")), kept(v, "dynamic", "position", "private"),
		target{surface: surfaceProvider, name: name, ids: []string{id}})
}

func (r *reading) model(at, name string, v json.RawMessage) {
	r.add(surfaceModel, name, "", nil, target{surface: surfaceModel, name: name, ids: []string{r.ref(at, v)}})
}

func (r *reading) event(at, name string, v json.RawMessage) {
	if typeOf(v) != "an array" {
		r.wrong(at, "an array", v)
		return
	}
	t := target{surface: surfaceEvent, name: name}
	i := 0
	eachItem(v, func(item json.RawMessage) {
		t.ids = append(t.ids, r.ref(at+"["+strconv.Itoa(i)+"]", item))
		i++
	})
	if len(t.ids) > 0 {
		r.add(surfaceEvent, name, "", nil, t)
	}
}

func (r *reading) service(at string, v json.RawMessage) {
	of := r.str(at+".serviceType", member(v, "serviceType"))
	methods := member(v, "rpcMethods")
	if typeOf(methods) != "an array" {
		r.wrong(at+".rpcMethods", "an array", methods)
		return
	}
	description := optionalText(member(v, "capabilityDescription"))
	refs := make(map[string]json.RawMessage) // a look-up in v for each method would take its time with many of both
	protocol.EachMember(v, func(key, value []byte) {
		if m, ok := strings.CutPrefix(string(key), "rpc:"); ok {
			refs[m] = value
		}
	})
	for _, m := range r.texts(at+".rpcMethods", methods) {
		ref, ok := refs[m]
		if !ok {
			continue
		}
		delete(refs, m) // a method that is listed twice is one
		name := of + "." + m
		r.add(surfaceService, name, description, nil, target{surface: surfaceService, name: name, ids: []string{r.ref(at+".rpc:"+m, ref)}})
	}
}

// methods are an endpoint's; one of static files is none that a worker answers.
var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "STATIC"}

func (r *reading) route(at string, v json.RawMessage) {
	path, method := r.str(at+".path", member(v, "path")), "GET"
	if t := member(v, "type"); t != nil {
		if method = r.str(at+".type", t); !slices.Contains(methods, method) {
			r.fail(fmt.Sprintf("%s.type: expected one of %s, got %s", at, strings.Join(methods, ", "), strconv.Quote(protocol.Clip(method))))
		}
	}
	handler := member(v, "routeHandler")
	if handler == nil { // it says that there is such an endpoint, and who serves it is not told
		return
	}
	id := r.ref(at+".routeHandler", handler)
	if string(member(v, "public")) == "true" {
		r.public(path, v)
	}
	if method == "STATIC" {
		r.skipped = append(r.skipped, "the static endpoint "+path+" is not served")
		return
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	r.add("http", method+" "+path, "", kept(v, "name", "public", "publicReason", "isMultipart"),
		target{surface: surfaceRoute, name: method + " " + path, ids: []string{id}, method: method, path: path})
}

// public wants a public endpoint to say what it is and why, in the reference's words.
func (r *reading) public(path string, v json.RawMessage) {
	switch {
	case strings.TrimFunc(optionalText(member(v, "name")), protocol.IsBlank) == "":
		r.fail("public route " + protocol.Clip(path) + " must declare a name")
	case strings.TrimFunc(optionalText(member(v, "publicReason")), protocol.IsBlank) == "":
		r.fail("public route " + protocol.Clip(path) + " must declare publicReason")
	}
}
