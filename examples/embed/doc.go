// Command embed runs a directory of AIRI plugins inside a Go program.
package main
