package services

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestState_valuesComeBackByteByByte(t *testing.T) {
	w := newWorker(t, &plugins{}, Options{})
	for _, value := range []string{
		`null`, `0`, `-0`, `1e999`, `9007199254740993`, `"\ud800"`, `"<&>\u2028"`,
		`{ "b" : 1,"a":[ 1 , null ],"b":2 }`,
	} {
		require.Equal(t, `null`, w.call("state.set", `{"scopeKind":"instance","stateKey":"k","value":`+value+`}`))
		require.Equal(t, value, w.call("state.get", `{"scopeKind":"instance","stateKey":"k"}`))
	}
}

func TestState_unsetIsNull(t *testing.T) {
	w := newWorker(t, &plugins{}, Options{})
	const key = `{"scopeKind":"instance","stateKey":"k"}`
	require.Equal(t, `null`, w.call("state.get", key))
	require.Equal(t, `null`, w.call("state.delete", key), "that there is none is no error")
	w.call("state.set", `{"scopeKind":"instance","stateKey":"k","value":1}`)
	require.Equal(t, `null`, w.call("state.delete", key))
	require.Equal(t, `null`, w.call("state.get", key))
}

func TestState_whatIsUndefinedIsKeptAsNull(t *testing.T) {
	store := NewMemory(MemoryLimits{})
	newWorker(t, &plugins{}, Options{Store: store}).call("state.set", `{"scopeKind":"instance","stateKey":"k"}`)
	kept, err := store.Get(t.Context(), StateKey{Plugin: "demo", ScopeKind: "instance", Namespace: "default", Key: "k"})
	require.NoError(t, err)
	require.Equal(t, `null`, string(kept))
}

func TestState_everyPartOfAKeyTellsValuesApart(t *testing.T) {
	w := newWorker(t, &plugins{}, Options{})
	other := w
	other.name = "other"
	keys := []string{
		`"scopeKind":"instance","stateKey":"k"`,
		`"scopeKind":"company","scopeId":"c1","stateKey":"k"`,
		`"scopeKind":"project","scopeId":"1","stateKey":"k"`,
		`"scopeKind":"project","scopeId":"2","stateKey":"k"`,
		`"scopeKind":"project_workspace","scopeId":"1","stateKey":"k"`,
		`"scopeKind":"agent","scopeId":"1","stateKey":"k"`,
		`"scopeKind":"issue","scopeId":"1","stateKey":"k"`,
		`"scopeKind":"goal","scopeId":"1","stateKey":"k"`,
		`"scopeKind":"run","scopeId":"1","stateKey":"k"`,
		`"scopeKind":"run","scopeId":"1","namespace":"n","stateKey":"k"`,
		`"scopeKind":"run","scopeId":"1","namespace":"n","stateKey":"l"`,
	}
	for i, key := range keys {
		w.call("state.set", `{`+key+`,"value":`+strconv.Itoa(i)+`}`)
		require.Equal(t, `null`, other.call("state.get", `{`+key+`}`))
	}
	for i, key := range keys {
		require.Equal(t, strconv.Itoa(i), w.call("state.get", `{`+key+`}`))
	}
}

func TestState_absentPartsHaveDefaults(t *testing.T) {
	w := newWorker(t, &plugins{}, Options{})
	w.call("state.set", `{"scopeKind":"agent","scopeId":" ","namespace":"default","stateKey":"k","value":1}`)
	require.Equal(t, `1`, w.call("state.get", `{"scopeKind":"agent","scopeId":null,"stateKey":"k"}`))
	require.Equal(t, `1`, w.call("state.get", `{"scopeKind":"agent","namespace":"","stateKey":"k"}`))
}

