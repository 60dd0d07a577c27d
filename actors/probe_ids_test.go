package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
)

// rogueAsks asks the host once for each of the ids of its argument, all at the same
// time, and logs every answer as it came.
func rogueAsks(w *rogue) {
	w.tools["ask"] = func(ask) string {
		var requests []string
		for i, id := range strings.Split(argument(), "\n") {
			requests = append(requests, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"probe.wait","params":{"n":%d}}`, id, i))
		}
		w.says(requests...)
		for range requests {
			w.logs(w.hears().Line)
		}
		return `null`
	}
	w.serve()
}

// methods are services for workers of Paperclip.
func methods(all map[string]protocol.ServiceFunc) func(*actors.Options) {
	return func(o *actors.Options) {
		o.Methods = func(protocol.Plugins) map[string]map[string]protocol.Service {
			services := map[string]protocol.Service{}
			for method, serve := range all {
				services[method] = serve
			}
			return map[string]map[string]protocol.Service{"paperclip": services}
		}
	}
}

func TestProbe_idsComeBackAsTheyWent(t *testing.T) {
	ids := []string{`1`, `"1"`, `9007199254740992`, `9007199254740993`, `"x y"`, `-5`, `1.5`, `true`, `[]`, `{"a":[1e0]}`, `"\ud800"`}
	arrived, gates := make(chan int, len(ids)), make([]chan struct{}, len(ids))
	for i := range gates {
		gates[i] = make(chan struct{})
	}
	p := newTrial(t, methods(map[string]protocol.ServiceFunc{"probe.wait": func(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
		var params struct{ N int }
		if err := json.Unmarshal(c.Input, &params); err != nil {
			return nil, err
		}
		arrived <- params.N
		select {
		case <-gates[params.N]:
			return c.Input, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}))
	p.start(told(p.worker("asks", "ask"), strings.Join(ids, "\n")))
	done := p.begin("asks", "ask", `{}`)
	for range ids {
		<-arrived
	}
	for i, id := range slices.Backward(ids) {
		close(gates[i])
		answer := sighted(p, len(ids)-i, func(e actors.Logged) bool { return e.Plugin == "asks" })
		require.Equal(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"n":%d}}`, id, i), answer.Text)
	}
	require.Equal(t, answer{result: "null"}, <-done)
}

// rogueStringly answers under the id as a string.
func rogueStringly(w *rogue) {
	w.tools["stringly"] = func(a ask) string {
		w.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","result":1}`, a.ID))
		return ""
	}
	w.serve()
}

func TestProbe_anAnswerUnderAnotherTypeOfIDFailsAtOnce(t *testing.T) {
	p := newTrial(t, nil)
	p.start(p.worker("stringly", "stringly", "hello"))
	began := time.Now()
	err := (<-p.begin("stringly", "stringly", `{}`)).err
	require.EqualError(t, err, `plugin stringly: executeTool was answered under the id "2", a string; expected the number 2`)
	require.Equal(t, protocol.CodeWire, protocol.CodeOf(err))
	require.Less(t, time.Since(began), 15*time.Second, "it does not wait for its deadline of 30 s")
	p.wantCall("stringly", "hello", `{}`, `{"content":"hello"}`)
}
