package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
)

// How a connection gets from open to announced, and how its end is noticed.

// version is the one of the protocol, and of its API.
const version = "v1"

func (c *Client) opened(out []Effect) []Effect {
	if c.phase != away || c.over {
		return out
	}
	c.connections++
	c.phase, c.silent = authenticating, 0
	c.newEventa()
	out = append(out, protocol.SetTimer{Timer: timerBeat, After: c.o.BeatEvery})
	return c.await(c.o.AnswerTime, c.say("module:authenticate", struct {
		Token string `json:"token"`
	}{c.o.Token}, "", out))
}

func (c *Client) await(limit time.Duration, out []Effect) []Effect {
	return append(out, protocol.SetTimer{Timer: timerPhase, After: limit})
}

// arrived takes a record. Any is a sign of life.
func (c *Client) arrived(now time.Time, record []byte, out []Effect) []Effect {
	if c.phase == away {
		return out
	}
	c.silent = 0
	e, f, isEventa, err := read(record)
	switch {
	case err != nil:
		return append(out, protocol.Drop(DroppedFrame, err.Error()))
	case isEventa:
		return c.step(now, protocol.Received{Message: f}, out)
	case e.name == "":
		return out
	}
	if step := frameOf(e); airi.IsInvoke(step) {
		if !c.eventa.Concerns(step, func(key string) bool { return c.offers[key].Key != "" }) {
			return out
		}
		return c.step(now, protocol.Received{Message: step}, out)
	}
	return c.event(e, out)
}

// event takes an event of the websocket protocol's, or one of others.
func (c *Client) event(e event, out []Effect) []Effect {
	switch e.name {
	case "module:authenticated", "peer:authenticated", "extension:authenticated":
		return c.authenticated(string(member(e.data, "authenticated")) == "true", out)
	case "error":
		return c.failed(textOf(e.data, "message"), out)
	case "module:compatibility:result":
		return c.negotiated(e, out)
	case "registry:modules:sync", "module:announced", "extension:module:announced":
		if c.phase == announcing && c.lists(e.data) {
			return c.announced(false, out)
		}
	case "transport:connection:heartbeat":
		if textOf(e.data, "kind") == "ping" {
			return c.say(e.name, beat{"pong", "💛"}, e.id, out)
		}
		return out
	}
	if c.phase != announced {
		return out
	}
	out = c.lived(e, out)
	return append(out, Heard{Name: e.name, Data: e.data, Control: airi.IsServers(e.name)})
}

func (c *Client) authenticated(is bool, out []Effect) []Effect {
	if c.phase != authenticating {
		return out // it is said twice where there is no token
	}
	if !is {
		return c.fail(ErrToken, out)
	}
	c.phase = negotiating
	c.asked, out = c.ask("module:compatibility:request", struct {
		Protocol  string   `json:"protocolVersion"`
		API       string   `json:"apiVersion"`
		Protocols []string `json:"supportedProtocolVersions"`
		APIs      []string `json:"supportedApiVersions"`
	}{version, version, []string{version}, []string{version}}, "", out)
	return c.await(c.o.AskTime, out)
}

// failed takes an error of the server's. What ends the client is that it is not let in.
func (c *Client) failed(message string, out []Effect) []Effect {
	said := errors.New(protocol.Clip(message))
	switch c.phase {
	case authenticating:
		if message == "invalid token" {
			return c.fail(ErrToken, out)
		}
		return append(out, Hangup{fmt.Errorf("authenticating: %w", said)})
	case announcing:
		return append(out, Hangup{fmt.Errorf("announcing %s: %w", c.o.Name, said)})
	case away, negotiating, announced:
	}
	return append(out, protocol.Drop(DroppedError, message))
}

// negotiated takes a host's answer. Without one it is AIRI's own server.
func (c *Client) negotiated(e event, out []Effect) []Effect {
	if c.phase != negotiating || e.parent != c.asked {
		return out
	}
	if mode := textOf(e.data, "mode"); mode == "rejected" {
		return c.fail(fmt.Errorf("the host does not take this module: %s", protocol.Clip(textOf(e.data, "reason"))), out)
	}
	c.negotiates = true
	return c.announce(out)
}

// announce announces the module, and waits until it is listed.
func (c *Client) announce(out []Effect) []Effect {
	c.phase = announcing
	if c.o.Extensions {
		out = c.say("extension:announce", struct {
			Identity named `json:"identity"`
		}{named{c.o.Name, c.o.Version}}, "", out)
	}
	return c.await(c.o.AnswerTime, c.sayAnnounce(out))
}

func (c *Client) sayAnnounce(out []Effect) []Effect {
	data := map[string]any{"name": c.o.Name, "identity": c.identity(), "possibleEvents": c.events()}
	if c.o.ConfigSchema != nil {
		data["configSchema"] = c.o.ConfigSchema
	}
	if len(c.o.Dependencies) > 0 {
		type dependency struct {
			Role string `json:"role"`
		}
		var all []dependency
		for _, role := range c.o.Dependencies {
			all = append(all, dependency{role})
		}
		data["dependencies"] = all
	}
	name := "module:announce"
	if c.o.Extensions {
		name = "extension:module:announce"
	}
	return c.say(name, data, "", out)
}

// lists tells whether the module is in a list of modules, or is the one that is meant.
func (c *Client) lists(data []byte) bool {
	if c.isAbout(data) {
		return true
	}
	found := false
	protocol.EachItem(member(data, "modules"), func(item []byte) { found = found || c.isAbout(item) })
	return found
}

func (c *Client) announced(unanswered bool, out []Effect) []Effect {
	c.phase = announced
	out = append(out, protocol.StopTimer{Timer: timerPhase},
		Announced{Negotiates: c.negotiates, Again: c.announcedOnce, Unanswered: unanswered})
	c.announcedOnce = true
	return c.restore(out)
}

// beat is a heartbeat.
type beat struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// silence is how many heartbeats go without anything that comes.
const silence = 3

func (c *Client) fired(t protocol.TimerID, out []Effect) []Effect {
	switch {
	case c.phase == away:
		return out
	case t == timerBeat:
		return c.heartbeat(out)
	case c.phase == authenticating:
		return append(out, Hangup{fmt.Errorf("the server did not authenticate the module within %s", c.o.AnswerTime)})
	case c.phase == negotiating:
		return c.announce(out)
	case c.phase == announcing:
		return c.announced(true, out)
	}
	return out
}

func (c *Client) heartbeat(out []Effect) []Effect {
	if c.silent++; c.silent > silence {
		return append(out, Hangup{fmt.Errorf("nothing has come for %s", silence*c.o.BeatEvery)})
	}
	out = c.say("transport:connection:heartbeat", beat{"ping", "🩵"}, "", out)
	return append(out, protocol.SetTimer{Timer: timerBeat, After: c.o.BeatEvery})
}
