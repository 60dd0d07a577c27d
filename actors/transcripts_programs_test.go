package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// labPrograms are the modules of testdata/modules in Go, as far as what they show
// does not depend on JavaScript.
func labPrograms() map[string]protocol.Program {
	null := json.RawMessage("null")
	return map[string]protocol.Program{
		"plain": plugin.Define("plain").
			OnInit(func(_ context.Context, s *plugin.Session) error { return s.Send("lab:init", null) }).
			OnSetup(func(_ context.Context, s *plugin.Session) error { return s.Send("lab:setup-modules", null) }),
		"trivial": plugin.Define("trivial"),
		"gated": plugin.Define("gated").OnInit(func(ctx context.Context, s *plugin.Session) error {
			return s.Call(ctx, "lab:gate", nil, nil)
		}),
		"gated-setup": plugin.Define("gated-setup").OnSetup(func(ctx context.Context, s *plugin.Session) error {
			if err := s.Send("lab:setup-modules", null); err != nil {
				return err
			}
			return s.Call(ctx, "lab:gate", nil, nil)
		}),
		"init-throws":          plugin.Define("init-throws").OnInit(fails("init exploded")),
		"init-throws-empty":    plugin.Define("init-throws-empty").OnInit(fails("")),
		"setup-modules-throws": plugin.Define("setup-modules-throws").OnSetup(fails("setupModules exploded")),
		"import-throws":        unloadable{plugin.Define("import-throws"), "import exploded"},
		"counter":              newCounter(),
	}
}

func fails(text string) plugin.Hook {
	return func(context.Context, *plugin.Session) error { return errors.New(text) }
}

// unloadable is a program that fails already when its code is read.
type unloadable struct {
	*plugin.Definition
	why string
}

// Open returns an instance that cannot be loaded.
func (u unloadable) Open(h protocol.Home) protocol.Port {
	return unloadablePort{u.Definition.Open(h), u.why}
}

type unloadablePort struct {
	protocol.Port
	why string
}

func (p unloadablePort) Has(step protocol.Step) bool { return step == protocol.StepLoad }

func (p unloadablePort) Run(context.Context, protocol.Step) error { return errors.New(p.why) }

// counter counts how often it is opened, which is what setup() is in JavaScript,
// and reports that.
type counter struct {
	*plugin.Definition
	opened atomic.Int64
}

func newCounter() *counter {
	c := &counter{Definition: plugin.Define("counter")}
	c.OnInit(func(ctx context.Context, s *plugin.Session) error {
		return s.Call(ctx, "lab:report", report{Top: 1, Setup: int(c.opened.Load())}, nil)
	})
	return c
}

// Open counts.
func (c *counter) Open(h protocol.Home) protocol.Port {
	c.opened.Add(1)
	return c.Definition.Open(h)
}
