package paperclip

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

var _ protocol.Routing = Dialect{}

// Routes tells that workers have routes: pseudo-terminals for a login, and channels.
//
//	pty     {environmentId, providerLeaseId, driverKey, loginCommandKey or command, sessionHome?}
//	duplex  {environmentId, providerLeaseId, driverKey, command: [program, argument …]}
//
// A pseudo-terminal runs one of the logins that the wire allows. It is asked for by its key
// ("claude", "codex", "grok") or by its command ("claude setup-token"), and becomes what the
// worker's release knows. A sessionHome that is not given is made.
func (Dialect) Routes() {}

// DuplexForm is how the channels of a worker carry bytes.
type DuplexForm uint8

const (
	// DuplexAuto is base64, but text where the worker has only the pseudo-terminal of the
	// time before that.
	DuplexAuto DuplexForm = iota
	// DuplexBase64 is the releases' form, from 2026.831 on. All bytes pass.
	DuplexBase64
	// DuplexText is a string. What is no text does not pass.
	DuplexText
)

// The command of a login where that is named by itself, and the keys of those that there
// are.
const (
	setupTokenCommand = "claude setup-token"
	setupTokenKey     = "claude"
)

var loginKeys = []string{setupTokenKey, "codex", "grok"}

// sessionHome is where a login keeps its files.
var sessionHome = regexp.MustCompile(`^` + sessionHomes + `[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

const sessionHomes = "/tmp/paperclip-adapter-login/"

// openRoute asks the worker for a route, once all that can be refused is looked at.
func (d *driver) openRoute(now time.Time, in protocol.OpenRoute, out []protocol.Effect) []protocol.Effect {
	w, params, company, err := d.routeParams(now, in.Route)
	if err == nil {
		err = d.hasRoom(w)
	}
	if err != nil {
		return append(out, protocol.RouteRefused{ID: in.ID, Err: err}, protocol.RouteClosed{ID: in.ID})
	}
	limits := d.plugin.Limits.PTY
	if w.isDuplex() {
		limits = d.plugin.Limits.Duplex
	}
	r := &route{id: in.ID, wire: w, limits: limits.of(w), name: d.routeName(w), hasSlot: w != setupTokenPTY}
	d.routes.add(r)
	out = append(out, r.setTimer(openTimer, r.limits.Open))
	return d.sendOpen(r, newObject().str("hostRouteId", r.name).join(params).done(), invocation{company: company, trace: in.Route.Trace}, out)
}

// sendOpen sends the request, with an invocation that lives until it is answered.
func (d *driver) sendOpen(r *route, params json.RawMessage, i invocation, out []protocol.Effect) []protocol.Effect {
	d.last++
	a := routeAsk{route: r, kind: askOpen, invocation: d.newID()}
	d.routes.asked[d.last] = a
	d.invocations.add(a.invocation, i)
	return append(out, protocol.Send{Message: Request{
		ID: d.wireID(), Method: wordsOf[r.wire].open, Params: params, Invocation: i.envelope(a.invocation),
	}})
}

// hasRoom takes a route's share of the ceiling, or says why there is none.
func (d *driver) hasRoom(w wireRoute) error {
	v := &d.routes
	switch {
	case v.isRetired:
		return d.settings.Fault(protocol.CodeNotReady, "plugin "+d.settings.Plugin+" is being ended; no route of it is opened")
	case len(d.calls)+len(v.byID) >= d.settings.Pending():
		return d.settings.Fault(protocol.CodeOverloaded, fmt.Sprintf(
			"%d calls are in flight, the limit: open the route again later", d.settings.Pending()))
	case w == setupTokenPTY && v.terminal != nil:
		return d.settings.Fault(protocol.CodeOverloaded, "the plugin's release has one pseudo-terminal at a time, and it is in use: "+
			"close it first (SETUP_TOKEN_PTY_ROUTE_BUSY)")
	case w == setupTokenPTY || v.shared.take():
		return nil
	}
	code := "DUPLEX_CHANNEL_ROUTE_BUSY"
	if w == loginPTY {
		code = "LOGIN_PTY_ROUTES_AT_CAPACITY"
	}
	return d.settings.Fault(protocol.CodeOverloaded, fmt.Sprintf(
		"all plugins together have %d routes, the limit (routes.open): open it again later, or raise it (%s)", v.shared.Limit(), code))
}

// routeName names a route on the wire.
func (d *driver) routeName(w wireRoute) string {
	if w.isDuplex() {
		return "duplex-route-" + strconv.FormatInt(d.routes.shared.number(), 10)
	}
	return d.newID()
}

// routeParams translates what is asked for, without the name of the route.
func (d *driver) routeParams(now time.Time, asked protocol.Route) (w wireRoute, params object, company string, err error) {
	t := target{driver: d, Call: protocol.Call{Key: string(asked.Kind), Input: asked.Params, Scope: asked.Scope}, now: now}
	t.company = strings.TrimFunc(asked.Scope, protocol.IsBlank)
	p := openParams{target: &t}
	if p.input, err = t.objectInput(asked.Params, "with what to open"); err != nil {
		return 0, nil, "", err
	}
	if err = p.scope(); err != nil {
		return 0, nil, "", err
	}
	params = newObject().str("driverKey", p.text("driverKey")).str("companyId", t.company).
		str("environmentId", p.text("environmentId")).str("providerLeaseId", p.text("providerLeaseId"))
	switch asked.Kind {
	case protocol.RoutePTY:
		w, params, err = p.pty(params)
	case protocol.RouteDuplex:
		w, params, err = p.duplex(params)
	default:
		err = d.settings.Fault(protocol.CodeNotFound, fmt.Sprintf("a route of the kind %q: expected pty or duplex", clip(string(asked.Kind))))
	}
	if err == nil {
		err = p.missing
	}
	return w, params, t.company, err
}

// openParams reads what a route is asked to be.
type openParams struct {
	*target
	input json.RawMessage
	// missing is the first thing that is not there.
	missing error
}

// text is a member that must be there.
func (p *openParams) text(name string) string {
	s, ok := text(member(p.input, name))
	if (!ok || s == "") && p.missing == nil {
		p.missing = p.invalid(name + ": expected a string")
	}
	return s
}

// scope finds the company: that of the route, of its parameters, or the plugin's own.
func (p *openParams) scope() error {
	own := nonBlank(member(p.input, "companyId"))
	switch {
	case own != "" && p.company != "" && own != p.company:
		return p.invalid(fmt.Sprintf("companyId: expected %q, the route's scope, or nothing", clip(p.company)))
	case own != "":
		p.company = own
	case p.company == "":
		p.company = strings.TrimFunc(p.plugin.Company, protocol.IsBlank)
	}
	return p.needsCompany()
}

// pty is the login that is asked for, in the words of the worker's release.
func (p *openParams) pty(params object) (wireRoute, object, error) {
	key, command := nonBlank(member(p.input, "loginCommandKey")), nonBlank(member(p.input, "command"))
	w := p.terminal(command != "")
	if command == setupTokenCommand && key == "" {
		key, command = setupTokenKey, ""
	}
	switch {
	case w == setupTokenPTY && (key != setupTokenKey || command != ""):
		return w, nil, p.invalid(fmt.Sprintf("expected the command %q or the loginCommandKey %q, which is all that the plugin's release allows (SETUP_TOKEN_PTY_COMMAND_NOT_ALLOWED)",
			setupTokenCommand, setupTokenKey))
	case w == setupTokenPTY:
		return w, params.str("command", setupTokenCommand), nil
	case command != "" || !slices.Contains(loginKeys, key):
		return w, nil, p.invalid(fmt.Sprintf("loginCommandKey: expected one of %s (LOGIN_PTY_COMMAND_NOT_ALLOWED)", strings.Join(loginKeys, ", ")))
	}
	home := sessionHomes + newUUID()
	if given := member(p.input, "sessionHome"); given != nil {
		home, _ = text(given)
	}
	if !sessionHome.MatchString(home) {
		return w, nil, p.invalid("sessionHome: expected " + sessionHomes + "UUID, or nothing (LOGIN_PTY_INVALID_SESSION_HOME)")
	}
	return w, params.str("loginCommandKey", key).str("sessionHome", home), nil
}

// terminal is the pseudo-terminal that the worker's release has. One that reports none
// gets the one that is asked for.
func (p *openParams) terminal(byCommand bool) wireRoute {
	older := slices.Contains(p.supported, wordsOf[setupTokenPTY].open)
	newer := slices.Contains(p.supported, wordsOf[loginPTY].open)
	if older != newer {
		byCommand = older
	}
	if byCommand {
		return setupTokenPTY
	}
	return loginPTY
}

// duplex is the channel that is asked for.
func (p *openParams) duplex(params object) (wireRoute, object, error) {
	w := duplexBase64
	older := slices.Contains(p.supported, wordsOf[setupTokenPTY].open) && !slices.Contains(p.supported, wordsOf[loginPTY].open)
	if p.plugin.Duplex == DuplexText || p.plugin.Duplex == DuplexAuto && older {
		w = duplexText
	}
	command := member(p.input, "command")
	words := 0
	isList := eachItem(command, func(value json.RawMessage) {
		if _, ok := text(value); ok && words >= 0 {
			words++
			return
		}
		words = -1
	})
	if !isList || words <= 0 {
		return w, nil, p.invalid("command: expected a list of strings, the program first")
	}
	return w, params.raw("command", command), nil
}

// openAnswered binds a route to the session that the worker has given to it, or ends it.
func (d *driver) openAnswered(r *route, result json.RawMessage, err error, out []protocol.Effect) []protocol.Effect {
	if r.phase != routeOpening {
		return out
	}
	session := nonBlank(member(result, "workerSessionId"))
	if err == nil {
		err = d.openFailure(r, session, result)
	}
	if err != nil {
		r.isUnknown = lacksMethod(err)
		return d.endRoute(r, err, out)
	}
	r.session, r.phase = session, routeOpen
	out = append(out, protocol.StopTimer{Timer: r.timer(openTimer)}, r.setTimer(lifeTimer, r.limits.Life),
		protocol.RouteOpened{ID: r.id, Room: r.room()})
	return d.replay(r, out)
}

// openFailure says what is wrong with the answer to an open.
func (d *driver) openFailure(r *route, session string, result json.RawMessage) error {
	method, why := wordsOf[r.wire].open, ""
	limit := d.plugin.Limits.Session.filled().Name
	switch {
	case session == "":
		why = "expected a workerSessionId"
	case len(session) > limit:
		why = over("the bytes of the workerSessionId", limit, "session.name")
	case r.wire.isDuplex() && nonBlank(member(result, "hostRouteId")) != r.name:
		why = "expected the hostRouteId " + r.name + " back"
	case r.wire == loginPTY && d.routes.isBound(session):
		why = "the workerSessionId is another route's"
	default:
		return nil
	}
	return d.settings.Fault(protocol.CodeWire, fmt.Sprintf("%s: %s (%s)", method, why, openFailed[r.wire]))
}

// openFailed are the reference's codes.
var openFailed = [...]string{
	setupTokenPTY: "SETUP_TOKEN_PTY_OPEN_FAILED", loginPTY: "LOGIN_PTY_OPEN_FAILED",
	duplexBase64: "DUPLEX_CHANNEL_OPEN_FAILED", duplexText: "DUPLEX_CHANNEL_OPEN_FAILED",
}

// isBound tells whether a session belongs to a pseudo-terminal already.
func (v *routes) isBound(session string) bool {
	for _, r := range v.byName {
		if r.wire == loginPTY && r.session == session && r.phase != routeClosing {
			return true
		}
	}
	return false
}

// forgetOpen forgets the request that has not been answered.
func (d *driver) forgetOpen(r *route) {
	for n, a := range d.routes.asked {
		if a.route == r && a.kind == askOpen {
			d.invocations.end(a.invocation)
			delete(d.routes.asked, n)
		}
	}
}
