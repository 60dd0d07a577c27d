// Command almanac runs the plugin almanac as a worker: of an elizaOS host, whose manifest is
// plugin.json beside this file, or of a Paperclip host, whichever starts it.
package main

import (
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/testdata/workers/almanac/sky"
)

func main() { plugin.Main(sky.Plugin()) }
