package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// callRunning makes a call on the running host.
func (c *cli) callRunning(ctx context.Context, one protocol.Call, opts callOptions) error {
	request := admin.CallRequest{
		Key: one.Key, Input: one.Input, Plugin: one.Plugin, Instance: one.Instance, Scope: one.Scope, Idle: admin.Duration(one.Idle),
		Timeout: admin.Duration(max(opts.timeout, 0)), Verbose: opts.verbose,
	}
	err := c.ask(ctx, c.whileTaken(func(ctx context.Context, host *admin.Client) error {
		offers := offered(ctx, host, one.Plugin)
		if opts.follow {
			err := explain(inFlight(host.FollowCall(ctx, request, func(line []byte) error {
				if missed := gapOf(line); missed > 0 {
					c.noteMissed(missed)
					return nil
				}
				c.write(line)
				return c.out.loss()
			}), one.Key), one.Key, offers)
			if err == nil {
				c.noteUnheard(one.Key, offers)
			}
			return err
		}
		result, err := host.Call(ctx, request)
		if err != nil {
			return explain(inFlight(err, one.Key), one.Key, offers)
		}
		c.noteUnheard(one.Key, offers)
		return c.printResult(result, false)
	}))
	if err != nil && opts.follow && !c.json() {
		c.encode(c.lineOf(err))
	}
	return err
}

// gapOf is how many items were missed where a line tells of that, else 0.
func gapOf(line []byte) uint64 {
	var gap struct{ Missed uint64 }
	if !bytes.HasPrefix(line, []byte(`{"event":"gap",`)) || json.Unmarshal(line, &gap) != nil {
		return 0
	}
	return gap.Missed
}

// noteMissed tells on standard error that the log of a command has gaps.
func (c *cli) noteMissed(n uint64) {
	if n > 0 {
		fmt.Fprintf(c.err, "note: %s missing in the log: output was taken too slowly; the result has all of it\n", plural(int(n), "chunk is", "chunks are"))
	}
}

// inFlight is the error of a call whose host went, as a caller of any other plugin that
// goes is told. All other errors have a code, or are the plugin's.
func inFlight(err error, key string) error {
	if _, isPeer := errors.AsType[*protocol.PeerError](err); err == nil || isPeer || protocol.CodeOf(err) != "" {
		return err
	}
	return &protocol.Error{
		Code: protocol.CodeOutcomeUnknown, Message: fmt.Sprintf("the host ended while the call of %s was in flight; it may have run", key), Err: err,
	}
}

// offered lists what a running host can be asked for; a host that does not say has
// nothing.
func offered(ctx context.Context, host *admin.Client, plugin string) func() []capability.Offer {
	return func() []capability.Offer {
		list, _ := host.Capabilities(ctx, plugin, "")
		return list
	}
}

// explain adds to the error of a call what helps whoever made it: flags, and the keys
// that there are.
func explain(err error, key string, offers func() []capability.Offer) error {
	err = explainFailure(err, key)
	if _, ok := errors.AsType[*pluginError](err); ok {
		return err
	}
	switch text := fmt.Sprint(err); {
	case strings.HasSuffix(text, "name the plugin"):
		err = fmt.Errorf("%w (--plugin NAME)", err)
	case protocol.CodeOf(err) != protocol.CodeNotFound:
		return err
	}
	all := offers()
	if others := offering(all, key); len(others) > 0 {
		return fmt.Errorf("%w; who offers it: %s", err, listed(others))
	}
	return fmt.Errorf("%w%s", err, suggestion(key, invocable(all), "there are"))
}

// offering names those who can be called by the key.
func offering(offers []capability.Offer, key string) []string {
	var names []string
	for _, o := range offers {
		if string(o.Key) == key && o.Invocable && o.State == lifecycle.CapReady {
			names = append(names, offererOf(o))
		}
	}
	slices.Sort(names)
	return names
}

// explainFailure is explain for what has no key: what has failed is told where the words are
// the plugin's own.
func explainFailure(err error, what string) error {
	if peer, ok := errors.AsType[*protocol.PeerError](err); ok {
		return &pluginError{what, peer}
	}
	if strings.HasSuffix(fmt.Sprint(err), "give the call a scope, or the host a default one") {
		return fmt.Errorf("%w (--scope COMPANY, or \"scope\" in the settings)", err)
	}
	return err
}

// suggestion is what to say behind a key that is not among those there are.
func suggestion(key string, keys []string, there string) string {
	near := manifest.Nearest(key, keys)
	switch {
	case len(keys) == 0:
		return ""
	case near != "":
		return fmt.Sprintf(": did you mean %s? (%s: %s)", near, there, listed(keys))
	}
	return fmt.Sprintf("; %s: %s", there, listed(keys))
}

// unheardEvent says that nobody hears an event, and what is heard, where that is so. Of
// whoever listens by a pattern, "event:issue.*", it is taken that he hears all of it.
func unheardEvent(key string, offers []capability.Offer) string {
	var others []string
	for _, one := range invocable(offers) {
		if capability.Key(one).Kind() != capability.KindEvent {
			continue
		}
		if begin, pattern := strings.CutSuffix(one, "*"); one == key || pattern && strings.HasPrefix(key, begin) {
			return ""
		}
		others = append(others, one)
	}
	return "nobody hears " + key + suggestion(key, others, "heard are")
}

// noteUnheard tells whoever made an event known that nobody hears it: that is no failure.
func (c *cli) noteUnheard(key string, offers func() []capability.Offer) {
	if capability.Key(key).Kind() != capability.KindEvent {
		return
	}
	if text := unheardEvent(key, offers()); text != "" {
		fmt.Fprintf(c.err, "note: %s\n", printable(text))
	}
}

// maxKeys is how many keys an error lists.
const maxKeys = 20

// invocable lists what of the offers can be called at this moment.
func invocable(offers []capability.Offer) []string {
	var keys []string
	for _, o := range offers {
		if o.Invocable && o.State == lifecycle.CapReady {
			keys = append(keys, string(o.Key))
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func listed(keys []string) string {
	if len(keys) > maxKeys {
		keys = append(keys[:maxKeys:maxKeys], "…")
	}
	return strings.Join(keys, ", ")
}
