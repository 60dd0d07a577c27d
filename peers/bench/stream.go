package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/peers/load"
	"github.com/airi-host/airi-host/protocol"
)

var _ load.Streamer = (*airiHost)(nil)

// tenant is the company of whatever is done on routes.
const tenant = "acme"

// Stream puts a load on the routes of the first worker.
func (a *airiHost) Stream(ctx context.Context, l load.Load) error {
	if l.Kind == load.Log {
		return a.logs(ctx, l)
	}
	return a.channels(ctx, l)
}

// logs has a command write so many chunks.
func (a *airiHost) logs(ctx context.Context, l load.Load) error {
	got := 0
	params := fmt.Appendf(nil, `{"environmentId":"e","config":{},"lease":{"providerLeaseId":"l"},"command":"@log","args":["%d","%d"]}`, l.Calls, l.Size)
	_, err := a.host.Execute(ctx, actors.ExecuteRequest{
		Driver: "shed", Plugin: a.plugin, Scope: tenant, Params: params, Deadline: time.Now().Add(askTime),
	}, func(c protocol.LogChunk) error {
		got += len(c.Text)
		return nil
	})
	if err == nil && got != l.Size*l.Calls {
		err = fmt.Errorf("the sink was given %d of %d bytes", got, l.Size*l.Calls)
	}
	return err
}

// channels has so many chunks come back.
func (a *airiHost) channels(ctx context.Context, l load.Load) error {
	r, err := a.host.OpenDuplex(ctx, actors.RouteRequest{Plugin: a.plugin, Scope: tenant, Params: json.RawMessage(
		`{"driverKey":"shed","environmentId":"e","providerLeaseId":"l","command":["@echo"]}`)})
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it always succeeds
	free, wrote := make(chan struct{}, l.Flight), make(chan error, 1)
	go func() { wrote <- writeChunks(r, l, free) }()
	back := make([]byte, l.Size)
	for range l.Calls {
		if _, err := io.ReadFull(r, back); err != nil {
			_ = r.Close() // so that the writer ends
			<-free
			return errors.Join(err, <-wrote)
		}
		<-free
	}
	return <-wrote
}

// writeChunks writes chunks, as many as there is room for in free.
func writeChunks(to io.Writer, l load.Load, free chan<- struct{}) error {
	chunk := make([]byte, l.Size)
	for range l.Calls {
		free <- struct{}{}
		if _, err := to.Write(chunk); err != nil {
			return err
		}
	}
	return nil
}
