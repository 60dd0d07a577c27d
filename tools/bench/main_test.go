package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/airi-host/airi-host/peers/load"
)

// The worker is this program, which in a test is the test binary.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && (os.Args[1] == netrpc || os.Args[1] == viaGRPC) {
		os.Exit(command(os.Args[1:]))
	}
	os.Exit(m.Run())
}

func TestSubject_echoes(t *testing.T) {
	for _, protocol := range []string{netrpc, viaGRPC} {
		t.Run(protocol, func(t *testing.T) {
			s := &subject{protocol: protocol}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			if err := s.Start(t.Context(), make([]load.Worker, 1)); err != nil {
				t.Fatal(err)
			}
			answer, err := s.Call(t.Context(), "data:echo", json.RawMessage(`{"text":"hello"}`))
			if err != nil || string(answer) != `{"text":"hello"}` {
				t.Errorf("answered with %q: %v", answer, err)
			}
			if _, err := s.Call(t.Context(), "action:fan", nil); err == nil {
				t.Error("a call of what the worker does not have is answered")
			}
		})
	}
}

func TestCommand_takesOneProtocol(t *testing.T) {
	for _, args := range [][]string{nil, {"carrier-pigeon"}, {netrpc, viaGRPC}} {
		if code := command(args); code != 2 {
			t.Errorf("%q: exit code %d, expected 2", args, code)
		}
	}
}
