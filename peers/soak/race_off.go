//go:build !race

package main

// raceDetector tells whether the program has it, and residentCounts whether the
// resident memory may be compared.
const (
	raceDetector   = "off"
	residentCounts = true
)
