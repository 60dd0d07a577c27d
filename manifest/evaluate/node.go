package evaluate

import (
	"bytes"
	"context"
	_ "embed" // for the script's text
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/airi-host/airi-host/transport/process"
)

// DefaultDeadline is how long one evaluation may take.
const DefaultDeadline = 10 * time.Second

// The other limits, in bytes but for the heap's MiB.
const (
	maxAnswer  = 1 << 20
	maxPrinted = 2 << 10
	maxQuoted  = 400
	heap       = "256"
)

// ErrNoNode tells that there is no Node.js to evaluate a manifest with.
var ErrNoNode = errors.New("no Node.js on PATH: install version 20.6 or newer to evaluate Paperclip manifests")

//go:embed evaluate.mjs
var script string

// Node evaluates modules with Node.js. The zero value is ready for use.
type Node struct {
	// Program is the path of Node.js; "" is the one that is on PATH.
	Program string
	// Deadline is how long one evaluation may take; 0 or less is DefaultDeadline.
	Deadline time.Duration

	mu   sync.Mutex
	kept map[string]answer
}

// Evaluate returns what the module at a path exports, as JSON. It fails with
// ErrNoNode, when ctx ends, or with what is wrong with the module, in words that
// follow the module's name.
func (n *Node) Evaluate(ctx context.Context, module string) ([]byte, error) {
	path, err := filepath.Abs(module)
	if err != nil {
		return nil, fmt.Errorf("the working directory is gone: %w", err)
	}
	mark, known := fingerprint(path)
	if known {
		if data, ok := n.recall(path, mark); ok {
			return data, nil
		}
	}
	node, err := n.program()
	if err != nil {
		return nil, err
	}
	data, err := n.run(ctx, node, path)
	if err != nil {
		return nil, err
	}
	if known {
		n.keep(path, mark, data)
	}
	return data, nil
}

// program finds Node.js.
func (n *Node) program() (string, error) {
	if n.Program != "" {
		return exec.LookPath(n.Program)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return "", ErrNoNode
	}
	return node, nil
}

// errDeadline is the cause when the evaluation itself took too long.
var errDeadline = errors.New("deadline")

// run evaluates the module in a process.
func (n *Node) run(ctx context.Context, node, module string) ([]byte, error) {
	limit := n.Deadline
	if limit <= 0 {
		limit = DefaultDeadline
	}
	timed, cancel := context.WithTimeoutCause(ctx, limit, errDeadline)
	defer cancel()
	said, err := answerOf(timed, process.Spec{
		Plugin:    filepath.Base(module),
		Path:      node,
		Args:      []string{"--input-type=module", "--no-warnings", "--max-old-space-size=" + heap, "--eval", script, module},
		Dir:       filepath.Dir(module),
		Env:       process.Environment(nil, os.LookupEnv),
		Wire:      process.Own,
		MaxRecord: maxAnswer,
		ExitGrace: limit, // who closes descriptor 4 has as much time as everybody
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(context.Cause(timed), errDeadline):
		return nil, fmt.Errorf("took longer than %s to evaluate: a manifest must not wait for anything", limit)
	case err != nil:
		return nil, err
	}
	return verdict(said)
}

// verdict takes the script's answer apart: "ok" and JSON, or "error" and the reason
// as JSON.
func verdict(said []byte) ([]byte, error) {
	kind, body, _ := bytes.Cut(said, []byte{' '})
	switch string(kind) {
	case "ok":
		return body, nil
	case "error":
		var reason string
		if json.Unmarshal(body, &reason) == nil {
			return nil, fmt.Errorf("cannot be evaluated: %s", oneLine(reason, maxQuoted))
		}
	}
	return nil, foreign(said)
}

// oneLine makes a text fit a message: one line, cut when it is long.
func oneLine(text string, most int) string {
	text = strings.Join(strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }), " ")
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.ToValidUTF8(text, "")
}
