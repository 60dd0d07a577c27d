// Package otlp answers one question: how does what plugins measure, and what the host
// does for them, reach an OpenTelemetry collector?
//
// A [Sender] speaks OTLP over HTTP, by OpenTelemetry's own SDK and exporters, with the
// collector that the operator has named; without one there is no Sender, and nothing
// leaves the host:
//
//	sender, err := otlp.New(otlp.Options{Endpoint: "http://localhost:4318", Version: "1.0"})
//	…
//	services.Options{Telemetry: sender}
//	actors.Options{Trace: sender.Call}
//	…
//	err = sender.Close(ctx)
//
// # What is sent
//
//	span.record      a span of the plugin's name for it, in the trace of the call in
//	                 which it was told
//	telemetry.track  a log record that is an event: it has the event's name
//	a call           a span named by the capability's key, where the host is given Sender.Call;
//	                 failed ones have the error's code, and never its words
//
// All of them have plugin.name, and company.id where there is one; a call has
// plugin.name where it was made to a plugin by name, and caller.name where a plugin made
// it. A call that comes without a trace begins one, which a Paperclip worker is told:
// only then does its SDK record spans. One whose trace says that it is not sampled is not
// sent.
//
// # What it costs
//
// Who tells never waits: what cannot be sent at once waits in a queue, one for spans and
// one for events, and what finds no room is dropped and counted ([Sender.Counts]). One
// goroutine each sends what has gathered, in batches; a collector that is not there or
// does not answer costs them their time limit, and nobody else anything. Close sends what
// is left until its context ends. Headers, which may be secrets, are in no error and in
// no log.
package otlp
