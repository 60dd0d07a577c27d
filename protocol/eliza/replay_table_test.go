package eliza

// recorded are the conversations of the reference that are replayed, and what is not the
// same with our ends; docs/differences.md says why.
var recorded = map[string]replay{
	"01-announce-full":         {what: "every surface is announced"},
	"02-announce-minimal":      {what: "a plugin with a name alone"},
	"03-announce-empty-arrays": {what: "empty arrays are left out, or kept"},
	"04-announce-no-name":      {what: "no name", start: "worker-announce-plugin descriptor missing name"},
	"06-id-collision": {
		what: "init adds an action under the id of another", start: "the handler action:A:1 was announced for action:A and again by init",
		hostDiffers:   map[string]string{"1": "the start has failed"},
		workerDiffers: map[string]string{"1": "the first action is called: ids are not given again"},
	},
	"07-init-message-ignored": {what: "init, and frames of the older channel"},
	"08-rpc-during-init": {
		what: "a call while init runs", hostDiffers: map[string]string{"1": "nothing is called before init-complete"},
	},
	"09-init-fail-error":      {what: "init fails with an error", start: "outer"},
	"10-init-fail-string":     {what: "init throws a string", start: "just a string"},
	"11-init-fail-code":       {what: "init fails with a code", start: "numeric code"},
	"12-action":               {what: "actions and what they are given"},
	"13-action-null-args":     {what: "null in place of args", workerDiffers: map[string]string{"*": "an engine's own words"}},
	"14-action-callback":      {what: "what an action says while it runs"},
	"15-late-callback":        {what: "what an action says afterwards", workerDiffers: map[string]string{"callback": "nobody would hear it"}},
	"16-provider":             {what: "providers"},
	"17-model":                {what: "models"},
	"18-event":                {what: "events, and a handler that fails"},
	"19-service-lazy":         {what: "services"},
	"21-evaluator":            {what: "evaluators"},
	"22-route":                {what: "endpoints"},
	"23-unknown-and-mismatch": {what: "unknown targets and other surfaces"},
	"24-tests-surface": {
		what: "the surface tests", workerDiffers: map[string]string{"*": "nothing announces a test, so that there is no such target"},
	},
	"25-errors":               {what: "33 errors"},
	"26-results":              {what: "33 results"},
	"27-request-ids":          {what: "ids of all types"},
	"28-stream-reply-ignored": {what: "a worker that does not stream"},
	"29-out-of-order":         {what: "answers in the order in which they are ready"},
	"31-big-frame":            {what: "a frame of 1 MiB"},
	"32-late-mutation":        {what: "what is added later is not announced"},
	"33-stdout-pollution": {
		what: "prints, one of them in front of a frame", ends: "text in front of a frame",
	},
	"34-hostrpc-all":      {what: "all methods of the runtime"},
	"36-hostrpc-parallel": {what: "calls of the runtime, answered in another order"},
	"37-hostrpc-timeout":  {what: "a late answer of the host"},
	"38-hmac":             {what: "signatures, right and wrong", key: testKey},
	"39-permission-denied": {
		what: "no surface is granted", granted: `{"bun":{"read":false}}`, workerDiffers: map[string]string{"10": "as of 24"},
	},
	"40-permission-read":      {what: "bun.read is granted", granted: `{"bun":{"read":true}}`, byHand: "model:AUDIT:99"},
	"41-permission-run-audit": {what: "bun.run is granted", granted: `{"bun":{"run":true}}`, byHand: "model:AUDIT:99"},
	"42-eof-exits":            {what: "the end of standard input"},
	"43-hmac-infinity-crash": {
		what: "a number that no double has, with a signature", key: testKey,
	},
	"44-unserialisable-outbound":  {what: "what JSON cannot hold"},
	"45-floating-rejection-kills": {what: "a rejection that nobody awaits"},
	"46-sigterm":                  {what: "a worker that dies of SIGTERM"},

	"bridge-01-full":                   {what: "every surface is called", workerDiffers: map[string]string{"callback": "nobody would hear it"}},
	"bridge-02-dynamic":                {what: "what init adds"},
	"bridge-03-hostrpc":                {what: "the bridge's answers"},
	"bridge-04-hostrpc-runtime-errors": {what: "the bridge's errors"},
	"bridge-05-worker-errors":          {what: "a worker's errors"},
	"bridge-06-timeout":                {what: "an answer that comes too late"},
	"bridge-07-detach":                 {what: "answers after the bridge is gone"},
	"bridge-08-action-results":         {what: "results of actions", stub: true},
	"bridge-09-provider-route-results": {what: "results of providers and endpoints", stub: true},
	"bridge-12-dynamic-mismatch":       {what: "another plugin's additions", stub: true},
	"bridge-13-unhandled-rejection":    {what: "a handler without an id", start: "descriptor.actions[0].handler.id: expected a string, got nothing"},
	"bridge-14-callback-throws":        {what: "whoever hears an action fails", stub: true},
	"bridge-15-init-failed": {
		what: "a call after init has failed", start: "with code", hostDiffers: map[string]string{"1": "the start has failed"},
	},
}

// testKey is that of the recordings.
const testKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