func TestState_refusesWhatIsNoKey(t *testing.T) {
	w := newWorker(t, &plugins{}, Options{})
	for params, words := range map[string]string{
		`{"stateKey":"k"}`:                                  "scopeKind: expected a string that is not blank, got nothing",
		`{"scopeKind":"planet","stateKey":"k"}`:             "scopeKind: expected one of instance, company, project,",
		`{"scopeKind":"instance"}`:                          "stateKey: expected a string that is not blank",
		`{"scopeKind":"agent","scopeId":1,"stateKey":"k"}`:  "scopeId: expected a string, got a number",
		`{"scopeKind":"run","namespace":{},"stateKey":"k"}`: "namespace: expected a string, got an object",
	} {
		for _, method := range []string{"state.get", "state.set", "state.delete"} {
			w.wantRefused(protocol.CodeInvalid, method, params, words)
		}
	}
}

// The gate looks at companyId and passes this; the state is another company's.
func TestState_aCompanyReachesItsOwnStateOnly(t *testing.T) {
	w := newWorker(t, &plugins{}, Options{})
	for _, method := range []string{"state.get", "state.set", "state.delete"} {
		for _, id := range []string{`"c2"`, `null`} {
			w.wantRefused(protocol.CodeDenied, method,
				`{"companyId":"c1","scopeKind":"company","scopeId":`+id+`,"stateKey":"k","value":1}`, `for company "c1"`)
		}
	}
	w.call("state.set", `{"companyId":"c1","scopeKind":"company","scopeId":"c1","stateKey":"k","value":1}`)
}

// broken is a store that fails.
type broken struct{ err error }

func (b broken) Get(context.Context, StateKey) (json.RawMessage, error) { return nil, b.err }
func (b broken) Set(context.Context, StateKey, json.RawMessage) error   { return b.err }
func (b broken) Delete(context.Context, StateKey) error                 { return b.err }

func TestState_aStoresErrorIsPassedOn(t *testing.T) {
	full := errors.New("disk full")
	w := newWorker(t, &plugins{}, Options{Store: broken{full}})
	for _, method := range []string{"state.get", "state.set", "state.delete"} {
		_, err := w.try(method, `{"scopeKind":"instance","stateKey":"k"}`)
		require.ErrorIs(t, err, full)
	}
}

// peeking has all values at hand but for one.
type peeking struct {
	*Memory
	asked []string
}

func (p *peeking) Peek(key StateKey) (json.RawMessage, bool) {
	p.asked = append(p.asked, key.Key)
	value, _ := p.Get(context.Background(), key)
	return value, key.Key != "far"
}

func TestState_whatIsAtHandIsReadAtOnce(t *testing.T) {
	store := &peeking{Memory: NewMemory(MemoryLimits{})}
	w := newWorker(t, &plugins{}, Options{Store: store})
	w.call("state.set", `{"scopeKind":"instance","stateKey":"near","value":1}`)
	w.call("state.set", `{"scopeKind":"instance","stateKey":"far","value":2}`)
	quick := w.services["state.get"].(protocol.QuickService)
	for _, c := range []struct {
		params, value string
		done          bool
		code          protocol.Code
	}{
		{params: `{"scopeKind":"instance","stateKey":"near"}`, value: "1", done: true},
		{params: `{"scopeKind":"instance","stateKey":"none"}`, value: "null", done: true},
		{params: `{"scopeKind":"instance","stateKey":"far"}`},
		{params: `{"scopeKind":"planet","stateKey":"near"}`, done: true, code: protocol.CodeInvalid},
	} {
		value, done, err := quick.Quick(protocol.Call{Key: "state.get", Caller: "demo", Input: json.RawMessage(c.params)})
		require.Equal(t, c.done, done, c.params)
		if c.code != "" {
			wantFault(t, err, c.code, "scopeKind")
			continue
		}
		require.NoError(t, err)
		if done {
			require.Equal(t, c.value, string(value), c.params)
		}
	}
	require.Equal(t, "2", w.call("state.get", `{"scopeKind":"instance","stateKey":"far"}`))
	require.Equal(t, []string{"near", "none", "far"}, store.asked)
	require.NotImplements(t, (*protocol.QuickService)(nil), w.services["state.set"], "it may wait")
}
