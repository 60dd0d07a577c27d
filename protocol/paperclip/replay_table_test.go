package paperclip

// replay says what is replayed of one recorded conversation, and how.
type replay struct {
	// what of it is replayed; all frames are, unless a field below says otherwise.
	what string
	// host tells that the worker was hand-written and no SDK, so that only the
	// host's end is replayed.
	host bool
	// routes tells what it has of routes.
	routes *routeReplay
	// injected tells that the recorder wrote frames into the worker's input that
	// no host would write; they are given to our worker and not asked of our host.
	injected bool
	// cancelled are the host's calls, by their recorded ids, that run out of time.
	cancelled []string
	// proactive are the companies that the plugin may act for, until the call
	// with the recorded id revoked.
	proactive []string
	revoked   string
	// differs has the answers, by the worker's ids, that our host gives in place
	// of the recorded ones, each with the reason.
	differs map[string]difference
}

type difference struct{ answer, why string }

const (
	ofObject   = "the recorded host finds names of Object.prototype"
	ungated    = "the recorded host served with bare handlers and no gate"
	wasCrashed = "each process replayed by itself: initialize, calls, and the end with calls in flight"
)

// replays has every recorded conversation.
var replays = map[string]replay{
	"v824/01-bare-lifecycle":           {what: "initialize, health, shutdown of a plugin without hooks"},
	"v824/02-full-initialize":          {what: "calls during setup, all hooks reported, a second initialize"},
	"v824/03-getData":                  {what: "params, company and surroundings; error codes; text and numbers, raw"},
	"v824/04-performAction":            {what: "actors, nested state.get in scope, an error that bubbles"},
	"v824/05-executeTool":              {what: "run context, unknown tool"},
	"v824/06-onEvent":                  {what: "events as requests and notifications, nested calls, emit"},
	"v824/07-jobs-webhook-api":         {what: "jobs, webhook, HTTP endpoint"},
	"v824/08-config":                   {what: "validateConfig, configChanged and its guard"},
	"v824/09-not-implemented":          {what: "-32004, -32601 and -32002 of a plugin without hooks"},
	"v824/10-environment":              {what: "every environment hook, and what environmentExecute logs"},
	"v824/18-host-calls":               {what: "every service that the recorder had, in scope"},
	"v824/19-host-call-denials":        {what: "-32001 and -32005 with their texts"},
	"v824/20-host-call-raw":            {what: "ids of any type, resolving of invocations, codes of thrown errors", host: true, proactive: []string{"company-9"}, differs: map[string]difference{`"m2"`: {noHandler("constructor"), ofObject}, `"m3"`: {noHandler("toString"), ofObject}, `"m4"`: {noHandler("__proto__"), ofObject}, `"m5"`: {noHandler("hasOwnProperty"), ofObject}, `"i6"`: {`{"jsonrpc":"2.0","id":"i6","error":{"code":-32005,"message":"Plugin \"lab.plugin\" is not allowed to perform \"state.get\": requested company \"company-9\" but the current invocation is scoped to company \"company-1\""}}`, ungated}}},
	"v824/21-proactive":                {what: "the proactive set, revoked on the way; an invocation that is over", proactive: []string{"company-1", "company-3"}, revoked: "9"},
	"v824/23-framing-to-worker":        {what: "what is no frame, and frames of odd shape", injected: true},
	"v824/24-timeouts":                 {what: "calls that run out of time, a late answer", cancelled: []string{"2", "4", "5"}},
	"v824/25-crash-backoff":            {what: wasCrashed},
	"v824/26-crash-no-restart":         {what: wasCrashed},
	"v824/27-crash-in-setup-loops":     {what: wasCrashed + "; shutdown while initialize is in flight"},
	"v824/28-init-failures":            {what: "initialize that fails, says no, says nothing; processes 1 to 4 are hand-written", host: true},
	"v824/29-init-timeout":             {what: "initialize that is never answered", host: true},
	"v824/30-shutdown-graceful":        {what: "shutdown with a call in flight"},
	"v824/31-shutdown-slow-hook":       {what: "shutdown whose hook takes its time"},
	"v824/32-shutdown-ignored-sigterm": {what: "shutdown that is never answered", host: true},
	"v824/33-shutdown-ignored-sigkill": {what: "shutdown that is never answered", host: true},
	"v824/34-shutdown-ack-only":        {what: "shutdown that is answered", host: true},
	"v824/35-worker-death-modes":       {what: wasCrashed},
	"v824/37-env":                      {what: "the frames around it"},
	"v824/38-oversize-line":            {what: "the frames; the bound is the transport's", host: true},
	"v824/39-span-traceparent":         {what: "traceparent there, span.record back"},
	"v824/40-concurrency":              {what: "answers out of order, two companies at once"},
	"v824/42-crash-after-good-start":   {what: wasCrashed, host: true},
	"v824/44-unhandled-rejection":      {what: "answers after a rejection"},

	"v824/11-execute-log-routing":               {what: "chunks in order, forged, malformed, late, beyond the total; calls that nobody follows", host: true, routes: &routeReplay{limits: Limits{Log: LogLimits{Total: 20}}, nobody: []string{"7"}}},
	"v824/12-execute-log-cross-company":         {what: "two companies at once, then one company twice", host: true},
	"v824/13-setup-token-pty":                   {what: "a login, and one that is stopped; a terminal that is closed is not stopped again", routes: &routeReplay{skipped: []string{"6"}}},
	"v824/14-setup-token-pty-edges":             {what: "forged, too long, too much, batched with the answer; opens that fail", host: true, routes: &routeReplay{limits: Limits{PTY: RouteLimits{Chunk: 8, Total: 10}}}},
	"v824/15-setup-token-pty-retire":            {what: "a close that is confirmed wrongly", host: true},
	"v824/16-streams":                           {what: "open, emit, close, by company; what is left open"},
	"v824/17-streams-raw":                       {what: "the company of a stream, resolved", host: true, proactive: []string{"company-9"}},
	"v916/50-duplex-sdk":                        {what: "all bytes there and back, exits"},
	"v916/51-duplex-routes":                     {what: "batched with the answer, before it, answered twice; late frames", host: true},
	"v916/52-duplex-retire-ack-without-session": {what: "a close that is confirmed without the session", host: true},
	"v916/52-duplex-retire-bad-ack":             {what: "a close that is confirmed wrongly", host: true},
	"v916/52-duplex-retire-exit-forged":         {what: "an exit of another session", host: true},
	"v916/52-duplex-retire-forged-route":        {what: "a chunk of another route", host: true},
	"v916/52-duplex-retire-forged-session":      {what: "a chunk of another session", host: true},
	"v916/52-duplex-retire-missing-route-id":    {what: "a chunk of no route", host: true},
	"v916/52-duplex-retire-no-ack":              {what: "a close that is not confirmed", host: true},
	"v916/53-duplex-bounds":                     {what: "each bound of a channel", host: true, routes: &routeReplay{perRoute: boundsOfChannels, unread: true, before: beyondBounds}},
	"v916/54-duplex-slots":                      {what: "routes one after the other", host: true},
	"v916/55-duplex-worker-exit":                {what: "the end of the worker with two channels open", host: true},
	"v916/60-login-pty-sdk":                     {what: "a login, and one that is stopped"},
	"v916/61-login-pty-routes":                  {what: "two at once, one session twice, forged, without a route; too much; an open that is not answered", host: true, routes: &routeReplay{limits: Limits{PTY: RouteLimits{Total: 40}}}},
}

func noHandler(method string) string {
	ids := map[string]string{"constructor": "m2", "toString": "m3", "__proto__": "m4", "hasOwnProperty": "m5"}
	return `{"jsonrpc":"2.0","id":"` + ids[method] + `","error":{"code":-32601,"message":"Host does not handle method \"` + method + `\""}}`
}
