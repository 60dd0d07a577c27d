package actors_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// The workers of the probes are this test binary itself. Each is a Go function that
// reads and writes lines, so that it can say what no SDK would say.

// The environment of a worker: which one it is, its argument, and what its host, and
// everything that it starts, is known by.
const (
	rogueVar = "AIRI_HOST_PROBE_WORKER"
	argVar   = "AIRI_HOST_PROBE_ARG"
	markVar  = "AIRI_HOST_PROBE_MARK"
)

// rogues are the workers by name. Most of them misbehave.
var rogues = map[string]func(*rogue){
	"neighbor":    (*rogue).serve,
	"separators":  rogueSeparators,
	"frames":      rogueFrames,
	"dirty":       rogueDirty,
	"asks":        rogueAsks,
	"stringly":    rogueStringly,
	"noisy":       rogueNoisy,
	"half-dead":   rogueHalfDead,
	"asks-and-go": rogueAsksAndGoes,
	"leaves":      rogueLeaves,
	"brood":       rogueBrood,
	"deaf":        rogueDeaf,
	"kills-group": rogueKillsItsGroup,
	"slow":        rogueSlow,
	"hangs":       rogueHangs,
	"appends":     rogueAppends,
}

func runRogue(name string) int {
	run, ok := rogues[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "unknown worker", name)
		return 99
	}
	run(&rogue{in: bufio.NewReader(os.Stdin), tools: map[string]tool{"hello": constantly(`{"content":"hello"}`)}})
	return 0
}

// tool answers a call with a result, or with "" when it has answered by itself.
type tool func(ask) string

// constantly is a tool with one answer.
func constantly(result string) tool { return func(ask) string { return result } }

// rogue is a worker's end of Paperclip's wire, as lines.
type rogue struct {
	in *bufio.Reader
	// tools are what it answers while it serves.
	tools map[string]tool
	// heard are the methods of all that came.
	heard []string
}

// ask is a line of the host's.
type ask struct {
	// Line is all of it, as it came.
	Line   string          `json:"-"`
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ToolName   string          `json:"toolName"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"params"`
}

// number is the parameter "n" of a tool.
func (a ask) number() int {
	var p struct {
		N int `json:"n"`
	}
	_ = json.Unmarshal(a.Params.Parameters, &p)
	return p.N
}

// argument is what the worker's own test has to tell it.
func argument() string { return os.Getenv(argVar) }

// hears returns the next line; the end of the input ends the worker.
func (w *rogue) hears() ask {
	line, err := w.in.ReadString('\n')
	if err != nil {
		os.Exit(0)
	}
	a := ask{Line: strings.TrimSuffix(line, "\n")}
	_ = json.Unmarshal([]byte(a.Line), &a)
	w.heard = append(w.heard, a.Method)
	return a
}

// says writes lines, all of them at once.
func (w *rogue) says(lines ...string) {
	_, _ = io.WriteString(os.Stdout, strings.Join(lines, "\n")+"\n")
}

// reply is the answer to a call.
func reply(a ask, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, a.ID, result)
}

// logs tells the host something.
func (w *rogue) logs(text string) {
	w.says(fmt.Sprintf(`{"jsonrpc":"2.0","method":"log","params":{"level":"info","message":%q}}`, text))
}

// begins hears initialize, and answers it.
func (w *rogue) begins() { w.says(reply(w.hears(), `{"ok":true}`)) }

// serve is the whole life of a worker that behaves.
func (w *rogue) serve() {
	for {
		switch a := w.hears(); a.Method {
		case "initialize":
			w.says(reply(a, `{"ok":true}`))
		case "shutdown":
			w.says(reply(a, `null`))
			return
		case "executeTool":
			w.calls(a)
		}
	}
}

func (w *rogue) calls(a ask) {
	one := w.tools[a.Params.ToolName]
	if one == nil {
		w.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"no such tool"}}`, a.ID))
		return
	}
	if answer := one(a); answer != "" {
		w.says(reply(a, answer))
	}
}
