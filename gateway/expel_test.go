package gateway

import (
	"testing"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/transport/websocket"
)

func TestGateway_expelsWhoMayComeAgain(t *testing.T) {
	r := start(t, Options{})
	bot, silent := r.dial(), r.dial()
	bot.announce("bot", "1")
	session := r.wantPhase("bot", lifecycle.Ready).ID
	r.gateway.Expel("another day")
	bot.wantEnd(websocket.CodePolicy, "another day")
	silent.wantEnd(websocket.CodePolicy, "another day")
	r.wantPhase("bot", lifecycle.Degraded)
	r.dial().announce("bot", "1")
	if again := r.wantPhase("bot", lifecycle.Ready).ID; again != session {
		t.Fatalf("it is session %s, was %s", again, session)
	}
}
