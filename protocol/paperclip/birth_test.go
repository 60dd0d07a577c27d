package paperclip

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestDialect_initializeTellsTheWorkerWhoItIs(t *testing.T) {
	manifest := raw(`{"id":"lab","apiVersion":1,"big":9007199254740993}`)
	got, err := Dialect{}.Initialize(protocol.Birth{
		Manifest: manifest, Config: protocol.Config{Full: raw(`{"a":-0}`)}, Host: "h", Version: "v",
	})
	require.NoError(t, err)
	require.Equal(t, `{"manifest":`+string(manifest)+`,"config":{"a":-0},"instanceInfo":{"instanceId":"h","hostVersion":"v"},`+
		`"apiVersion":1,"databaseNamespace":null}`, string(got))
	got, err = Dialect{}.Initialize(protocol.Birth{Manifest: manifest})
	require.NoError(t, err)
	require.Contains(t, string(got), `"config":{}`)
	_, err = Dialect{}.Initialize(protocol.Birth{})
	require.EqualError(t, err, "the manifest has no apiVersion: expected the number 1; was its module evaluated?")
}

func TestDialect_stepTimeouts(t *testing.T) {
	require.Equal(t, 15*time.Second, Dialect{}.StepTimeout(protocol.StepSetup))
	require.Equal(t, 10*time.Second, Dialect{}.StepTimeout(protocol.StepStop))
	require.Zero(t, Dialect{}.StepTimeout(protocol.StepInit))
}

func TestDialect_callTimeouts(t *testing.T) {
	const usual = 30 * time.Second
	for _, row := range []struct {
		key, input string
		usual      time.Duration
		want       time.Duration
	}{
		{key: "tool:x", usual: usual, want: usual},
		{key: "tool:x", input: `{"timeoutMs":5}`, usual: usual, want: usual},
		{key: "data:x", usual: time.Hour, want: 15 * time.Minute},
		{key: "job:x", usual: usual, want: 5 * time.Minute},
		{key: "environment:e.probe", usual: usual, want: time.Minute},
		{key: "environment:e.execute", input: `{"timeoutMs":1500.9}`, usual: usual, want: 31500 * time.Millisecond},
		{key: "environment:e.execute", input: `{"timeoutMs":0.5}`, usual: usual, want: 30001 * time.Millisecond},
		{key: "environment:e.execute", input: `{"timeoutMs":1e12}`, usual: usual, want: 2147483647*time.Millisecond + 30*time.Second},
		{key: "environment:e.execute", input: `{"timeoutMs":0}`, usual: usual, want: time.Minute},
		{key: "environment:e.execute", input: `{"timeoutMs":-1}`, usual: usual, want: time.Minute},
		{key: "environment:e.execute", input: `{"timeoutMs":"9"}`, usual: usual, want: time.Minute},
		{key: "environment:e.execute", input: `{"timeoutMs":1e999}`, usual: usual, want: time.Minute},
	} {
		c := protocol.Call{Key: row.key}
		if row.input != "" {
			c.Input = json.RawMessage(row.input)
		}
		require.Equal(t, row.want, Dialect{}.CallTimeout(c, row.usual), "%s %s", row.key, row.input)
	}
}

func TestEnvironment_isTheReferenceHosts(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	require.Equal(t, map[string]string{"NODE_PATH": "", "NODE_ENV": "production", "TZ": "UTC", "PAPERCLIP_PLUGIN_ID": "lab"},
		Environment("lab", none))
	all := func(name string) (string, bool) { return "of " + name, true }
	require.Equal(t, map[string]string{
		"NODE_PATH": "of NODE_PATH", "NODE_ENV": "of NODE_ENV", "TZ": "of TZ", "PAPERCLIP_PLUGIN_ID": "lab",
	}, Environment("lab", all))
}

func TestDialect_framesAreLonger(t *testing.T) { require.Equal(t, 128<<20, Dialect{}.MaxFrame()) }

func TestDialect_answersWhatItsWorkersMayHave(t *testing.T) {
	require.True(t, Dialect{}.Answers(protocol.Call{Key: "data:x", Caller: "other"}))
	require.True(t, Dialect{}.Answers(protocol.Call{Key: "action:x"}))
	require.False(t, Dialect{}.Answers(protocol.Call{Key: "tool:x"}))
	require.True(t, Dialect{}.Answers(protocol.Call{Key: "paperclip:health"}))
	require.False(t, Dialect{}.Answers(protocol.Call{Key: "paperclip:health", Caller: "other"}))
}
