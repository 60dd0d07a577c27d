package actors_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
)

// rogueDirty writes its argument before it reads anything. If there is "INIT" in it
// it waits for initialize, and that is its answer.
func rogueDirty(w *rogue) {
	text := argument()
	if text == "flood" {
		text = strings.Repeat("no frame\n", floodLines)
	}
	if strings.Contains(text, "INIT") {
		text = strings.ReplaceAll(text, "INIT", reply(w.hears(), `{"ok":true}`))
	}
	_, _ = os.Stdout.WriteString(text)
	w.serve()
}

const floodLines = 10_000

func TestProbe_whatAWorkerPrintsIsItsLog(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		logs []string
	}{
		"a banner":             {"Hello from v1.0\n", []string{"Hello from v1.0"}},
		"blank lines":          {"\n \t \n\r\n", nil},
		"CRLF line ends":       {"one\r\n\r\nINIT\r\n", []string{"one"}},
		"a byte order mark":    {"\ufeffINIT\n", nil},
		"what is no UTF-8":     {"\xff\xfe\n", []string{"\ufffd"}},
		"JSON of its own":      {`{"level":30,"msg":"up"}` + "\n", []string{`{"level":30,"msg":"up"}`}},
		"a number and a value": {"1 {}\n", []string{"1 {}"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTrial(t, nil)
			p.start(told(p.worker("dirty", "hello"), test.text))
			var logs []string
			for _, line := range p.host.Logs("dirty", 0) {
				logs = append(logs, line.Text)
			}
			require.Equal(t, test.logs, logs)
			require.Equal(t, uint64(len(test.logs)), p.inspect("dirty").Dropped[paperclip.DroppedStray])
			p.wantCall("dirty", "hello", `{}`, `{"content":"hello"}`)
		})
	}
}

func TestProbe_mistakesOfFramingAreNamed(t *testing.T) {
	long := strings.Repeat("\x1b", 150) + strings.Repeat("x", 150)
	for name, test := range map[string]struct{ text, want string }{
		"two values on a line": {
			"INITINIT\n",
			"plugin dirty wrote more behind a frame on its line; expected one JSON object on every line; what came is: " +
				`{"jsonrpc":"2.0","id":1,"result":{"ok":true}}{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`,
		},
		"a Content-Length header": {
			"Content-Length: 45\r\n\r\nINIT",
			"plugin dirty wrote a Content-Length header; expected one JSON object on every line and nothing else; what came is: Content-Length: 45",
		},
		"glued text": {
			"ready!INIT\n",
			`plugin dirty wrote text in front of a frame; expected every frame on a line of its own; what came is: ready!{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`,
		},
		"long glued text": {
			long + "INIT\n",
			"plugin dirty wrote text in front of a frame; expected every frame on a line of its own; what came is: " +
				strings.Repeat("?", 150) + strings.Repeat("x", 50),
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTrial(t, nil)
			began := time.Now()
			_, err := p.host.Start(t.Context(), told(p.worker("dirty"), test.text), actors.StartOptions{})
			require.EqualError(t, err, test.want)
			require.Equal(t, protocol.CodeWire, protocol.CodeOf(err))
			require.Less(t, time.Since(began), 10*time.Second, "at the line, and not at the deadline of 15 s")
			require.Equal(t, test.want, p.inspect("dirty").Reason)
		})
	}
}

// TestProbe_aFloodOfStrayLinesIsCounted takes what is logged for one entry: a line
// that is shown, or a count. Another line is shown every two seconds, if the flood
// should last so long.
func TestProbe_aFloodOfStrayLinesIsCounted(t *testing.T) {
	p := newTrial(t, nil)
	began := time.Now()
	p.start(told(p.worker("dirty", "hello"), "flood"))
	p.wantPhase("dirty", lifecycle.Ready, 1) // what came before has come
	all, _ := p.seen.all()
	entries := slices.DeleteFunc(all, func(e actors.Event) bool {
		logged, _ := e.(actors.Logged)
		dropped, _ := e.(actors.Dropped)
		return logged.Plugin != "dirty" && dropped.Plugin != "dirty"
	})
	require.LessOrEqual(t, len(entries), 10+int(time.Since(began)/(2*time.Second)))
	require.NotEmpty(t, p.host.Logs("dirty", 0), "the first ones are shown")
	require.Equal(t, uint64(floodLines), p.inspect("dirty").Dropped[paperclip.DroppedStray])
	require.Contains(t, fmt.Sprint(entries[len(entries)-1]), fmt.Sprint(floodLines))
	p.wantCall("dirty", "hello", `{}`, `{"content":"hello"}`)
}
