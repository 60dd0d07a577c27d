package client_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/client"
	"github.com/airi-host/airi-host/protocol/airi/server"
)

// ends are clients joined to a server, or to one that knows no more than AIRI's own.
type ends struct {
	*testing.T
	server  *server.Server
	clients map[server.Conn]*client.Client
	ids     server.Conn
	// own has the server be AIRI's own, which answers no question for compatibility and
	// knows no frames of Eventa's.
	own bool
	// facts are the server's, effects those of each client.
	facts   []server.Effect
	effects map[*client.Client][]client.Effect
}

func join(t *testing.T, own bool) *ends {
	t.Helper()
	return &ends{
		T: t, server: server.New(server.Options{Verify: func(token string) (string, bool) { return "all", token == "right" }}),
		clients: map[server.Conn]*client.Client{}, own: own, effects: map[*client.Client][]client.Effect{},
	}
}

func (e *ends) open(c *client.Client) server.Conn {
	e.Helper()
	e.ids++
	e.clients[e.ids] = c
	e.serve(server.Opened{Conn: e.ids, Peer: fmt.Sprint(e.ids)})
	e.step(e.ids, client.Opened{})
	return e.ids
}

func (e *ends) end(conn server.Conn) {
	e.Helper()
	c := e.clients[conn]
	delete(e.clients, conn)
	e.serve(server.Ended{Conn: conn})
	e.effects[c] = append(e.effects[c], c.Step(time.Now(), client.Lost{}, nil)...)
}

// step gives a client an input and carries all out that comes of it. Steps of its life end
// well.
func (e *ends) step(conn server.Conn, in client.Input) {
	e.Helper()
	c := e.clients[conn]
	for _, effect := range c.Step(time.Now(), in, nil) {
		e.effects[c] = append(e.effects[c], effect)
		switch effect := effect.(type) {
		case client.Send:
			e.say(conn, effect.Record)
		case client.Run:
			e.step(conn, client.Ran{Step: effect.Step})
		case protocol.SetTimer:
			if e.own && effect.After == client.DefaultAskTime {
				e.step(conn, protocol.Fired{Timer: effect.Timer})
			}
		}
	}
}

func (e *ends) say(conn server.Conn, record []byte) {
	e.Helper()
	var what struct {
		Type string
		Data json.RawMessage
	}
	require.NoError(e, json.Unmarshal(record, &what))
	require.False(e, e.own && what.Data == nil, "AIRI's server takes nothing without data: %s", record)
	if !e.own || what.Type != "module:compatibility:request" {
		e.serve(server.Receive(conn, record))
	}
}

func (e *ends) serve(in server.Input) {
	e.Helper()
	for _, effect := range e.server.Step(time.Now(), in) {
		send, ok := effect.(server.Send)
		if !ok {
			e.facts = append(e.facts, effect)
			continue
		}
		for _, to := range send.To {
			if e.clients[to] != nil {
				e.step(to, client.Arrived{Record: append([]byte(nil), send.Frame...)})
			}
		}
	}
}

// effectsOf are those of a type that a client has had.
func effectsOf[E any](e *ends, c *client.Client) (found []E) {
	for _, one := range e.effects[c] {
		if one, ok := one.(E); ok {
			found = append(found, one)
		}
	}
	return found
}

func module(name string, keys ...string) *client.Client {
	var offers []protocol.Offer
	for _, key := range keys {
		offers = append(offers, protocol.Offer{Key: key, Invocable: true})
	}
	return client.New(client.Options{Name: name, Instance: name + "-1", Seed: name, Token: "right"}, offers)
}

func TestClient_livesAtTheServersOtherEnd(t *testing.T) {
	for _, extensions := range []bool{false, true} {
		e := join(t, false)
		c := client.New(client.Options{Name: "hello", Instance: "one", Seed: "s", Token: "right", Extensions: extensions}, []protocol.Offer{{Key: "tool:a"}})
		conn := e.open(c)
		require.Equal(t, []client.Announced{{Negotiates: true}}, effectsOf[client.Announced](e, c))
		lived := func() (types []string, session server.Session) {
			for _, fact := range e.facts {
				if life, ok := fact.(server.Life); ok {
					require.True(t, life.Own)
					types, session = append(types, life.Type), life.Session
				}
			}
			return types, session
		}
		whole := []string{"module:prepared", "module:contribute:capability:offer", "module:status"}
		types, first := lived()
		require.Equal(t, whole, types)
		e.end(conn)
		e.facts = nil
		e.open(c)
		types, second := lived()
		require.Equal(t, whole, types, "all of it is said again")
		require.Equal(t, first, second, "it is the same session")
	}
}

func TestClient_isRefusedByTheServer(t *testing.T) {
	e := join(t, false)
	c := client.New(client.Options{Name: "hello", Instance: "one", Seed: "s", Token: "wrong"}, nil)
	e.open(c)
	require.Equal(t, []protocol.Fail{{Err: client.ErrToken}}, effectsOf[protocol.Fail](e, c))
}

func TestClient_callsAnotherUnderAIRIsOwnServer(t *testing.T) {
	e := join(t, true)
	one, other := module("one"), module("other", "chat:say", "event:rain")
	conn := e.open(one)
	to := e.open(other)
	require.Equal(t, []client.Announced{{}}, effectsOf[client.Announced](e, other))

	e.step(conn, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "chat:say", Input: json.RawMessage(`"hi"`)}})
	asked := effectsOf[protocol.Serve](e, other)
	require.Len(t, asked, 1)
	require.Equal(t, `"hi"`, string(asked[0].Call.Input))
	e.step(to, protocol.Reply{ID: asked[0].ID, Result: json.RawMessage(`"ho"`)})
	require.Equal(t, []protocol.Complete{{ID: 1, Result: json.RawMessage(`"ho"`)}}, effectsOf[protocol.Complete](e, one))

	e.step(conn, client.Emit{Name: "rain", Data: json.RawMessage(`{"mm":3}`)})
	heard := effectsOf[client.Heard](e, other)
	require.Equal(t, client.Heard{Name: "rain", Data: json.RawMessage(`{"mm":3}`)}, heard[len(heard)-1])

	e.step(conn, protocol.Invoke{ID: 2, Call: protocol.Call{Key: "chat:say"}})
	e.step(conn, protocol.Cancel{ID: 2})
	require.Len(t, effectsOf[protocol.Abandon](e, other), 1)
}
