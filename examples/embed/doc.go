// Command embed runs plugins of all ecosystems inside a Go program: a Paperclip worker,
// an AIRI module, and a plugin that is compiled in, whose progress the module follows.
package main
