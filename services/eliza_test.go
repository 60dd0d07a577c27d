package services

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/internal/logtest"
	"github.com/airi-host/airi-host/protocol"
)

// directory is what plugins offer.
type directory []capability.Offer

func (d directory) Offers() []capability.Offer { return d }

func ready(key, about string) capability.Offer {
	o := capability.Offer{Key: capability.Key(key), State: stateReady}
	if about != "" {
		o.Metadata = json.RawMessage(about)
	}
	return o
}

func newElizaWorker(t *testing.T, p *plugins, d directory, o Options) worker {
	t.Helper()
	if p.log == nil {
		p.log = slog.DiscardHandler
	}
	return worker{t: t, services: ElizaRuntime(p, d, o), name: "demo", scope: "c1"}
}

func TestEliza_getServiceTellsWhetherOneIsThere(t *testing.T) {
	gone := ready("service:gone.now", "")
	gone.State = "degraded"
	w := newElizaWorker(t, &plugins{}, directory{ready("service:clock.now", ""), gone}, Options{})
	require.Equal(t, `{"available":true}`, w.call("getService", `{"serviceType":"clock"}`))
	for _, none := range []string{"cloc", "clock.", "gone", "clock.now"} {
		require.Equal(t, "null", w.call("getService", `{"serviceType":"`+none+`"}`), none)
	}
	w.wantRefused(protocol.CodeInvalid, "getService", `{}`, "serviceType: expected a string that is not blank")
}

func TestEliza_useModelCallsTheModel(t *testing.T) {
	p := &plugins{onInvoke: func(protocol.Call) (json.RawMessage, error) { return json.RawMessage(`"hi"`), nil }}
	w := newElizaWorker(t, p, nil, Options{})
	require.Equal(t, `"hi"`, w.call("useModel", `{"modelType":"TEXT_SMALL","params":{"prompt":"x"}}`))
	require.Equal(t, protocol.Call{
		Key: "model:TEXT_SMALL", Input: json.RawMessage(`{"prompt":"x"}`), Scope: "c1", Caller: "demo", Trace: "00-aa-bb-01",
	}, p.invoked[0])
	w.wantRefused(protocol.CodeInvalid, "useModel", `{"modelType":" "}`, "modelType")
	w.call("useModel", `{"modelType":"TEXT_SMALL","params":1,"timeoutMs":60000}`)
	require.WithinDuration(t, time.Now().Add(time.Minute), p.invoked[1].Deadline, 30*time.Second)
}

func TestEliza_invokeCallsAnything(t *testing.T) {
	p := &plugins{}
	w := newElizaWorker(t, p, nil, Options{})
	w.call("invoke", `{"key":"tool:greet","input":{"name":"Ada"},"plugin":"greeter"}`)
	require.Equal(t, "tool:greet", p.invoked[0].Key)
	require.Equal(t, "greeter", p.invoked[0].Plugin)
	require.Equal(t, "demo", p.invoked[0].Caller)
}

func TestEliza_actionCallbackOfNoActionThatRuns(t *testing.T) {
	newElizaWorker(t, &plugins{}, nil, Options{}).wantRefused(protocol.CodeNotFound, "actionCallback", `{"callbackId":"x"}`, "no action that runs")
}

func TestEliza_emitEventTellsAll(t *testing.T) {
	p := &plugins{}
	w := newElizaWorker(t, p, nil, Options{})
	require.Equal(t, "null", w.call("emitEvent", `{"name":"clock.set","payload":{"n":1}}`))
	require.Equal(t, "null", w.call("emitEvent", `{"name":"bare"}`))
	require.Equal(t, "event:clock.set", p.published[0].Key)
	require.JSONEq(t, `{"n":1}`, string(p.published[0].Input))
	require.Equal(t, "demo", p.published[0].Caller)
	for _, payload := range []string{"null", "1", `"x"`, "[]"} {
		w.wantRefused(protocol.CodeInvalid, "emitEvent", `{"name":"e","payload":`+payload+`}`, "payload: expected an object, or none")
	}
	_, ok := w.services["emitEvent"].(protocol.PublishingService)
	require.True(t, ok, "events of one plugin are heard in their order")
}

