package paperclip

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// running is a step that waits for the worker's answer.
type running struct {
	step   protocol.Step
	method string
	// params are those of the method.
	params json.RawMessage
	// number is the step's own among the host's calls; see driver.last.
	number uint64
	// next are the methods that follow, in order.
	next []ask
}

// ask is a method that a step calls.
type ask struct {
	method string
	params json.RawMessage
}

// run asks the worker to initialize or to shut down. It has no word for the other
// steps, so they are over at once.
func (d *driver) run(in protocol.Run, out []protocol.Effect) []protocol.Effect {
	if d.running.step != "" {
		return append(out, protocol.Ran{Step: in.Step, Err: d.settings.Fault(protocol.CodeInvalid, fmt.Sprintf(
			"step %s was asked for while %s runs; a worker passes through one step at a time", in.Step, d.running.step))})
	}
	d.done = protocol.Ran{} // nobody waits for that any more
	switch in.Step {
	case protocol.StepLoad, protocol.StepInit:
		return append(out, protocol.Ran{Step: in.Step})
	case protocol.StepSetup:
		if in.Params == nil {
			return append(out, protocol.Ran{Step: in.Step, Err: d.settings.Fault(protocol.CodeInvalid,
				"initialize: expected {manifest, config, instanceInfo, apiVersion, databaseNamespace} as the step's parameters, got none")})
		}
		return d.ask(in.Step, d.setup(in.Params), out)
	case protocol.StepStop:
		return d.ask(in.Step, []ask{{methodShutdown, json.RawMessage(`{}`)}}, out)
	}
	return append(out, protocol.Ran{Step: in.Step, Err: d.settings.Fault(protocol.CodeInvalid,
		fmt.Sprintf("expected one of the steps load, init, setup and stop, got %q", string(in.Step)))})
}

// setup is what a worker is asked to begin with or, if it has begun, when its
// configuration changes.
func (d *driver) setup(params json.RawMessage) []ask {
	if !d.isInitialized {
		d.readManifest(member(params, "manifest"))
		return []ask{{methodInitialize, params}}
	}
	config := newObject().raw("config", member(params, "config")).done()
	changed := ask{methodConfigChanged, config}
	if asked := d.valid; asked != nil && bytes.Equal(asked, config) { // a moment ago
		d.valid = nil
		return []ask{changed}
	}
	return append(d.validation(config), changed)
}

func (d *driver) firstValidation(params json.RawMessage) []ask {
	if !d.plugin.ValidateConfig {
		return nil
	}
	return d.validation(newObject().raw("config", member(params, "config")).done())
}

// validation asks the plugin whether it takes a configuration, if it can tell. None
// at all is no configuration to refuse.
func (d *driver) validation(config json.RawMessage) []ask {
	isEmpty := true
	eachMember(member(config, "config"), func(string, json.RawMessage) { isEmpty = false })
	if isEmpty || !slices.Contains(d.supported, methodValidateConfig) {
		return nil
	}
	return []ask{{methodValidateConfig, config}}
}

// ask calls the first of a step's methods; the others follow its answer.
func (d *driver) ask(step protocol.Step, methods []ask, out []protocol.Effect) []protocol.Effect {
	d.last++
	first := methods[0]
	d.running = running{step: step, method: first.method, params: first.params, number: d.last, next: methods[1:]}
	return append(out, protocol.Send{Message: Request{ID: d.wireID(), Method: first.method, Params: first.params}})
}

// ran takes the answer to a method of the step that runs.
func (d *driver) ran(result json.RawMessage, err error, out []protocol.Effect) []protocol.Effect {
	was := d.running
	d.running = running{}
	switch was.method {
	case methodInitialize:
		if err = d.initializeFailure(result, err); err == nil {
			out = d.initialized(result, out)
			was.next = d.firstValidation(was.params)
		}
	case methodValidateConfig, methodConfigChanged:
		err = d.refusal(was.method, result, err)
	}
	if err == nil && len(was.next) > 0 {
		return d.ask(was.step, was.next, out)
	}
	d.done = protocol.Ran{Step: was.step, Err: err}
	return d.finish(out)
}

