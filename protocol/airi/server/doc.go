// Package server answers one question: what does AIRI's server runtime say to its peers?
package server
