package plugin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/eliza"
)

// missing is an offer that an elizaOS host cannot call, and why.
type missing struct{ key, why string }

// describing makes an announcement of offers.
type describing struct {
	eliza.Definition
	// has tells whether there is a handler for a key.
	has func(key string) bool
	// services are the places of those in the announcement, by their types.
	services map[string]int
}

// announcements are how offers are announced, and what of them is not, and why. This wire has
// one priority for all that is announced at once: those of another one follow.
func announcements(name string, offers []protocol.Offer, has func(key string) bool) (all []eliza.Definition, none []missing) {
	var ranks []int
	by := map[int]*describing{}
	for _, o := range offers {
		d := by[o.Priority]
		if d == nil {
			d = newDescribing(name, o.Priority, has)
			by[o.Priority], ranks = d, append(ranks, o.Priority)
		}
		kind, name, _ := strings.Cut(o.Key, ":")
		if why := d.add(kind+":", name, o); why != "" {
			none = append(none, missing{o.Key, why})
		}
	}
	for _, rank := range ranks {
		if d := by[rank]; d.hasAny() {
			all = append(all, d.Definition)
		}
	}
	return all, none
}

// hasAny tells whether anything is announced.
func (d *describing) hasAny() bool {
	return len(d.Actions)+len(d.Evaluators)+len(d.Providers)+len(d.Models)+len(d.Events)+len(d.Services)+len(d.Endpoints) > 0
}

func newDescribing(name string, priority int, has func(string) bool) *describing {
	d := &describing{Definition: eliza.Definition{Name: name}, has: has, services: map[string]int{}}
	if priority != 0 {
		d.Priority = &priority
	}
	return d
}

// add announces one offer, or says why it cannot.
func (d *describing) add(kind, name string, o protocol.Offer) (why string) {
	switch kind {
	case kindAction:
		if !validatesAnother(o.Key) {
			d.Actions = append(d.Actions, d.action(name, o))
		}
	case kindEvaluator:
		if !validatesAnother(o.Key) {
			d.Evaluators = append(d.Evaluators, d.action(name, o))
		}
	case kindProvider:
		d.Providers = append(d.Providers, eliza.Provider{Name: name, Description: o.Description, About: o.Metadata})
	case kindModel:
		d.Models = append(d.Models, name)
	case kindEvent:
		d.Events = append(d.Events, eliza.Events{Name: name, Handlers: 1})
	case kindService:
		return d.method(name, o)
	case kindHTTP:
		return d.endpoint(name, o)
	default:
		return "an elizaOS host has no call for it: expected one of the kinds action, provider, evaluator, model, service, event and http"
	}
	return ""
}

// validatesAnother tells whether a key is that of what says whether another one fits, with
// which it is announced.
func validatesAnother(key string) bool {
	return strings.HasSuffix(key, validates) && (strings.HasPrefix(key, kindAction) || strings.HasPrefix(key, kindEvaluator))
}

func (d *describing) action(name string, o protocol.Offer) eliza.Action {
	a := eliza.Action{Name: name, Description: o.Description, Validates: d.has(o.Key + validates)}
	var about struct {
		Similes  []string
		Examples json.RawMessage
	}
	if len(o.Metadata) > 0 && json.Unmarshal(o.Metadata, &about) == nil {
		a.Similes, a.Examples = about.Similes, about.Examples
	}
	return a
}

// method announces a method of a service.
func (d *describing) method(name string, o protocol.Offer) (why string) {
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || dot == len(name)-1 {
		return "expected service:TYPE.method"
	}
	typ, method := name[:dot], name[dot+1:]
	at, known := d.services[typ]
	if !known {
		at = len(d.Services)
		d.services[typ] = at
		d.Services = append(d.Services, eliza.Service{Type: typ, Description: o.Description})
	}
	d.Services[at].Methods = append(d.Services[at].Methods, method)
	return ""
}

// endpointMethods are those of endpoints that an elizaOS host knows.
var endpointMethods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// endpoint announces an endpoint. A public one has to say what it is, and why it is public.
func (d *describing) endpoint(pattern string, o protocol.Offer) (why string) {
	method, path, ok := strings.Cut(pattern, " ")
	if !ok || !slices.Contains(endpointMethods, method) {
		return fmt.Sprintf("an elizaOS host knows no such endpoint: expected one of %s and a path", strings.Join(endpointMethods, ", "))
	}
	about := map[string]any{}
	_ = json.Unmarshal(o.Metadata, &about) // none, or what options have made
	if about["public"] == true {
		about["name"] = pattern
		about["publicReason"] = o.Description
		if strings.TrimSpace(o.Description) == "" {
			about["publicReason"] = "the plugin offers it to everybody"
		}
	}
	e := eliza.Endpoint{Method: method, Path: path}
	if len(about) > 0 {
		e.About, _ = json.Marshal(about) // JSON values
	}
	d.Endpoints = append(d.Endpoints, e)
	return ""
}
