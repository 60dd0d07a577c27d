// Package ecosystems answers one question: what does a host need so that it runs the
// plugins of every ecosystem, Project AIRI's, Paperclip's and elizaOS's?
//
// [Open] is for a program that embeds a host and wants all of them as they usually
// are. It finds the plugins and makes the host; starting them is the program's:
//
//	host, err := ecosystems.Open([]string{"plugins"}, ecosystems.Options{
//		Host:   actors.Options{Programs: map[string]protocol.Program{"words": words.Plugin()}},
//		Policy: ecosystems.Policy{Company: "acme"},
//	})
//	if err != nil {
//		return err
//	}
//	defer host.Close(ctx)
//	host.StartAll(ctx, host.Found.Manifests, nil, nil)
//	result, err := host.Invoke(ctx, protocol.Call{Key: "tool:count", Input: input})
//
// [Dialects] and [Launch] are its parts, for who wires a host otherwise, as
// cmd/airi-host does: the wires that are spoken, and how workers are started.
//
// JavaScript plugins run with the Node.js that is on PATH, elizaOS's with Bun if that
// is on PATH. A plugin that needs it
// fails, saying so, where there is none; the others run.
//
// The host's methods may be called from any goroutine. Its limits are those of
// package actors; nothing is added.
package ecosystems
