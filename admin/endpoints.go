package admin

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// pathEndpoints is what plugins' endpoints and webhooks lie below: each plugin's own
// are below its name.
const pathEndpoints = "/plugins/"

// Endpoints bound what is asked of plugins over HTTP. Zero means the default.
type Endpoints struct {
	// Body is the longest body of a request, in bytes: 1 MiB.
	Body int64
	// Time is how long a request may take, its body and the plugin's work together: 30 s.
	Time time.Duration
	// Each is how many requests of one plugin's are served at a time, All how many of all
	// plugins'; the next is refused as overloaded: 16 and 128. They are counted apart from
	// Limits.Requests, so that they keep nobody from the API.
	Each, All int
	// Closed lets nobody in without the token, whatever plugins declare as public.
	Closed bool
}

func (e Endpoints) withDefaults() Endpoints {
	return Endpoints{
		Body: cmp.Or(max(e.Body, 0), 1<<20), Time: cmp.Or(max(e.Time, 0), 30*time.Second),
		Each: cmp.Or(max(e.Each, 0), 16), All: cmp.Or(max(e.All, 0), 128), Closed: e.Closed,
	}
}

// endpoints serves what lies below pathEndpoints.
type endpoints struct {
	*Server
	Endpoints
	table endpointTable
	// all is taken by requests that are served, each by those of one plugin.
	all  chan struct{}
	mu   sync.Mutex
	each map[string]int // by plugin; none is left out
	// answers counts by the first digit of the status, dropped the headers of plugins
	// that were not passed on.
	answers [10]atomic.Uint64
	dropped atomic.Uint64
}

func newEndpoints(s *Server, limits Endpoints) *endpoints {
	e := &endpoints{Server: s, Endpoints: limits.withDefaults(), each: map[string]int{}}
	e.table.offers, e.table.revision = s.host.Offers, s.host.Revision
	e.all = make(chan struct{}, e.All)
	return e
}

// before serves what is for plugins, and leaves all else to the next handler.
func (e *endpoints) before(g Guard, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		below, ok := strings.CutPrefix(r.URL.EscapedPath(), pathEndpoints)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		e.serve(&counted{ResponseWriter: w, answers: &e.answers}, r, g.now(), below)
	})
}

// serve answers one request: who may ask is looked at first, then whether there is room.
func (e *endpoints) serve(w http.ResponseWriter, r *http.Request, g Guard, below string) {
	due := time.Now().Add(e.Time)
	bodyBy(w, r, due)
	to, err := e.find(r.Method, below)
	public := err == nil && to.public && !e.Closed
	if f, refused := g.endpointRefusal(r, public, err == nil); refused {
		refuse(w, r, f)
		return
	}
	if g.crossed(w, r, strings.Join(append(to.allow, http.MethodOptions), ", ")) {
		return
	}
	if err == nil {
		err = e.ask(w, r, to, g.proven(r), due)
	}
	if err != nil {
		e.fail(w, err, to, g.knows(r.Header.Get("Authorization")))
	}
}

// ask asks the plugin, once there is room. Who has proven to be the operator may choose
// for which company.
func (e *endpoints) ask(w http.ResponseWriter, r *http.Request, to destination, proven bool, due time.Time) error {
	switch {
	case to.endpoint == nil && r.Method == http.MethodOptions:
		w.Header().Set("Allow", to.allowed())
		w.WriteHeader(http.StatusNoContent)
		return nil
	case to.endpoint == nil:
		w.Header().Set("Allow", to.allowed())
		return &protocol.Error{Code: codeMethod, Plugin: to.plugin, Message: fmt.Sprintf(
			"plugin %s: %s is not answered there: expected one of %s", to.plugin, quoted(r.Method), to.allowed())}
	case to.state != lifecycle.CapReady:
		return e.unready(to)
	}
	leave, err := e.enter(w, r, to.plugin)
	if err != nil {
		return err
	}
	defer leave()
	call, err := e.call(w, r, to, proven)
	if err != nil {
		return err
	}
	call.Deadline = due
	result, err := e.host.Invoke(r.Context(), call)
	if err != nil {
		return err
	}
	if to.webhook {
		soon(w)
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return e.respond(w, to, result)
}

// enter takes a place of a plugin's; what it returns leaves it.
func (e *endpoints) enter(w http.ResponseWriter, r *http.Request, plugin string) (leave func(), err error) {
	full := func(limit int, whose string) error {
		w.Header().Set("Retry-After", "1")
		return &protocol.Error{Code: codeOverloaded, Plugin: plugin, Message: fmt.Sprintf(
			"plugin %s: %d requests to %s are being served, the limit: try again later", plugin, limit, whose)}
	}
	if !e.Server.enter(r.Context(), e.all, func(place string) bool { return !ofAPI(place) }) {
		return nil, full(e.All, "plugins' endpoints")
	}
	if !e.take(plugin) {
		<-e.all
		e.breakOff(func(place string) bool { return place == plugin }) // for whoever comes next
		return nil, full(e.Each, "its endpoints")
	}
	placed(r, plugin)
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.each[plugin]--; e.each[plugin] == 0 {
			delete(e.each, plugin)
		}
		<-e.all
	}, nil
}

// take counts one more of a plugin's, if there is room.
func (e *endpoints) take(plugin string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.each[plugin] >= e.Each {
		return false
	}
	e.each[plugin]++
	return true
}

