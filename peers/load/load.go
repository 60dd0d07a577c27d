package load

import (
	"context"
	"encoding/json"
	"time"
)

// Kind is what is done over and over.
type Kind string

const (
	// Echo is a call of the worker.
	Echo Kind = "echo"
	// Ask is a call that the worker makes to its host.
	Ask Kind = "ask"
	// Cross is a call that the second worker makes, through the host, of the first.
	Cross Kind = "cross"
	// Log is a chunk of what a command writes, which the host is told as it comes.
	Log Kind = "log"
	// Duplex is a chunk that goes to the worker on a channel, and comes back.
	Duplex Kind = "duplex"
)

// Load is one thing to measure.
type Load struct {
	// Name is for people.
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// Size is the length of the text that is echoed, or that the worker's calls carry,
	// in bytes.
	Size int `json:"size,omitempty"`
	// Flight is how many calls are under way at a time, Calls how many there are in all.
	Flight int `json:"flight"`
	Calls  int `json:"calls"`
	// Key is the capability that an echo calls; "" is "data:echo".
	Key string `json:"key,omitempty"`
	// Input is what an echo sends; none is {"text": …} of Size.
	Input json.RawMessage `json:"input,omitempty"`
	// Answer is how many bytes an echo is answered with; 0 is as many as it sends.
	Answer int `json:"answer,omitempty"`
}

// Content is what an echo sends.
func (l Load) Content() json.RawMessage {
	if l.Input != nil {
		return l.Input
	}
	return EchoInput(l.Size)
}

// Result is what one load cost.
type Result struct {
	// Calls is how many there were.
	Calls int `json:"calls"`
	// P50Micros is the median time of one call, as its caller sees it.
	P50Micros float64 `json:"p50Micros"`
	// PerSecond is how many calls were over in each second.
	PerSecond float64 `json:"perSecond"`
	// CPUMicros is the host's CPU time for each call, user and system.
	CPUMicros float64 `json:"cpuMicros"`
}

// Worker is a plugin to run: a directory that holds one.
type Worker struct {
	// Dir is the absolute path of the directory.
	Dir string `json:"dir"`
	// Command runs the worker; none means that Node runs worker.js in Dir.
	Command []string `json:"command,omitempty"`
}

// Argv is the program that runs the worker, and its arguments.
func (w Worker) Argv() []string {
	if len(w.Command) > 0 {
		return w.Command
	}
	return []string{"node", "worker.js"}
}

// Subject is a host under measurement.
type Subject interface {
	// Start runs the workers and returns when all are ready. It is called once.
	Start(ctx context.Context, workers []Worker) error
	// Call invokes a capability of the first worker. Any number of goroutines may.
	Call(ctx context.Context, key string, input json.RawMessage) (json.RawMessage, error)
	// Close ends the workers. It is called once, after everything else.
	Close() error
}

// Streamer is a Subject whose workers have routes.
type Streamer interface {
	// Stream puts a load of the kinds Log and Duplex on the first worker: as many chunks of
	// its Size as it has Calls; of a channel at most Flight are on their way.
	Stream(ctx context.Context, l Load) error
}

// Looper is a Subject that makes the calls of a load itself.
type Looper interface {
	// Loop makes the calls of an echo and returns how long each took.
	Loop(ctx context.Context, l Load) ([]time.Duration, error)
}
