package ecosystems

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/manifest/evaluate"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/bridge"
	"github.com/airi-host/airi-host/services"
)

// Options say what a host is beside what the ecosystems want of it. The zero value
// works.
type Options struct {
	// Host is what the host is made of. Its Dialects come beside those of the
	// ecosystems; its Launch and its Methods, where there are any, go in their place.
	Host actors.Options
	// Policy is what Paperclip's and elizaOS's workers may do.
	Policy Policy
	// Services are what they may ask of the host.
	Services services.Options
	// StateDir makes and returns the directory in which an elizaOS plugin may keep
	// files; nil gives them none.
	StateDir func(plugin string) (string, error)
	// Signs tells of an elizaOS plugin whether what is called of its worker is signed: see
	// Homes. Nil signs nothing.
	Signs func(plugin string) bool
}

// Host is a host with what its ecosystems need. Close must follow.
type Host struct {
	*actors.Host
	// Found is what is in the directories: plugins to start, and what is wrong with
	// others.
	Found manifest.Found
	node  *bridge.Node
}

// Open finds the plugins of directories, as [manifest.Discover] does, and makes a host
// that can run them; it starts none. Manifests that are code are evaluated. What is
// wrong with a manifest is no error, but told by Found.
func Open(dirs []string, o Options) (*Host, error) {
	h := &Host{node: &bridge.Node{}}
	h.Found = manifest.Discover(dirs, manifest.Options{
		Runtime:  o.Host.Runtime,
		Evaluate: (&evaluate.Node{}).Evaluate,
		Builtins: slices.Sorted(maps.Keys(o.Host.Programs)),
	})
	with, policy := o.Host, o.Policy
	homes := NewHomes(o.StateDir, o.Signs)
	if policy.Key == nil {
		policy.Key = homes.Key
	}
	with.Dialects = append(slices.Clone(with.Dialects), Dialects(Among(h.Found.Manifests), func() Policy { return policy }, func(dialect, method string) bool {
		return h.HandlesMethod(dialect, method)
	})...)
	if with.Launch == nil {
		with.Launch = Launch(h.node, homes)
	}
	if with.Methods == nil {
		with.Methods = func(p protocol.Plugins) map[string]map[string]protocol.Service {
			return map[string]map[string]protocol.Service{
				manifest.DialectPaperclip: services.Paperclip(p, o.Services),
				manifest.DialectEliza:     services.ElizaRuntime(p, h, o.Services),
			}
		}
	}
	var err error
	if h.Host, err = actors.New(with); err != nil {
		return nil, err
	}
	return h, nil
}

// Close stops all plugins in order, those first that no other one requires, kills at
// the end of ctx what is left, and removes what was written for the workers.
func (h *Host) Close(ctx context.Context) error {
	return errors.Join(h.Shutdown(ctx), h.node.Close())
}
