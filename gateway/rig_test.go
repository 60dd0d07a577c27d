package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/transport/websocket"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/asynkron/protoactor-go/actor.(*Guardians).getGuardianPid"))
}

// patience bounds a wait for what is to happen.
const patience = 20 * time.Second

// rig is a host with a gateway on loopback, and plugins that are compiled in.
type rig struct {
	*testing.T
	host    *actors.Host
	gateway *Gateway
	url     string
}

func start(t *testing.T, o Options, plugins ...*plugin.Definition) *rig {
	t.Helper()
	programs := map[string]protocol.Program{}
	for _, p := range plugins {
		programs[p.Name()] = p
	}
	host, err := actors.New(actors.Options{ID: "gate", Programs: programs, Dialects: []protocol.Dialect{airi.Dialect{}}})
	require.NoError(t, err)
	o.Host = host
	r := &rig{T: t, host: host, gateway: New(o)}
	web := httptest.NewServer(r.gateway)
	r.url = "ws" + strings.TrimPrefix(web.URL, "http") + "/ws"
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, r.gateway.Shutdown(ctx))
		require.NoError(t, host.Shutdown(ctx))
		web.Close()
	})
	for _, p := range plugins {
		builtin := "builtin:" + p.Name()
		_, err := host.Start(t.Context(), &manifest.Manifest{
			Dialect: manifest.DialectAIRI, Name: p.Name(), File: p.Name() + "/plugin.json", Entrypoints: manifest.Entrypoints{Go: &builtin},
		}, actors.StartOptions{})
		require.NoError(t, err)
	}
	return r
}

// peer is a client on a websocket.
type peer struct {
	r *rig
	*websocket.Conn
}

func (r *rig) dial() *peer {
	r.Helper()
	c, err := websocket.Dial(r.Context(), r.url, websocket.DialOptions{})
	require.NoError(r, err)
	r.Cleanup(func() {
		_ = c.Close()
		<-c.Done()
	})
	return &peer{r, c}
}

// say sends an event; its data is formatted.
func (p *peer) say(kind, data string, a ...any) {
	p.r.Helper()
	p.raw(fmt.Sprintf(`{"type":%q,"data":%s}`, kind, fmt.Sprintf(data, a...)))
}

func (p *peer) raw(frame string) {
	p.r.Helper()
	require.NoError(p.r, p.Send([]byte(frame)))
}

// event is what a peer was sent.
type event struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// hear waits for an event of a type, passing over others, and returns its data.
func (p *peer) hear(kind string) string {
	p.r.Helper()
	return string(p.until(func(record []byte) (json.RawMessage, bool) {
		var in struct{ JSON event }
		require.NoError(p.r, json.Unmarshal(record, &in))
		return in.JSON.Data, in.JSON.Type == kind
	}))
}

// hearEventa waits for a frame of Eventa's with an id that begins so, and returns its id and body.
func (p *peer) hearEventa(prefix string) (id string, body map[string]json.RawMessage) {
	p.r.Helper()
	raw := p.until(func(record []byte) (json.RawMessage, bool) {
		var in struct {
			Type    string
			Payload struct{ Body json.RawMessage }
			Eventa  struct {
				ID   string
				Body json.RawMessage
			}
		}
		require.NoError(p.r, json.Unmarshal(record, &in))
		if id = in.Type; id == "" {
			id, in.Payload.Body = in.Eventa.ID, in.Eventa.Body
		}
		return in.Payload.Body, strings.HasPrefix(id, prefix)
	})
	require.NoError(p.r, json.Unmarshal(raw, &body))
	return id, body
}

func (p *peer) until(is func([]byte) (json.RawMessage, bool)) json.RawMessage {
	p.r.Helper()
	late := time.AfterFunc(patience, func() { p.CloseWith(websocket.CodeGoingAway, "the test has waited too long") })
	defer late.Stop()
	for {
		record, err := p.Recv()
		require.NoError(p.r, err)
		if found, ok := is(record); ok {
			return append(json.RawMessage(nil), found...)
		}
	}
}

// announce announces a module of the module generation.
func (p *peer) announce(plugin, instance string, more ...string) {
	p.r.Helper()
	p.say("module:announce", `{"name":%q,"identity":{"kind":"plugin","plugin":{"id":%q},"id":%q}%s}`,
		plugin, plugin, instance, strings.Join(append([]string{""}, more...), ","))
}

// wantPhase waits until a plugin's newest session is in a phase, and returns it.
func (r *rig) wantPhase(plugin string, want lifecycle.State) (info actors.SessionInfo) {
	r.Helper()
	require.Eventually(r, func() bool {
		is, err := r.host.Inspect(plugin)
		info = is.SessionInfo
		return err == nil && info.Phase == want
	}, patience, time.Millisecond, "%s is not %s: %+v", plugin, want, &info)
	return info
}

// wantGone waits until a plugin has no session.
func (r *rig) wantGone(plugin string) {
	r.Helper()
	require.Eventually(r, func() bool {
		_, err := r.host.Inspect(plugin)
		return protocol.CodeOf(err) == protocol.CodeNotFound
	}, patience, time.Millisecond)
}

func (r *rig) call(key, input string) (string, error) {
	result, err := r.host.Invoke(r.Context(), protocol.Call{Key: key, Input: json.RawMessage(input), Deadline: time.Now().Add(patience)})
	return string(result), err
}

// wantEnd waits until a peer is closed with a code and a reason.
func (p *peer) wantEnd(code int, reason string) {
	p.r.Helper()
	for {
		_, err := p.Recv()
		if err == nil {
			continue
		}
		var end *websocket.CloseError
		require.ErrorAs(p.r, err, &end)
		require.Equal(p.r, code, end.Code)
		require.Equal(p.r, reason, end.Reason)
		return
	}
}