// finish ends the step that is done. A setup waits until what the worker has
// subscribed to in it is known, since it must hear all of that from then on: the SDK
// does not wait for it.
func (d *driver) finish(out []protocol.Effect) []protocol.Effect {
	if d.done.Step == "" || d.done.Step == protocol.StepSetup && d.done.Err == nil && d.subscribes() {
		return out
	}
	out = append(out, d.done)
	d.done = protocol.Ran{}
	return out
}

// subscribes tells whether the worker's subscription to an event is in flight.
func (d *driver) subscribes() bool {
	for r := range d.requests.All() {
		if r.method == methodSubscribe {
			return true
		}
	}
	return false
}

// initializeFailure is why a worker did not begin, in the reference host's words.
func (d *driver) initializeFailure(result json.RawMessage, err error) error {
	if err == nil && truthy(member(result, "ok")) {
		return nil
	}
	failed := protocol.PeerError{Message: "Worker initialize returned ok=false", Data: result}
	if err != nil {
		said, ok := errors.AsType[*protocol.PeerError](err)
		if !ok {
			return err
		}
		failed = *said
	}
	failed.Message = fmt.Sprintf("Worker initialize failed for %q: %s", d.settings.Plugin, failed.Message)
	return &failed
}

// refusal is why the plugin does not take its configuration.
func (d *driver) refusal(method string, result json.RawMessage, err error) error {
	switch {
	case err != nil:
		refused := d.settings.Fault(protocol.CodeConfiguration, method+" failed")
		refused.Err = err
		return refused
	case method == methodConfigChanged || truthy(member(result, "ok")):
		return nil
	}
	var reasons []string
	eachItem(member(result, "errors"), func(value json.RawMessage) {
		if reason := nonBlank(value); reason != "" && len(reasons) < maxReasons {
			reasons = append(reasons, clip(reason))
		}
	})
	if len(reasons) == 0 {
		reasons = []string{"it gives no reason"}
	}
	return d.settings.Fault(protocol.CodeConfiguration,
		fmt.Sprintf("plugin %s refuses its configuration: %s", d.settings.Plugin, strings.Join(reasons, "; ")))
}

// maxReasons is how many reasons of a refusal are told.
const maxReasons = 5

// maxSupported is how many methods a worker may report; further ones are passed
// over. The SDK knows about fifty.
const maxSupported = 256

// initialized keeps what the worker can do, and offers the hooks of the
// environments that its manifest declares. All else that a plugin offers stands in
// its manifest, or is known to nobody but its worker.
//
// The endpoints of the manifest are withdrawn if the worker answers no requests.
func (d *driver) initialized(result json.RawMessage, out []protocol.Effect) []protocol.Effect {
	d.isInitialized, d.supported = true, []string{}
	eachItem(member(result, "supportedMethods"), func(value json.RawMessage) {
		if name, ok := text(value); ok && len(d.supported) < maxSupported {
			d.supported = append(d.supported, cut(name, maxExcerpt))
		}
	})
	if !slices.Contains(d.supported, methodAPIRequest) {
		for _, e := range d.endpoints {
			out = append(out, protocol.Retracted{Key: kindHTTP + ":" + strings.ToUpper(e.method) + " " + e.path})
		}
	}
	for _, environment := range d.environments {
		for _, hook := range hooks {
			name, ok := strings.CutPrefix(hook, environmentPrefix)
			if ok && slices.Contains(d.supported, hook) {
				out = append(out, protocol.Offered{Offer: protocol.Offer{
					Key: kindEnvironment + ":" + environment + "." + lowerFirst(name), Invocable: true,
				}})
			}
		}
	}
	return out
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// endpoint is one of the HTTP endpoints that a manifest declares.
type endpoint struct{ key, method, path string }

// readManifest keeps what this wire needs of the manifest: the key of each HTTP
// endpoint, and the drivers of environments.
func (d *driver) readManifest(manifest json.RawMessage) {
	d.endpoints, d.environments = nil, nil
	eachItem(member(manifest, "apiRoutes"), func(route json.RawMessage) {
		d.endpoints = append(d.endpoints, endpoint{
			key:    nonBlank(member(route, "routeKey")),
			method: nonBlank(member(route, "method")),
			path:   nonBlank(member(route, "path")),
		})
	})
	eachItem(member(manifest, "environmentDrivers"), func(declared json.RawMessage) {
		if key := nonBlank(member(declared, "driverKey")); key != "" {
			d.environments = append(d.environments, key)
		}
	})
}
