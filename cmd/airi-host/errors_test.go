package main

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestCLI_endsWithTheErrorAndItsCode(t *testing.T) {
	for _, c := range []struct {
		err        error
		code       int
		text, json string
		verbose    bool
	}{
		{nil, exitDone, "", "", false},
		{fmt.Errorf("told: %w", errFailed), exitFailed, "", "", false},
		{errors.New("two\nlines"), exitFailed, "airi-host: two lines\n", `{"event":"error","code":"failed","message":"two\nlines"}`, false},
		{
			fmt.Errorf("so: %w", &protocol.Error{Code: protocol.CodeNotFound, Message: "gone"}), exitFailed,
			"airi-host: so: gone\n", `{"event":"error","code":"not-found","message":"so: gone"}`, false,
		},
		{
			&pluginError{"tool:x", &protocol.PeerError{Message: "no", At: "x.mjs:1:2"}}, exitFailed,
			"airi-host: tool:x: no (x.mjs:1:2)\n", `{"event":"error","code":"plugin","message":"tool:x: no","place":"x.mjs:1:2"}`, false,
		},
		{
			&pluginError{"tool:x", &protocol.PeerError{}}, exitFailed,
			"airi-host: tool:x failed and gave no reason\n", `{"event":"error","code":"plugin","message":"tool:x failed and gave no reason"}`, false,
		},
		{
			&pluginError{"tool:x", &protocol.PeerError{Message: "no", Stack: "Error: no\r\n\tat \x1b[1mx\n"}}, exitFailed,
			"airi-host: tool:x: no\n  Error: no\n   at ␛[1mx\n", `{"event":"error","code":"plugin","message":"tool:x: no","stack":"Error: no\r\n\tat \u001b[1mx\n"}`, true,
		},
		{
			&pluginError{"tool:x", &protocol.PeerError{Message: "no", Stack: "s"}}, exitFailed,
			"airi-host: tool:x: no\n", `{"event":"error","code":"plugin","message":"tool:x: no"}`, false,
		},
		{
			usageError{errors.New("how?")},
			exitUsage,
			"airi-host: how?\nSee 'airi-host --help'.\n", `{"event":"error","code":"usage","message":"how?"}`, false,
		},
	} {
		var out, errOut bytes.Buffer
		cli := &cli{out: newOutput(&out), err: newOutput(&errOut), output: outputText, verbose: c.verbose}
		require.Equal(t, c.code, cli.end(c.err))
		require.Empty(t, out.String())
		require.Equal(t, c.text, errOut.String())

		errOut.Reset()
		cli.output = outputJSON
		require.Equal(t, c.code, cli.end(c.err))
		require.Equal(t, c.json, string(bytes.TrimSpace(out.Bytes())))
		require.Empty(t, errOut.String())
	}
}
