package load

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Drive puts a load on a subject and measures it. Only this process's CPU time counts.
func Drive(ctx context.Context, s Subject, l Load) (Result, error) {
	if l.Calls < 1 || l.Flight < 1 {
		return Result{}, fmt.Errorf("load %s: expected at least one call and one in flight, found %d and %d", l.Name, l.Calls, l.Flight)
	}
	began, used := time.Now(), CPU()
	median, err := put(ctx, s, l)
	if err != nil {
		return Result{}, fmt.Errorf("load %s: %w", l.Name, err)
	}
	spent, elapsed := CPU()-used, time.Since(began)
	return Result{
		Calls: l.Calls, P50Micros: micros(median),
		PerSecond: float64(l.Calls) / elapsed.Seconds(),
		CPUMicros: micros(spent) / float64(l.Calls),
	}, nil
}

// put makes the calls and returns the median time of one.
func put(ctx context.Context, s Subject, l Load) (time.Duration, error) {
	if l.Kind == Ask {
		return asks(ctx, s, "action:fan", l)
	}
	if l.Kind == Cross {
		return asks(ctx, s, "action:cross", l)
	}
	if l.Kind == Log || l.Kind == Duplex {
		return streamed(ctx, s, l)
	}
	loop := func(ctx context.Context, l Load) ([]time.Duration, error) { return echoes(ctx, s, l) }
	if looper, ok := s.(Looper); ok {
		loop = looper.Loop
	}
	took, err := loop(ctx, l)
	if err != nil || len(took) == 0 {
		return 0, err
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// streamed puts a load on a route. The time of a chunk is that of all, shared out.
func streamed(ctx context.Context, s Subject, l Load) (time.Duration, error) {
	streamer, ok := s.(Streamer)
	if !ok {
		return 0, fmt.Errorf("its workers have no routes")
	}
	began := time.Now()
	err := streamer.Stream(ctx, l)
	return time.Since(began) / time.Duration(l.Calls), err
}

// EchoInput is the input of an echo of so many bytes.
func EchoInput(size int) json.RawMessage {
	return json.RawMessage(`{"text":"` + strings.Repeat("x", size) + `"}`)
}

// echoes calls by as many goroutines as calls may be in flight.
func echoes(ctx context.Context, s Subject, l Load) ([]time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	input, took := l.Content(), make([]time.Duration, l.Calls)
	key, size := cmp.Or(l.Key, "data:echo"), cmp.Or(l.Answer, len(input))
	var next atomic.Int64
	var all sync.WaitGroup
	for range l.Flight {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= l.Calls || ctx.Err() != nil {
					return
				}
				asked := time.Now()
				answer, err := s.Call(ctx, key, input)
				took[i] = time.Since(asked)
				if err == nil && len(answer) != size {
					err = fmt.Errorf("call %d: %d bytes went out and %d came back, of %d", i, len(input), len(answer), size)
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	all.Wait()
	return took, context.Cause(ctx)
}

// asks lets the worker call, and takes its word for the time of each.
func asks(ctx context.Context, s Subject, key string, l Load) (time.Duration, error) {
	input := fmt.Appendf(nil, `{"params":{"calls":%d,"flight":%d,"size":%d}}`, l.Calls, l.Flight, l.Size)
	answer, err := s.Call(ctx, key, input)
	if err != nil {
		return 0, err
	}
	var said struct {
		Calls     int     `json:"calls"`
		P50Micros float64 `json:"p50Micros"`
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return 0, fmt.Errorf("the worker's answer: %w", err)
	}
	if said.Calls != l.Calls {
		return 0, fmt.Errorf("the worker made %d of %d calls", said.Calls, l.Calls)
	}
	return time.Duration(said.P50Micros * float64(time.Microsecond)), nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
