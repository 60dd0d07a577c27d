package gateway

import "github.com/airi-host/airi-host/protocol/airi/server"

// Expel ends all connections with code 1008 and a reason, since what they were let in by holds no
// longer. Their modules are waited for as after any other end: who may may come again.
func (g *Gateway) Expel(reason string) {
	g.with(func() {
		for id := range g.conns {
			g.close(server.Close{Conn: id, Code: server.CodePolicy, Reason: reason})
		}
	})
}
