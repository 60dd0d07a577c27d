package main

import (
	"context"
	"sync"

	"github.com/airi-host/airi-host/transport/process"
)

// beInit does what the first process of a container has to, until end is called.
func beInit() (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { process.Init(ctx) })
	return func() {
		cancel()
		working.Wait()
	}
}
