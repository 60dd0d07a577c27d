package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
)

// The values of --view.
const (
	viewAuto  = "auto"
	viewLive  = "live"
	viewPlain = "plain"
)

// live tells whether run shows its live view: when it was asked for, else on a terminal
// that can be painted and is this job's.
func (c *cli) live(view string) (bool, error) {
	switch view {
	case viewPlain:
		return false, nil
	case viewAuto:
		return !c.json() && c.out.color && inForeground(c.out.w.(*os.File)), nil
	case viewLive:
	default:
		return false, usageError{fmt.Errorf("--view %q: expected auto, live or plain", view)}
	}
	if c.json() {
		return false, usageError{errors.New("--view live paints a terminal: leave it out, or --output json")}
	}
	if !c.out.terminal {
		return false, usageError{errors.New("--view live paints a terminal, and standard output is none: leave it out")}
	}
	return true, nil
}

// runView is how run shows what happens: by a line for each event or, with a screen, by
// the live view and a line for what went wrong.
type runView struct {
	c      *cli
	layout layout
	screen *screen
}

// openView begins to show a host; close must follow. unapproved are the grants that a
// plugin waits for.
func (c *cli) openView(host *actors.Host, list []*manifest.Manifest, by cures, unapproved func(plugin string) []string, live bool) *runView {
	v := &runView{c: c, layout: layout{color: c.out.color}}
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.PluginName()
		v.layout.names = max(v.layout.names, min(maxNames, len([]rune(names[i]))))
	}
	if live {
		tty := c.out.w.(*os.File)
		var others []*output
		if c.err.terminal && sameTerminal(tty, c.err.w.(*os.File)) {
			others = append(others, c.err)
		}
		v.screen = newScreen(host, names, c.settings.queues(), tty, c.in, c.out, others...)
		v.screen.observer.unapproved, v.screen.observer.cures = unapproved, by
		v.screen.open()
	}
	return v
}

// do tells what the host is about.
func (v *runView) do(doing string) {
	if v.screen != nil {
		v.screen.do(doing)
	}
}

// close ends the live view; lines are shown on.
func (v *runView) close() {
	if v.screen != nil {
		v.screen.close()
	}
}

// show shows an event.
func (v *runView) show(e actors.Event) {
	switch {
	case v.c.json():
		v.c.encodeEvent(e)
	case e.Kind() == actors.KindGrants: // the log has it
	case v.screen == nil || isTrouble(e):
		v.c.say("%s", v.layout.event(e))
	}
	if v.screen != nil {
		v.screen.change()
	}
}

// isTrouble tells whether an event is to stay on a terminal when the live view has gone.
func isTrouble(e actors.Event) bool {
	switch e := e.(type) {
	case actors.PhaseChanged:
		return e.To == lifecycle.Failed
	case actors.Restart:
		return true
	default:
		return false
	}
}

func (c *cli) encodeEvent(e actors.Event) {
	if line, err := actors.EncodeEvent(e); err == nil {
		c.write(line)
	}
}

// sameTerminal tells whether two files are one terminal, be it under its other name.
func sameTerminal(a, b *os.File) bool {
	one, err := a.Stat()
	if err != nil {
		return false
	}
	other, err := b.Stat()
	if err != nil {
		return false
	}
	own, err := os.Stat("/dev/tty")
	return os.SameFile(one, other) || err == nil && (os.SameFile(own, one) || os.SameFile(own, other))
}
