package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
)

// wireQueue is how many frames may wait to be logged, unless the settings say otherwise;
// what is more is counted.
const wireQueue = 1 << 14

// wireTap logs the frames of the workers' wires, as they are but for secrets.
type wireTap struct {
	log *slog.Logger
	// hidden is what no name of a member gives away.
	hidden *hush
	// codecs write a frame as it stood on the wire, by dialect.
	codecs map[string]protocol.Codec
	// speaks tells a plugin's dialect.
	speaks func(plugin string) string
}

// tapWire logs frames, of which so many may wait as queue says, until the host is shut down; then it closes the channel that
// it returns.
func tapWire(
	host *actors.Host, dialects []protocol.Dialect, speaks func(plugin string) string, log *slog.Logger, hidden *hush, queue int,
) <-chan struct{} {
	tap := &wireTap{log: log, hidden: hidden, codecs: map[string]protocol.Codec{}, speaks: speaks}
	for _, d := range dialects {
		tap.codecs[d.Name()] = d.Codec()
	}
	tap.codecs[guestDialect] = airi.Remote{}.Codec()
	sub := host.Subscribe(actors.KindWire, queue)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range sub.C {
			if frame, ok := e.(actors.Wire); ok {
				tap.write(frame)
			}
		}
		if n := sub.Dropped(); n > 0 {
			log.Warn("frames were not logged: there were too many", "count", n)
		}
	}()
	return done
}

// write logs one frame, at the time when it passed.
func (t *wireTap) write(e actors.Wire) {
	r := slog.NewRecord(e.At, slog.LevelDebug, "wire", 0)
	direction := "to plugin"
	if e.FromPlugin {
		direction = "from plugin"
	}
	r.Add("plugin", e.Plugin, "session", e.Session, "direction", direction)
	if frame, err := t.encode(e); err != nil {
		r.Add("error", err)
	} else {
		r.Add("bytes", len(frame), "frame", clip(t.hidden.show(frame), maxLoggedFrame))
	}
	_ = t.log.Handler().Handle(context.Background(), r) // nobody is left to be told
}

var errNoCodec = errors.New("no codec writes the frames of this plugin")

// maxLoggedFrame is how much of a frame is logged, in bytes.
const maxLoggedFrame = 8 << 10

func (t *wireTap) encode(e actors.Wire) ([]byte, error) {
	codec := t.codecs[t.speaks(e.Plugin)]
	if codec == nil {
		return nil, errNoCodec
	}
	return codec.Encode(nil, e.Message)
}
