package admin

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
)

// endpoint is an offer of a plugin's that is reached over HTTP: one of the kind http, or
// a webhook.
type endpoint struct {
	key     capability.Key
	method  string
	pattern []string
	state   lifecycle.State
	webhook bool
	known
}

// String is the endpoint for people, as it is asked for.
func (e endpoint) String() string {
	if e.webhook {
		return http.MethodPost + " /webhooks/" + e.pattern[1]
	}
	return e.method + " /" + strings.Join(e.pattern, "/")
}

// known is what is looked at of the metadata of an offer.
type known struct {
	// Public lets everybody ask.
	Public bool `json:"public"`
	// Company says where a request names the company that it is for: Key of its From,
	// "query" or "body".
	Company struct {
		From string `json:"from"`
		Key  string `json:"key"`
	} `json:"company"`
}

// endpointTable has the endpoints of all plugins as they are. It is made anew when the
// registry has changed.
type endpointTable struct {
	offers   func() []capability.Offer
	revision func() uint64

	mu      sync.Mutex
	at      uint64
	plugins map[string][]endpoint
}

// of returns the endpoints of a plugin, which are not to be written to.
func (t *endpointTable) of(plugin string) []endpoint {
	now := t.revision() // before the offers, which may be newer
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plugins == nil || t.at != now {
		t.at, t.plugins = now, map[string][]endpoint{}
		for _, o := range t.offers() {
			if e, ok := endpointOf(o); ok {
				t.plugins[o.Owner.Plugin] = append(t.plugins[o.Owner.Plugin], e)
			}
		}
	}
	return t.plugins[plugin]
}

func endpointOf(o capability.Offer) (e endpoint, ok bool) {
	if !o.Invocable || o.State == lifecycle.CapWithdrawn {
		return e, false
	}
	e = endpoint{key: o.Key, state: o.State}
	if len(o.Metadata) > 0 {
		_ = json.Unmarshal(o.Metadata, &e.known) // of another shape: it says nothing of this
	}
	switch o.Key.Kind() {
	case capability.KindWebhook:
		// whoever delivers has no token of ours; the plugin checks who it is
		e.method, e.webhook, e.Public = http.MethodPost, true, true
		e.pattern = []string{"webhooks", o.Key.Name()}
		return e, true
	case capability.KindHTTP:
		method, path, found := strings.Cut(o.Key.Name(), " ")
		path, rooted := strings.CutPrefix(path, "/")
		e.method, e.pattern = strings.ToUpper(method), strings.Split(path, "/")
		return e, found && rooted
	default:
		return e, false
	}
}

// match tells whether a path is the pattern's, with the values of its parameters.
func (e endpoint) match(path []string) (params map[string]string, ok bool) {
	if len(path) != len(e.pattern) {
		return nil, false
	}
	params = map[string]string{}
	for i, part := range e.pattern {
		name, isParam := e.param(part)
		switch {
		case isParam && path[i] != "":
			params[name] = path[i]
		case isParam || part != path[i]:
			return nil, false
		}
	}
	return params, true
}

func (e endpoint) param(part string) (name string, is bool) {
	name, is = strings.CutPrefix(part, ":")
	return name, is && name != "" && !e.webhook
}

// closer orders endpoints that match one path: the first difference decides, where a word
// goes before a parameter; webhooks before all, what is ready before what is not.
func (e endpoint) closer(than endpoint) bool {
	if e.webhook != than.webhook {
		return e.webhook
	}
	for i, part := range e.pattern {
		_, is := e.param(part)
		if _, was := than.param(than.pattern[i]); is != was {
			return was
		}
	}
	return e.state == lifecycle.CapReady && than.state != lifecycle.CapReady
}

// destination is what a request is for.
type destination struct {
	plugin string
	// endpoint is nil where the path is there for other methods only.
	*endpoint
	params map[string]string
	// allow are the methods that the path is there for, public that it is so for
	// everybody.
	allow  []string
	public bool
}

// look finds the endpoint for a request; false where there is no such path.
func (d *destination) look(of []endpoint, method string, path []string) bool {
	var best, get *endpoint
	var params, getParams map[string]string
	for i := range of {
		e := &of[i]
		with, ok := e.match(path)
		if !ok {
			continue
		}
		d.allow = append(d.allow, e.method)
		d.public = d.public || e.Public
		if e.method == method && (best == nil || e.closer(*best)) {
			best, params = e, with
		}
		if e.method == http.MethodGet && (get == nil || e.closer(*get)) {
			get, getParams = e, with
		}
	}
	if get != nil {
		d.allow = append(d.allow, http.MethodHead)
		if best == nil && method == http.MethodHead {
			best, params = get, getParams
		}
	}
	slices.Sort(d.allow)
	d.allow = slices.Compact(d.allow)
	if best != nil {
		d.endpoint, d.params, d.public = best, params, best.Public
	}
	return len(d.allow) > 0
}

// allowed is the header Allow.
func (d *destination) allowed() string {
	list := d.allow
	if !slices.Contains(list, http.MethodOptions) {
		list = append(slices.Clone(list), http.MethodOptions)
	}
	return strings.Join(list, ", ")
}

// segments are the parts of a path, each by itself without its escapes, so that an
// escaped slash parts nothing. What could lead whoever takes a part for a file's name out
// of its folder is refused.
func segments(escaped string) ([]string, error) {
	parts := strings.Split(escaped, "/")
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil {
			return nil, invalid("the path: %q is not escaped as a path is", part)
		}
		for _, step := range strings.FieldsFunc(plain, func(r rune) bool { return r == '/' || r == '\\' }) {
			if step == "." || step == ".." {
				return nil, invalid("the path: %s leads elsewhere: expected one without \".\" and \"..\"", quoted(plain))
			}
		}
		if strings.ContainsFunc(plain, unicode.IsControl) {
			return nil, invalid("the path has a control character")
		}
		parts[i] = plain
	}
	return parts, nil
}
