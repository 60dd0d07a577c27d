package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// known is what a host told when it initialized the worker. It is not changed; a new
// configuration makes a new one.
type known struct {
	Manifest manifest        `json:"manifest"`
	Config   json.RawMessage `json:"config"`

	// declared are the keys of what the manifest declares.
	declared map[string]bool
}

// manifest is what a worker needs of its own.
type manifest struct {
	ID    string `json:"id"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
	Jobs []struct {
		Key string `json:"jobKey"`
	} `json:"jobs"`
	Webhooks []struct {
		Key string `json:"endpointKey"`
	} `json:"webhooks"`
	Endpoints []struct {
		Key    string `json:"routeKey"`
		Method string `json:"method"`
		Path   string `json:"path"`
	} `json:"apiRoutes"`
	Drivers []struct {
		Key string `json:"driverKey"`
	} `json:"environmentDrivers"`
}

// hasDriver tells whether an environment driver is declared.
func (m *manifest) hasDriver(key string) bool {
	for _, d := range m.Drivers {
		if d.Key == key {
			return true
		}
	}
	return false
}

// endpoint returns the key "http:METHOD /path" of what the manifest calls by a key
// of its own.
func (k *known) endpoint(routeKey string) string {
	if k != nil {
		for _, e := range k.Manifest.Endpoints {
			if e.Key == routeKey {
				return kindHTTP + e.Method + " " + e.Path
			}
		}
	}
	return kindHTTP
}

// readKnown reads the parameters of initialize.
func readKnown(params json.RawMessage) (*known, error) {
	k := &known{declared: map[string]bool{}}
	if err := decode(params, k); err != nil {
		return nil, err
	}
	m := &k.Manifest
	for _, t := range m.Tools {
		k.declared[kindTool+t.Name] = true
	}
	for _, j := range m.Jobs {
		k.declared[kindJob+j.Key] = true
	}
	for _, h := range m.Webhooks {
		k.declared[kindWebhook+h.Key] = true
	}
	for _, e := range m.Endpoints {
		k.declared[k.endpoint(e.Key)] = true
	}
	return k, nil
}

// initialize makes the worker know who it is and runs the hooks of the start. It is
// tried again after a failure.
func (w *paperclipWorker) initialize(ctx context.Context, params json.RawMessage) error {
	k, err := readKnown(params)
	if err != nil {
		return err
	}
	w.known.Store(k)
	w.subscribe(ctx)
	for _, step := range []protocol.Step{protocol.StepInit, protocol.StepSetup} {
		if !w.session.Has(step) {
			continue
		}
		if err := w.session.Run(ctx, step); err != nil {
			return err
		}
	}
	w.warn(ctx, k)
	return nil
}

// subscribe asks for the events that the definition has handlers for.
func (w *paperclipWorker) subscribe(ctx context.Context) {
	for _, o := range w.definition.offers {
		if pattern, ok := strings.CutPrefix(o.Key, kindEvent); ok {
			w.subscribeTo(ctx, pattern)
		}
	}
}

// subscribeTo asks for events. As in Paperclip's SDK nobody waits for the answer; a
// refusal is a warning.
func (w *paperclipWorker) subscribeTo(ctx context.Context, pattern string) {
	params, _ := json.Marshal(map[string]any{"eventPattern": pattern, "filter": nil})
	asked, err := w.ask(ctx, "events.subscribe", params, false)
	go func() {
		ctx, cancel := context.WithTimeout(w.ctx, defaultCallTime)
		defer cancel()
		if err == nil {
			_, err = w.await(ctx, asked, nil)
		}
		if err != nil && w.ctx.Err() == nil {
			w.log.Warn("the host refused a subscription", "event", pattern, "error", err)
		}
	}()
}

// warn tells about offers by which the host cannot find the plugin, and about what the
// manifest declares and nothing answers: each call of it will fail.
func (w *paperclipWorker) warn(ctx context.Context, k *known) {
	w.warnOfDrivers(ctx, &k.Manifest)
	for _, o := range w.definition.offers {
		if err := w.offerable(o.Key, k); err != nil {
			w.log.WarnContext(ctx, "the host cannot call this", "key", o.Key, "reason", err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(k.declared)) {
		if w.session.handler(key) == nil {
			w.log.WarnContext(ctx, "nothing answers this", "key", key,
				"reason", "the manifest declares it, and the worker has no handler for it: register one, or remove it there")
		}
	}
}

// warnOfDrivers is warn for environment drivers.
func (w *paperclipWorker) warnOfDrivers(ctx context.Context, m *manifest) {
	for _, key := range slices.Sorted(maps.Keys(w.definition.environments)) {
		if !m.hasDriver(key) {
			w.log.WarnContext(ctx, "the host cannot call this", "key", kindEnvironment+key,
				"reason", fmt.Sprintf("a Paperclip host learns of it by the manifest alone: declare %q among its environmentDrivers", key))
		}
	}
	for _, d := range m.Drivers {
		if _, ok := w.definition.environments[d.Key]; !ok {
			w.log.WarnContext(ctx, "nothing answers this", "key", kindEnvironment+d.Key,
				"reason", "the manifest declares it, and the worker has no such driver: add one by plugin.Environment, or remove it there")
		}
	}
}

// offerable tells why a host does not find what is offered under a key, if so.
func (w *paperclipWorker) offerable(key string, k *known) error {
	kind, name, _ := strings.Cut(key, ":")
	list := map[string]string{"tool": "tools", "job": "jobs", "webhook": "webhooks", "http": "apiRoutes"}[kind]
	switch {
	case kind == "environment" && environmentMethod(key) == "":
		return w.fault(protocol.CodeInvalid, key+": expected environment:DRIVER.hook")
	case slices.Contains([]string{"data", "action", "event", "environment"}, kind), k == nil, k.declared[key]:
		return nil
	case list != "":
		return w.fault(protocol.CodeNotFound, fmt.Sprintf("%s: a Paperclip host learns of it by the manifest alone: declare %q among its %s", key, name, list))
	}
	return w.fault(protocol.CodeNotFound, fmt.Sprintf(
		"%s: a Paperclip host has no call for it: expected one of the kinds tool, action, data, job, webhook, http, event and environment", key))
}

// configChanged takes a new configuration and sets the plugin up with it.
func (w *paperclipWorker) configChanged(ctx context.Context, params json.RawMessage) error {
	changed := known{}
	if k := w.known.Load(); k != nil {
		changed = *k
	}
	_, changed.Config = pick(params, "", "config")
	w.known.Store(&changed)
	if !w.session.Has(protocol.StepSetup) {
		return nil
	}
	return w.session.Run(ctx, protocol.StepSetup)
}

// validateConfig asks the plugin about a configuration.
func (w *paperclipWorker) validateConfig(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	_, config := pick(params, "", "config")
	verdict := struct {
		OK     bool     `json:"ok"`
		Errors []string `json:"errors,omitempty"`
	}{}
	for _, err := range each(w.definition.validate(ctx, w.session, config)) {
		verdict.Errors = append(verdict.Errors, err.Error())
	}
	verdict.OK = len(verdict.Errors) == 0
	return json.Marshal(verdict)
}

// each returns the errors that were joined to one.
func each(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

func (w *paperclipWorker) health(ctx context.Context) (json.RawMessage, error) {
	h, err := w.definition.health(ctx, w.session)
	if err != nil {
		return nil, err
	}
	if h.Status == "" {
		h.Status = HealthOK
	}
	return json.Marshal(h)
}
