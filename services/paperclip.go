package services

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// Options say what the services work on. The zero value works: everything is in
// memory, nothing is configured, and no secret is declared.
type Options struct {
	// Config returns the configuration of a plugin for a company ("" where there is
	// none) as a JSON object. Nil, and a nil result, stand for {}.
	Config func(plugin, company string) json.RawMessage
	// Store keeps what plugins put into their state; nil is a [Memory] with its
	// defaults.
	Store Store
	// Entities keep what entities.upsert gives; nil leaves out entities.*.
	Entities Entities
	// Auditor keeps what activity.log tells; nil leaves that out. Activities is how many
	// records a plugin may make in a minute; 0 means 600.
	Auditor    Auditor
	Activities int
	// Metrics collect measurements; nil is a collection that nobody can look at.
	Metrics *Metrics
	// Telemetry takes what telemetry.track and span.record tell, beside the Metrics; nil
	// sends nothing on. See package otlp.
	Telemetry Telemetry
	// Secrets are what secrets.resolve may give out.
	Secrets Secrets
	// HTTP are the limits of http.fetch.
	HTTP HTTP
	// Folders are what localFolders.* may use.
	Folders Folders
	// Eliza are limits of the runtime of elizaOS's workers.
	Eliza Eliza
}

// Paperclip returns the services of a Paperclip worker's methods, by wire method name.
// A host calls it once: limits for each plugin are kept by what it returns. What an
// invoked capability fails with is passed on, [protocol.CodeNotFound] too: the dialect
// has to know by name which methods there are, and not by that code.
func Paperclip(p protocol.Plugins, o Options) map[string]protocol.Service {
	o = o.withDefaults()
	state, events := stateService{o.Store}, eventService{p}
	measures, invoker := measureService{o.Metrics, o.Telemetry}, invoker{p}
	all := map[string]protocol.Service{
		"config.get":       protocol.ServiceFunc(o.config),
		"state.get":        state.reads(),
		"state.set":        state.service(state.set),
		"state.delete":     state.service(state.delete),
		"events.emit":      protocol.PublishingFunc(events.emit),
		"events.subscribe": protocol.ServiceFunc(events.subscribe),
		"log":              protocol.ServiceFunc(logService{p}.log),
		"metrics.write":    protocol.QuickFunc(measures.write),
		"telemetry.track":  protocol.QuickFunc(measures.track),
		"span.record":      protocol.QuickFunc(measures.span),
		"http.fetch":       protocol.ServiceFunc(newFetcher(invoker, o.HTTP).fetch),
		"secrets.resolve":  protocol.ServiceFunc(newSecretService(o.Secrets).resolve),
		"airi-host.invoke": protocol.ServiceFunc(invoker.invoke),
	}
	if o.Entities != nil {
		entities := entityService{o.Entities}
		all["entities.upsert"] = protocol.ServiceFunc(entities.upsert)
		all["entities.list"] = protocol.ServiceFunc(entities.list)
	}
	if o.Auditor != nil {
		activity := activityService{o.Auditor, newWindow(orDefault(o.Activities, defaultActivities), time.Minute)}
		all["activity.log"] = protocol.ServiceFunc(activity.log)
	}
	maps.Copy(all, newFolderService(o.Folders).services())
	maps.Copy(all, databases())
	return all
}

func (o Options) withDefaults() Options {
	if o.Config == nil {
		o.Config = func(string, string) json.RawMessage { return nil }
	}
	if o.Store == nil {
		o.Store = NewMemory(MemoryLimits{})
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(0)
	}
	return o
}

// config serves config.get: {companyId?} → the configuration.
func (o Options) config(_ context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	if in.err != nil {
		return nil, in.err
	}
	if config := o.Config(call.Caller, in.company()); config != nil {
		return config, nil
	}
	return json.RawMessage("{}"), nil
}

// orDefault is a limit as it is set, or its default where it is not.
func orDefault[N ~int | ~int64](limit, otherwise N) N {
	if limit <= 0 {
		return otherwise
	}
	return limit
}

// databases are the methods of what this host has not got: they say what to do without.
func databases() map[string]protocol.Service {
	none := protocol.ServiceFunc(func(_ context.Context, call protocol.Call) (json.RawMessage, error) {
		if in := read(call); in.err != nil {
			return nil, in.err
		}
		return nil, faultf(call, protocol.CodeInvalid,
			"this host has no database for plugins: keep values by state.set, and what is searched for by entities.upsert")
	})
	return map[string]protocol.Service{"db.namespace": none, "db.query": none, "db.execute": none}
}
