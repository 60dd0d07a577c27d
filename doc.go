// Package airihost is the root of airi-host, a plugin host for AI agents. It
// holds no code but the tests of the architecture.
//
// Where to go from here:
//
//   - cmd/airi-host is the daemon and its command line;
//   - ecosystems makes a host to embed, [github.com/airi-host/airi-host/actors.Host];
//   - plugin is the SDK for authors of plugins in Go;
//   - docs/tutorial.md leads through all of it, and examples are there to start from;
//   - docs/architecture.md follows one message through all of it.
package airihost
