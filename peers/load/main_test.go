package load_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/peers/load"
)

// asSubject makes the test binary a subject of this kind.
const asSubject = "LOAD_TEST_SUBJECT"

func TestMain(m *testing.M) {
	switch os.Getenv(asSubject) {
	case "":
		goleak.VerifyTestMain(m)
	case "parrot":
		if err := load.Serve(context.Background(), os.Stdin, os.Stdout, &parrot{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "looper":
		_ = load.Serve(context.Background(), os.Stdin, os.Stdout, &looper{})
	case "dies":
		fmt.Fprintln(os.Stderr, "no strength left")
		os.Exit(3)
	case "talks":
		fmt.Println(`{"event":"hello"}`)
		_ = load.Serve(context.Background(), os.Stdin, os.Stdout, &parrot{})
	case "deaf":
		select {}
	}
}

// parrot is a subject that gives back what it gets.
type parrot struct{ workers []load.Worker }

func (p *parrot) Start(_ context.Context, workers []load.Worker) error {
	p.workers = workers
	if len(workers) == 0 {
		return errors.New("no workers")
	}
	return nil
}

func (p *parrot) Call(_ context.Context, key string, input json.RawMessage) (json.RawMessage, error) {
	switch {
	case key == "action:fan" || key == "action:cross":
		return json.RawMessage(`{"calls":7,"p50Micros":12.5}`), nil
	case key == "model:ECHO":
		return json.RawMessage(`"n"`), nil
	case len(input) == len(`{"text":""}`)+13:
		return input[:3], nil
	}
	return input, nil
}

func (*parrot) Close() error { return nil }

// looper is a subject with a loop of its own.
type looper struct{ parrot }

func (*looper) Loop(_ context.Context, l load.Load) ([]time.Duration, error) {
	took := make([]time.Duration, l.Calls)
	for i := range took {
		took[i] = time.Duration(l.Calls-i) * time.Millisecond
	}
	return took, nil
}
