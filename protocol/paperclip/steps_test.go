package paperclip

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

const initialize = `{"manifest":{"id":"lab","environmentDrivers":[{"driverKey":"e1"},{"driverKey":" "},7],` +
	`"apiRoutes":[{"routeKey":"items","method":"GET","path":"/items/:id"},{"routeKey":"all","method":"post","path":"/items"}]},` +
	`"config":{},"instanceInfo":{},"apiVersion":1,"databaseNamespace":null}`

// setUp is a worker that has answered initialize.
func setUp(t *testing.T, p Plugin, supported string) rig {
	t.Helper()
	r := newRig(t, p, protocol.Settings{})
	require.Equal(t, []string{`send {"id":1,"method":"initialize","params":` + initialize + `}`}, r.setup())
	out := r.receive(`{"id":1,"result":{"ok":true,"supportedMethods":` + supported + `}}`)
	require.Equal(t, "ran setup ok", out[len(out)-1])
	return r
}

func (r rig) setup() []string {
	r.t.Helper()
	return r.step(protocol.Run{Step: protocol.StepSetup, Params: raw(initialize)})
}

func (r rig) supported() []string {
	r.t.Helper()
	d, ok := r.d.(interface{ SupportedMethods() []string })
	require.True(r.t, ok)
	return d.SupportedMethods()
}

func TestSteps_loadAndInitAreOverAtOnce(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	require.Equal(t, []string{"ran load ok"}, r.step(protocol.Run{Step: protocol.StepLoad}))
	require.Equal(t, []string{"ran init ok"}, r.step(protocol.Run{Step: protocol.StepInit}))
	require.Equal(t, []string{`ran nap error invalid: plugin lab: expected one of the steps load, init, setup and stop, got "nap"`},
		r.step(protocol.Run{Step: "nap"}))
}

func TestSteps_setupNeedsItsParameters(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	require.Equal(t, []string{"ran setup error invalid: plugin lab: initialize: expected {manifest, config, instanceInfo, apiVersion, " +
		"databaseNamespace} as the step's parameters, got none"}, r.step(protocol.Run{Step: protocol.StepSetup}))
}

func TestSteps_setupKeepsWhatTheWorkerReports(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	require.Nil(t, r.supported())
	r.setup()
	require.Equal(t, []string{
		"offered environment:e1.probe", "offered environment:e1.execute", "ran setup ok",
	}, r.receive(`{"id":1,"result":{"ok":true,"supportedMethods":["handleApiRequest","environmentExecute",7,"environmentProbe","health","x"]}}`))
	require.Equal(t, []string{"handleApiRequest", "environmentExecute", "environmentProbe", "health", "x"}, r.supported())
	r.step(protocol.Closed{})
	require.Len(t, r.supported(), 5)
}

// A worker must hear what it has subscribed to from the moment that it is ready.
func TestSteps_setupEndsWhenTheSubscriptionsAreKnown(t *testing.T) {
	r := newRig(t, Plugin{Grants: []string{"events.subscribe"}}, protocol.Settings{})
	subscribe := func(id string) {
		t.Helper()
		require.Len(t, r.receive(`{"id":`+id+`,"method":"events.subscribe","params":{"eventPattern":"a"}}`), 1)
	}
	begin := func() {
		t.Helper()
		r.setup()
		subscribe("7")
		subscribe("8")
		require.Len(t, r.receive(`{"id":9,"method":"log","params":{}}`), 1, "what else is asked is not waited for")
		require.Empty(t, r.receive(`{"id":1,"result":{"ok":true,"supportedMethods":["handleApiRequest"]}}`))
	}
	begin()
	require.Equal(t, []string{`send {"id":8,"error":{"code":-32603,"message":"no"}}`}, r.reply(2, "", errors.New("no")))
	require.Equal(t, []string{`send {"id":7,"result":null}`, "ran setup ok"}, r.reply(1, "null", nil))
	subscribe("10")
	require.Equal(t, []string{`send {"id":10,"result":null}`}, r.reply(4, "null", nil), "it is told once")

	r = newRig(t, Plugin{Grants: []string{"events.subscribe"}}, protocol.Settings{})
	begin()
	require.Equal(t, []string{`send {"id":2,"method":"shutdown","params":{}}`}, r.step(protocol.Run{Step: protocol.StepStop}))
	require.Equal(t, []string{`send {"id":7,"result":null}`}, r.reply(1, "null", nil))
	require.Equal(t, []string{`send {"id":8,"result":null}`}, r.reply(2, "null", nil), "nobody waits for the setup any more")
	subscribe("11")
	require.Equal(t, []string{"ran stop ok"}, r.receive(`{"id":2,"result":null}`))

	r = newRig(t, Plugin{Grants: []string{"events.subscribe"}}, protocol.Settings{})
	begin()
	require.Contains(t, r.step(protocol.Closed{Err: errors.New("gone")})[0], "ran setup error outcome-unknown: ")
}