// find looks for what a path names: its first part is the plugin's name, the rest is the
// path of one of its endpoints, or "webhooks/" and a webhook's key. Where nothing is
// there the error says what is.
func (e *endpoints) find(method, below string) (to destination, err error) {
	parts, err := segments(below)
	if err != nil {
		return destination{}, err
	}
	to.plugin = parts[0]
	rest := parts[1:]
	if len(rest) == 0 {
		rest = []string{""} // the plugin's own root
	}
	of := e.table.of(to.plugin)
	if to.look(of, method, rest) {
		return to, nil
	}
	return to, e.nothing(to.plugin, method, "/"+strings.Join(rest, "/"), of)
}

// nothing says why a path is not there: the plugin is unknown, or not running, or has
// others.
func (e *endpoints) nothing(name, method, path string, of []endpoint) error {
	one, err := e.findAny(name)
	if err != nil || one.Plugin != name {
		return &protocol.Error{Code: codeNotFound, Message: fmt.Sprintf(
			"no plugin is called %s; there are: %s", quoted(name), strings.Join(namesOf(e.plugins()), ", "))}
	}
	switch one.Phase {
	case lifecycle.Ready, lifecycle.Degraded:
	default:
		return &protocol.Error{Code: protocol.CodeNotReady, Plugin: name, Message: fmt.Sprintf(
			"plugin %s is %s: it offers no endpoint now", name, one.Phase)}
	}
	has := "it offers no endpoint"
	if len(of) > 0 {
		has = "it offers " + strings.Join(told(of), ", ")
	}
	return &protocol.Error{Code: codeNotFound, Plugin: name, Message: fmt.Sprintf(
		"plugin %s has no endpoint %s; %s", name, quoted(method+" "+path), has)}
}

// told lists endpoints for people, at most maxNames of them.
func told(of []endpoint) (list []string) {
	for i, one := range of {
		if i == maxNames {
			return append(list, "…")
		}
		list = append(list, one.String())
	}
	return list
}

// unready refuses for a plugin that starts, or waits to be started again.
func (e *endpoints) unready(to destination) error {
	why := "it is not ready"
	if one, err := e.Server.find(to.plugin); err == nil {
		why = "it is " + string(one.Phase)
		if next := one.Worker.NextRestart; !next.IsZero() {
			why = "it has crashed, and is started again at " + next.Format(time.RFC3339)
		}
	}
	return &protocol.Error{Code: protocol.CodeNotReady, Plugin: to.plugin, Message: fmt.Sprintf(
		"%s of plugin %s was not called: %s", to.key, to.plugin, why)}
}

// retry tells when it may be worth it to try again, if that is known.
func (e *endpoints) retry(w http.ResponseWriter, plugin string) {
	one, err := e.Server.find(plugin)
	if err != nil {
		return
	}
	wait := time.Second
	switch next := one.Worker.NextRestart; {
	case !next.IsZero():
		wait = max(time.Until(next), wait)
	case one.Phase == lifecycle.Stopped || one.Phase == lifecycle.Failed || one.Phase == lifecycle.ConfigurationNeeded:
		return // somebody has to do something first
	}
	w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
}

// fail answers with an error. A plugin's own words, and those about its faults, are for
// who has the token, or needs none.
func (e *endpoints) fail(w http.ResponseWriter, err error, to destination, trusted bool) {
	if gone, ok := errors.AsType[*goneError](err); ok {
		e.log.Debug("an endpoint's answer was not taken", "plugin", to.plugin, "error", gone.error)
		return
	}
	e.log.Debug("an endpoint was not answered", "plugin", to.plugin, "error", err)
	f := failureOf(err)
	f.Plugin = cmp.Or(f.Plugin, to.plugin)
	if f.Code == protocol.CodeNotReady {
		e.retry(w, to.plugin)
	}
	if !trusted {
		f = f.veiled()
	}
	answerFailure(w, f)
}

// veiled says no more of a plugin's trouble than that there is some.
func (f Failure) veiled() Failure {
	text := "plugin " + f.Plugin + " failed the request"
	switch f.Code {
	case protocol.CodeNotReady:
		text = "plugin " + f.Plugin + " is not ready"
	case CodePlugin, CodeFailed, protocol.CodeWire, protocol.CodeInternal, protocol.CodeOutcomeUnknown, protocol.CodeConfiguration:
	default:
		return f
	}
	return Failure{Code: f.Code, Plugin: f.Plugin, Message: text}
}

// goneError is that of a caller who does not take the answer.
type goneError struct{ error }

// counted counts how requests are answered.
type counted struct {
	http.ResponseWriter
	answers *[10]atomic.Uint64
}

func (c *counted) WriteHeader(status int) {
	c.answers[min(max(status/100, 0), 9)].Add(1)
	c.ResponseWriter.WriteHeader(status)
}

// Unwrap gives http.ResponseController what lies below.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// bodyBy bounds the time for the body of a request, whoever reads it in the end: also
// for the server, which reads on behind the handler.
func bodyBy(w http.ResponseWriter, r *http.Request, due time.Time) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(due) // in tests there may be no connection
	}
}

// unbounded lifts that once the body is there: what follows has its own limits.
func unbounded(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // in tests there may be no connection
	}
}

// busy is how many requests are being served.
func (e *endpoints) busy() int { return len(e.all) }
