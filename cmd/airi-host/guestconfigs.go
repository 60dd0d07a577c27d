package main

import (
	"cmp"
	"fmt"
	"maps"
	"sync"

	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/protocol"
)

// The configurations of guests that are kept, unless the settings say otherwise.
const (
	mostGuestConfigs     = 1000
	mostGuestConfigBytes = 16 << 20
)

// guestConfigBounds bound what is kept of the configurations that peers give to guests: peers choose
// their names, and what was kept stays until it is forgotten by hand.
type guestConfigBounds struct {
	// Plugins is how many may have one, Bytes what the newest ones of all have together.
	Plugins, Bytes int
}

func (s *settings) guestConfigs() guestConfigBounds {
	l := s.Websocket.Limits
	return guestConfigBounds{
		Plugins: cmp.Or(l.Configurations, mostGuestConfigs), Bytes: cmp.Or(l.ConfigurationBytes, mostGuestConfigBytes),
	}
}

// guestConfigs tells which of them there is room for.
type guestConfigs struct {
	bounds guestConfigBounds
	book   *configuration.Book
	// owns tells the host's own plugins, which do not count.
	owns func(plugin string) bool

	mu sync.Mutex
	// coming are the bytes of those that are being kept, by plugin.
	coming map[string]int
}

// enter makes room for a configuration until leave is called, when it is kept or is not.
func (g *guestConfigs) enter(plugin string, bytes int) (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	sizes := g.book.Sizes()
	_, kept := sizes[plugin]
	maps.DeleteFunc(sizes, func(plugin string, _ int) bool { return g.owns(plugin) })
	maps.Copy(sizes, g.coming)
	sizes[plugin] = bytes
	total := 0
	for _, size := range sizes {
		total += size
	}
	switch {
	case !kept && len(sizes) > g.bounds.Plugins:
		return nil, g.full(plugin, fmt.Sprintf("configurations of %d peers' plugins are kept, the limit", g.bounds.Plugins))
	case total > g.bounds.Bytes:
		return nil, g.full(plugin, fmt.Sprintf("the configurations of peers' plugins would have more than %d bytes, the limit", g.bounds.Bytes))
	}
	g.coming[plugin] = bytes
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.coming, plugin)
	}, nil
}

func (g *guestConfigs) full(plugin, why string) error {
	return &protocol.Error{Code: protocol.CodeOverloaded, Plugin: plugin, Message: fmt.Sprintf(
		"plugin %s: %s: 'airi-host forget' those that do not come any more, or raise websocket.limits", plugin, why)}
}

// owns tells whether a plugin is one of the host's own.
func (h *house) owns(plugin string) bool { return h.roster.get(plugin) != nil }
