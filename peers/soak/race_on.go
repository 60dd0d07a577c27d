//go:build race

package main

// raceDetector tells whether the program has it. It keeps a shadow of all memory that
// ever was in use, so that what is resident does not count.
const (
	raceDetector   = "on"
	residentCounts = false
)