func TestSteps_whatIsReportedIsBounded(t *testing.T) {
	r := setUp(t, Plugin{}, `["a"`+strings.Repeat(`,"b"`, 2*maxSupported)+`]`)
	require.Len(t, r.supported(), maxSupported)
}

func TestSteps_setupFails(t *testing.T) {
	for answer, want := range map[string]string{
		`"result":{"ok":false}`: `error Worker initialize failed for "lab": Worker initialize returned ok=false`,
		`"result":null`:         `error Worker initialize failed for "lab": Worker initialize returned ok=false`,
		`"result":{}`:           `error Worker initialize failed for "lab": Worker initialize returned ok=false`,
		`"error":{"code":-32002,"message":"setup said no"}`: `error Worker initialize failed for "lab": setup said no`,
		`"error":null`: `error wire: plugin lab: Unexpected response format for "initialize": expected a result, or an error that is an object`,
	} {
		r := newRig(t, Plugin{}, protocol.Settings{})
		r.setup()
		require.Equal(t, []string{"ran setup " + want}, r.receive(`{"id":1,`+answer+`}`))
		require.Nil(t, r.supported())
		require.Len(t, r.setup(), 1, "it may be tried again")
	}
}

func TestSteps_stopAsksForShutdown(t *testing.T) {
	r := setUp(t, Plugin{}, `[]`)
	r.call(1, "")
	require.Equal(t, []string{`send {"id":3,"method":"shutdown","params":{}}`}, r.step(protocol.Run{Step: protocol.StepStop}))
	require.Equal(t, []string{"ran stop ok"}, r.receive(`{"id":3,"result":null}`))
	require.Equal(t, []string{"complete 1 ok 2"}, r.receive(`{"id":2,"result":2}`))
	require.Equal(t, []string{"dropped late-answer 3"}, r.receive(`{"id":3,"result":null}`))
}

func TestSteps_runOneAtATime(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.setup()
	require.Equal(t, []string{"ran stop error invalid: plugin lab: step stop was asked for while setup runs; a worker passes through one step at a time"},
		r.step(protocol.Run{Step: protocol.StepStop}))
}

func TestSteps_endWithTheConnection(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.setup()
	require.Equal(t, []string{"ran setup error outcome-unknown: plugin lab ended while setup was in flight; it may have run: exit 1"},
		r.step(protocol.Closed{Err: errors.New("exit 1")}))
}

func TestSteps_endpointsGoWhenTheWorkerAnswersNoRequests(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.setup()
	require.Equal(t, []string{"retracted http:GET /items/:id", "retracted http:POST /items", "ran setup ok"},
		r.receive(`{"id":1,"result":{"ok":true}}`))
}

const configured = `{"manifest":{"id":"lab"},"config":{"url":"x"}}`

