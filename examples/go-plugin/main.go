// Command go-plugin runs the plugin words as a worker: a process that a host starts
// and talks to on standard input and output. See manifest.mjs.
package main

import (
	"github.com/airi-host/airi-host/examples/go-plugin/words"
	"github.com/airi-host/airi-host/plugin"
)

func main() { plugin.Main(words.Plugin()) }
