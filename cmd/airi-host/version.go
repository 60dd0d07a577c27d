package main

import "runtime/debug"

// version is this binary's, as the go command stamped it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "dev"
	}
	return info.Main.Version
}

func (c *cli) printVersion() {
	if c.json() {
		c.encode(versionLine{"version", version()})
	}
	c.say("airi-host version %s", version())
}

type versionLine struct {
	Event   string `json:"event"`
	Version string `json:"version"`
}
