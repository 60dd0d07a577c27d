package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

// callRunning makes a call on the running host.
func (c *cli) callRunning(ctx context.Context, one protocol.Call, opts callOptions) error {
	request := admin.CallRequest{
		Key: one.Key, Input: one.Input, Plugin: one.Plugin, Scope: one.Scope, Idle: admin.Duration(one.Idle),
		Timeout: admin.Duration(max(opts.timeout, 0)),
	}
	err := c.ask(ctx, c.whileTaken(func(ctx context.Context, host *admin.Client) error {
		if opts.follow {
			return explain(host.FollowCall(ctx, request, func(line []byte) error {
				c.write(line)
				return c.out.loss()
			}), one.Key, offered(ctx, host, one.Plugin))
		}
		result, err := host.Call(ctx, request)
		if err != nil {
			return explain(err, one.Key, offered(ctx, host, one.Plugin))
		}
		return c.printResult(result, false)
	}))
	if err != nil && opts.follow && !c.json() {
		c.encode(lineOf(err))
	}
	return err
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
	if peer, ok := errors.AsType[*protocol.PeerError](err); ok {
		return &pluginError{key, peer}
	}
	switch text := fmt.Sprint(err); {
	case strings.HasSuffix(text, "give the call a scope, or the host a default one"):
		return fmt.Errorf("%w (--scope COMPANY, or \"scope\" in the file of --config)", err)
	case strings.HasSuffix(text, "name the plugin"):
		err = fmt.Errorf("%w (--plugin NAME)", err)
	case protocol.CodeOf(err) != protocol.CodeNotFound:
		return err
	}
	if keys := invocable(offers()); len(keys) > 0 {
		return fmt.Errorf("%w; there are: %s", err, strings.Join(keys, ", "))
	}
	return err
}

// maxKeys is how many keys an error lists.
const maxKeys = 20

// invocable lists what of the offers can be called.
func invocable(offers []capability.Offer) []string {
	var keys []string
	for _, o := range offers {
		if o.Invocable {
			keys = append(keys, string(o.Key))
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	if len(keys) > maxKeys {
		keys = append(keys[:maxKeys], "…")
	}
	return keys
}
