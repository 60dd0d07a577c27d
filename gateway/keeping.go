package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// What Configurators have given to modules is kept by whoever keeps configurations.

// keeping is a plugin of which a configuration is being kept. next is the one after it, nil
// for none: of several the newest counts.
type keeping struct{ next *protocol.Config }

// keep has a configuration kept, after the one of the same plugin that is being kept.
func (g *Gateway) keep(plugin string, c protocol.Config) {
	if g.o.Keep == nil || g.life.Err() != nil {
		return
	}
	if k := g.keeping[plugin]; k != nil {
		k.next = &c
		return
	}
	k := &keeping{next: &c}
	g.keeping[plugin] = k
	g.joins.Go(func() {
		for next := g.toKeep(plugin, k); next != nil; next = g.toKeep(plugin, k) {
			g.keepOne(plugin, *next)
		}
	})
}

// keepTime is how long keeping one configuration may take.
const keepTime = time.Minute

// keepOne also goes on while the gateway shuts down.
func (g *Gateway) keepOne(plugin string, c protocol.Config) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), keepTime, errKeeping)
	defer cancel()
	err := g.o.Keep(ctx, plugin, c)
	if err == nil {
		return
	}
	if n := g.tally.drop(droppedUnkept); isPowerOfTen(n) { // they may be many
		g.o.Log.Warn("a configuration is not kept: the module has it until its session ends", "plugin", plugin, "error", err, "so_far", n)
	}
}

// droppedUnkept counts configurations that were not kept.
const droppedUnkept = "unkept"

var errKeeping = fmt.Errorf("keeping it took more than %v, the limit", keepTime)

// toKeep is the next configuration to be kept; nil where there is none.
func (g *Gateway) toKeep(plugin string, k *keeping) (next *protocol.Config) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if next, k.next = k.next, nil; next == nil {
		delete(g.keeping, plugin)
	}
	return next
}
