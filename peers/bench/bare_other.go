//go:build !linux

package main

import "os"

// enlarge leaves a pipe as it is.
func enlarge(*os.File) {}
