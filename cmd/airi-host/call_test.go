package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestCallOptions_makeACall(t *testing.T) {
	o := callOptions{dirs: []string{"d"}, plugin: "p", scope: "s", timeout: time.Second, idle: time.Minute}
	one, err := o.call("tool:x", noon)
	require.NoError(t, err)
	require.Equal(t, protocol.Call{Key: "tool:x", Plugin: "p", Scope: "s", Deadline: noon.Add(time.Second), Idle: time.Minute}, one)

	for _, none := range []time.Duration{0, -time.Second} {
		o.timeout = none
		one, err = o.call("tool:x", noon)
		require.NoError(t, err)
		require.Zero(t, one.Deadline, "the default stands for it")
	}
}

func TestCLI_readsTheInput(t *testing.T) {
	c := &cli{in: strings.NewReader(` {"n": 1.0} `)}
	for _, in := range []struct {
		args []string
		want string
	}{{nil, ""}, {[]string{"null"}, "null"}, {[]string{` "x" `}, `"x"`}, {[]string{"-"}, `{"n": 1.0}`}} {
		got, err := c.input(in.args)
		require.NoError(t, err)
		require.Equal(t, in.want, string(got))
	}
}

func TestCLI_refusesAnInput(t *testing.T) {
	broken := errors.New("the cable is out")
	c := &cli{in: iotest.ErrReader(broken)}
	_, err := c.input([]string{"-"})
	require.ErrorIs(t, err, broken)

	for _, text := range []string{"", "x", "1 2", `{"a":`} {
		_, err := c.input([]string{text})
		_, isUsage := errors.AsType[usageError](err)
		require.True(t, isUsage, "%q: %v", text, err)
	}

	for text, hint := range map[string]string{
		"hello": `; a string has quotes of its own: '"hello"'`, "1 2": `; a string has quotes of its own: '"1 2"'`,
		`{"a":`: "", `say "hi"`: "", `C:\x`: "", "": "",
	} {
		_, err := c.input([]string{text})
		require.Equal(t, hint, quotes(text))
		require.True(t, strings.HasSuffix(err.Error(), fmt.Sprintf("%q", text)+hint), err)
	}

	c.in = endless{}
	_, err = c.input([]string{"-"})
	require.EqualError(t, err, "the input is larger than 67108864 bytes")
}

// endless is an input that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestCLI_printsAResultOnOneLine(t *testing.T) {
	deep := json.RawMessage(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000))
	for _, r := range []struct {
		result json.RawMessage
		follow bool
		want   string
	}{
		{nil, false, "null\n"},
		{nil, true, `{"event":"result","result":null}` + "\n"},
		{json.RawMessage("{\n\t\"n\": 1.0, \"t\": \"<\"}"), false, `{"n":1.0,"t":"<"}` + "\n"},
		{json.RawMessage("[\n1 ]"), true, `{"event":"result","result":[1]}` + "\n"},
		{deep, false, string(deep) + "\n"},
	} {
		var b bytes.Buffer
		c := &cli{out: newOutput(&b), output: outputText}
		require.NoError(t, c.printResult(r.result, r.follow))
		require.Equal(t, r.want, b.String())
	}
	require.ErrorContains(t, (&cli{}).printResult(json.RawMessage("{"), false), "the result is not JSON")
}
