package paperclip

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// running is a step that waits for the worker's answer.
type running struct {
	step   protocol.Step
	method string
	// number is the step's own among the host's calls; see driver.last.
	number uint64
}

// run asks the worker to initialize or to shut down. It has no word for the other
// steps, so they are over at once.
func (d *driver) run(in protocol.Run, out []protocol.Effect) []protocol.Effect {
	if d.running.step != "" {
		return append(out, protocol.Ran{Step: in.Step, Err: d.fault(protocol.CodeInvalid, fmt.Sprintf(
			"step %s was asked for while %s runs; a worker passes through one step at a time", in.Step, d.running.step))})
	}
	switch in.Step {
	case protocol.StepLoad, protocol.StepInit:
		return append(out, protocol.Ran{Step: in.Step})
	case protocol.StepSetup:
		if in.Params == nil {
			return append(out, protocol.Ran{Step: in.Step, Err: d.fault(protocol.CodeInvalid,
				"initialize: expected {manifest, config, instanceInfo, apiVersion, databaseNamespace} as the step's parameters, got none")})
		}
		d.readManifest(member(in.Params, "manifest"))
		return d.ask(in.Step, methodInitialize, in.Params, out)
	case protocol.StepStop:
		return d.ask(in.Step, methodShutdown, json.RawMessage(`{}`), out)
	}
	return append(out, protocol.Ran{Step: in.Step, Err: d.fault(protocol.CodeInvalid,
		fmt.Sprintf("expected one of the steps load, init, setup and stop, got %q", string(in.Step)))})
}

func (d *driver) ask(step protocol.Step, method string, params json.RawMessage, out []protocol.Effect) []protocol.Effect {
	d.last++
	d.running = running{step: step, method: method, number: d.last}
	return append(out, protocol.Send{Message: Request{ID: d.wireID(), Method: method, Params: params}})
}

// ran takes the end of the step that runs.
func (d *driver) ran(result json.RawMessage, err error, out []protocol.Effect) []protocol.Effect {
	step := d.running.step
	d.running = running{}
	if step == protocol.StepSetup && err == nil {
		if !truthy(member(result, "ok")) {
			// The reference host's words.
			err = &protocol.PeerError{Message: "Worker initialize returned ok=false", Data: result}
		} else {
			out = d.initialized(result, out)
		}
	}
	return append(out, protocol.Ran{Step: step, Err: err})
}

// maxSupported is how many methods a worker may report; further ones are passed
// over. The SDK knows about fifty.
const maxSupported = 256

// initialized keeps what the worker can do, and offers the hooks of the
// environments that its manifest declares. All else that a plugin offers stands in
// its manifest, or is known to nobody but its worker.
func (d *driver) initialized(result json.RawMessage, out []protocol.Effect) []protocol.Effect {
	d.supported = []string{}
	eachItem(member(result, "supportedMethods"), func(value json.RawMessage) {
		if name, ok := text(value); ok && len(d.supported) < maxSupported {
			d.supported = append(d.supported, cut(name, maxExcerpt))
		}
	})
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