func TestEliza_settings(t *testing.T) {
	config := func(plugin, _ string) json.RawMessage {
		return json.RawMessage(`{"city":"Paris","of":"` + plugin + `"}`)
	}
	w := newElizaWorker(t, &plugins{}, nil, Options{Config: config})
	require.Equal(t, `"Paris"`, w.call("getSetting", `{"key":"city"}`))
	require.Equal(t, `null`, w.call("getSetting", `{"key":"nothing"}`))
	require.Equal(t, `null`, w.call("setSetting", `{"key":"city","value":{"name":"Rome"}}`))
	require.Equal(t, `{"name":"Rome"}`, w.call("getSetting", `{"key":"city"}`))
	require.Equal(t, `null`, w.call("setSetting", `{"key":"city","value":null}`))
	require.Equal(t, `null`, w.call("getSetting", `{"key":"city"}`), "what was set is set, null too")
	w.wantRefused(protocol.CodeInvalid, "setSetting", `{"key":"city"}`, "value: is missing")
	other := w
	other.name = "other"
	require.Equal(t, `"Paris"`, other.call("getSetting", `{"key":"city"}`), "a plugin's settings are its own")
}

func TestEliza_memories(t *testing.T) {
	w := newElizaWorker(t, &plugins{}, nil, Options{})
	const some = `{"memory":{"entityId":"e","roomId":"r","content":{"text":"\ud800"}}`
	var id string
	require.NoError(t, json.Unmarshal([]byte(w.call("createMemory", some+`,"tableName":null}`)), &id))
	require.JSONEq(t, `{"entityId":"e","roomId":"r","content":{"text":"\ud800"},"id":"`+id+`"}`, w.call("getMemory", `{"memoryId":"`+id+`"}`))
	require.NotEqual(t, `"`+id+`"`, w.call("createMemory", some+`}`))
	require.Equal(t, `"m1"`, w.call("createMemory", `{"memory":{"id":"m1","entityId":"e","roomId":"r","content":{}},"tableName":"facts"}`))
	require.Equal(t, "null", w.call("updateMemory", `{"memory":{"id":"m1","content":{"text":"new"}}}`))
	require.JSONEq(t, `{"id":"m1","entityId":"e","roomId":"r","content":{"text":"new"}}`, w.call("getMemory", `{"memoryId":"m1"}`))
	require.Equal(t, "null", w.call("getMemory", `{"memoryId":"none"}`))
	for params, words := range map[string]string{
		`{}`:                          "memory: expected an object",
		`{"memory":{"roomId":"r"}}`:   "memory.entityId: expected a string",
		`{"memory":{"entityId":"e"}}`: "memory.roomId: expected a string",
		`{"memory":{"entityId":"e","roomId":"r"}}`:              "memory.content: expected an object",
		`{"memory":{"entityId":"e","roomId":"r","content":[]}}`: "memory.content: expected an object",
		some + `,"tableName":5}`:                                "tableName: expected a string",
	} {
		w.wantRefused(protocol.CodeInvalid, "createMemory", params, words)
	}
	w.wantRefused(protocol.CodeInvalid, "updateMemory", `{"memory":{}}`, "memory.id")
	w.wantRefused(protocol.CodeNotFound, "updateMemory", `{"memory":{"id":"none"}}`, "there is no such memory")
	other := w
	other.name = "other"
	require.Equal(t, "null", other.call("getMemory", `{"memoryId":"m1"}`), "a plugin's memories are its own")
}

// saying are providers that say what stands behind their key.
func saying(answers map[string]string) *plugins {
	return &plugins{onInvoke: func(c protocol.Call) (json.RawMessage, error) {
		if words, ok := answers[c.Key]; ok {
			return json.RawMessage(words), nil
		}
		return nil, &protocol.Error{Code: protocol.CodeNotReady, Message: "no"}
	}}
}

func TestEliza_composeStateAsksTheProvidersOfAll(t *testing.T) {
	p := saying(map[string]string{
		"provider:A": `{"text":"a ","values":{"x":1,"y":1}}`, "provider:B": `{"text":"b","values":{"x":2},"data":{"d":1}}`,
		"provider:D": `{"text":"dynamic"}`, "provider:P": `{}`,
	})
	d := directory{
		ready("provider:B", `{"position":5}`), ready("provider:A", `{"position":-1}`), ready("provider:B", ""), ready("tool:A", ""),
		ready("provider:D", `{"dynamic":true}`), ready("provider:P", `{"private":true}`), ready("provider:BROKEN", `5`),
	}
	w := newElizaWorker(t, p, d, Options{})
	const a, b = `"A":{"text":"a ","values":{"x":1,"y":1}}`, `"B":{"text":"b","values":{"x":2},"data":{"d":1}}`
	for options, want := range map[string]string{
		`null`:                  `{"values":{"x":2,"y":1,"providers":"a\nb"},"data":{"providers":{` + a + `,` + b + `}},"text":"a\nb"}`,
		`{"includeList":["D"]}`: `{"values":{"x":2,"y":1,"providers":"a\ndynamic\nb"},"data":{"providers":{` + a + `,` + b + `,"D":{"text":"dynamic"}}},"text":"a\ndynamic\nb"}`,
		`{"includeList":["B","P"],"onlyInclude":true}`: `{"values":{"x":2,"providers":"b"},"data":{"providers":{` + b + `,"P":{}}},"text":"b"}`,
		`{"onlyInclude":true}`:                         `{"values":{"providers":""},"data":{"providers":{}},"text":""}`,
	} {
		require.JSONEq(t, want, w.call("composeState", `{"message":{"content":{"text":"hi"}},"options":`+options+`}`), options)
	}
	require.JSONEq(t, `{"message":{"content":{"text":"hi"}}}`, string(p.invoked[0].Input))
	require.Equal(t, "demo", p.invoked[0].Caller)
	for params, words := range map[string]string{
		`{}`: "message: expected an object", `{"message":5}`: "message: expected an object", `{"message":{},"options":[]}`: "options: expected an object",
		`{"message":{},"options":{"includeList":"A"}}`:   "options.includeList: expected an array of strings",
		`{"message":{},"options":{"onlyInclude":"yes"}}`: "options.onlyInclude: expected a boolean",
	} {
		w.wantRefused(protocol.CodeInvalid, "composeState", params, words)
	}
}

