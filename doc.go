// Package airihost is the root of airi-host, a plugin host for AI agents. It
// holds no code but the tests of the architecture.
//
// Where to go from here:
//
//   - cmd/airi-host is the daemon and its command line;
//   - actors holds [github.com/airi-host/airi-host/actors.Host], for embedding;
//   - plugin is the SDK for authors of plugins in Go;
//   - docs/architecture.md follows one message through all of it.
package airihost