// configure is a worker that begins with a configuration, or gets another one.
func (r rig) configure() []string {
	r.t.Helper()
	return r.step(protocol.Run{Step: protocol.StepSetup, Params: raw(configured)})
}

func TestSteps_theFirstConfigurationIsValidatedWhereTheHostWants(t *testing.T) {
	for _, asks := range []bool{true, false} {
		r := newRig(t, Plugin{ValidateConfig: asks}, protocol.Settings{})
		r.configure()
		out := r.receive(`{"id":1,"result":{"ok":true,"supportedMethods":["validateConfig"]}}`)
		if !asks {
			require.Equal(t, []string{"ran setup ok"}, out)
			continue
		}
		require.Equal(t, []string{`send {"id":2,"method":"validateConfig","params":{"config":{"url":"x"}}}`}, out)
		require.Equal(t, []string{"ran setup ok"}, r.receive(`{"id":2,"result":{"ok":true}}`))
	}
}

func TestSteps_anEmptyConfigurationIsNotValidated(t *testing.T) {
	r := setUp(t, Plugin{ValidateConfig: true}, `["validateConfig"]`)
	require.Equal(t, []string{`send {"id":2,"method":"configChanged","params":{"config":{}}}`}, r.setup())
}

func TestSteps_aChangedConfigurationIsValidatedThenTold(t *testing.T) {
	r := setUp(t, Plugin{}, `["validateConfig"]`)
	require.Equal(t, []string{`send {"id":2,"method":"validateConfig","params":{"config":{"url":"x"}}}`}, r.configure())
	require.Equal(t, []string{`send {"id":3,"method":"configChanged","params":{"config":{"url":"x"}}}`},
		r.receive(`{"id":2,"result":{"ok":true,"warnings":["old"]}}`))
	require.Equal(t, []string{"ran setup ok"}, r.receive(`{"id":3,"result":null}`))
}

// What the worker has said yes to a moment ago is not asked about again.
func TestSteps_aConfigurationThatWasValidatedIsTold(t *testing.T) {
	const changed = `send {"id":3,"method":"configChanged","params":{"config":{"url":"x"}}}`
	for answer, want := range map[string]string{
		`{"ok":true}`:  changed,
		`{"ok":false}`: `send {"id":3,"method":"validateConfig","params":{"config":{"url":"x"}}}`,
	} {
		r := setUp(t, Plugin{}, `["validateConfig"]`)
		question := Dialect{}.Validation(protocol.Module{}, protocol.Config{Full: json.RawMessage(`{"url":"x"}`)})
		r.step(protocol.Invoke{ID: 1, Call: question})
		r.receive(`{"id":2,"result":` + answer + `}`)
		require.Equal(t, []string{want}, r.configure())
	}
	r := setUp(t, Plugin{}, `["validateConfig"]`)
	r.step(protocol.Invoke{ID: 1, Call: Dialect{}.Validation(protocol.Module{}, protocol.Config{Full: json.RawMessage(`{"url":"y"}`)})})
	r.receive(`{"id":2,"result":{"ok":true}}`)
	require.Equal(t, []string{`send {"id":3,"method":"validateConfig","params":{"config":{"url":"x"}}}`}, r.configure(), "that was another one")
}

func TestSteps_aConfigurationIsRefused(t *testing.T) {
	for answer, want := range map[string]string{
		`"result":{"ok":false,"errors":["no url"," ",7,"no key"]}`: "plugin lab refuses its configuration: no url; no key",
		`"result":{"ok":false}`:                        "plugin lab refuses its configuration: it gives no reason",
		`"error":{"code":-32002,"message":"it threw"}`: "plugin lab: validateConfig failed: it threw",
	} {
		r := setUp(t, Plugin{}, `["validateConfig"]`)
		r.configure()
		require.Equal(t, []string{"ran setup error configuration: " + want}, r.receive(`{"id":2,`+answer+`}`))
	}
}