// waiting are providers that wait for their deadline, as a host has them.
type waiting struct{ plugins }

func (w *waiting) Invoke(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	ctx, cancel := context.WithDeadline(ctx, c.Deadline)
	defer cancel()
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestEliza_composeStateIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &waiting{plugins{log: slog.DiscardHandler}}
		w := worker{t: t, name: "demo", services: ElizaRuntime(p, directory{ready("provider:A", "")}, Options{
			Eliza: Eliza{ProviderTimeout: 3 * time.Second, Composing: 1},
		})}
		began, first := time.Now(), make(chan string)
		go func() { first <- w.call("composeState", `{"message":{}}`) }()
		synctest.Wait()
		w.wantRefused(protocol.CodeOverloaded, "composeState", `{"message":{}}`, "1 states are being composed for this plugin")
		require.JSONEq(t, `{"values":{"providers":""},"data":{"providers":{}},"text":""}`, <-first)
		require.Equal(t, 3*time.Second, time.Since(began), "a provider has a deadline of its own")
		w.wantRefusedWithin(time.Second)
	})
}

// However many providers there are, and whatever they say, a state has its bounds.
func TestEliza_composeStateOutlivesManyProviders(t *testing.T) {
	var many directory
	for i := range 1000 {
		many = append(many, ready(fmt.Sprintf("provider:P%03d", i), ""))
	}
	synctest.Test(t, func(t *testing.T) {
		var log logtest.Buffer
		p := &waiting{plugins{log: slog.NewTextHandler(&log, nil)}}
		w := worker{t: t, name: "demo", services: ElizaRuntime(p, many, Options{Eliza: Eliza{StateTimeout: 7 * time.Second}})}
		began := time.Now()
		require.JSONEq(t, `{"values":{"providers":""},"data":{"providers":{}},"text":""}`, w.call("composeState", `{"message":{}}`))
		require.Equal(t, 7*time.Second, time.Since(began))
		require.Equal(t, 5, strings.Count(log.String(), "\n"), log.String())
		require.Contains(t, log.String(), "more=996")
	})
	said := `{"text":"` + strings.Repeat("x", 89) + `"}`
	p := &plugins{onInvoke: func(protocol.Call) (json.RawMessage, error) { return json.RawMessage(said), nil }}
	w := newElizaWorker(t, p, many, Options{Eliza: Eliza{StateBytes: 1000}})
	var state struct {
		Data struct{ Providers map[string]any }
	}
	require.NoError(t, json.Unmarshal([]byte(w.call("composeState", `{"message":{}}`)), &state))
	require.Len(t, state.Data.Providers, 10)
}

// Changes of one memory that are made at a time are all kept.
func TestEliza_memoriesLoseNoChange(t *testing.T) {
	w := newElizaWorker(t, &plugins{}, nil, Options{})
	w.call("createMemory", `{"memory":{"id":"m","entityId":"e","roomId":"r","content":{}}}`)
	var changing sync.WaitGroup
	for i := range 100 {
		changing.Go(func() { w.call("updateMemory", fmt.Sprintf(`{"memory":{"id":"m","n%d":1}}`, i)) })
	}
	changing.Wait()
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(w.call("getMemory", `{"memoryId":"m"}`)), &m))
	require.Len(t, m, 104)
}

// wantRefusedWithin is a state whose caller does not wait for it.
func (w worker) wantRefusedWithin(limit time.Duration) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), limit)
	defer cancel()
	_, err := w.tryWith(ctx, "composeState", `{"message":{}}`)
	wantFault(w.t, err, protocol.CodeTimeout, "while providers were asked")
}
