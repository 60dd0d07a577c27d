package evaluate

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
)

func TestNode_takesWhatAModuleExports(t *testing.T) {
	need.Node(t)
	for name, want := range map[string]string{
		`export default {a: 1, b: undefined, c: NaN, d: () => 1}`:                                   `{"a":1,"c":null}`,
		`export const manifest = {a: 2}`:                                                            `{"a":2}`,
		`export const manifest = {a: 2}; export default {a: 1}`:                                     `{"a":1}`,
		`export const id = "x"; export const apiVersion = 1`:                                        `{"apiVersion":1,"id":"x"}`,
		`export default await Promise.resolve([1])`:                                                 `[1]`,
		`export default "a\nb"`:                                                                     `"a\nb"`,
		`console.log("ok\n{}"); console.error("x"); setInterval(() => {}, 1000); export default {}`: `{}`,
		`import fs from "fs"; export default fs.readFileSync(0, "utf8")`:                            `""`,
		`export default {long: "é".repeat(200000)}`:                                                 `{"long":"` + strings.Repeat("é", 200_000) + `"}`,
	} {
		wantSays(t, &Node{}, module(t, name), want)
	}
	dir := t.TempDir()
	wantSays(t, &Node{}, write(t, filepath.Join(dir, "m.cjs"), `module.exports = {a: 3}`), `{"a":3}`)
	write(t, filepath.Join(dir, "package.json"), `{"type": "module"}`)
	write(t, filepath.Join(dir, "ids.js"), `export const id = 'x'`)
	wantSays(t, &Node{}, write(t, filepath.Join(dir, "dist", "m #?.js"), `import {id} from "../ids.js"; export default {id}`), `{"id":"x"}`)
}

func TestNode_saysWhatIsWrongWithAModule(t *testing.T) {
	need.Node(t)
	for text, want := range map[string]string{
		`throw new TypeError("no\npe")`: `^cannot be evaluated: TypeError: no pe \(at file://\S+manifest.mjs:1:7\)$`,
		`throw null`:                    `^cannot be evaluated: null$`,
		`import "absent-package"`:       `^cannot be evaluated: Error \[ERR_MODULE_NOT_FOUND\]: Cannot find package 'absent-package' imported from \S+manifest.mjs: run "npm install", or build the plugin$`,
		``:                              `^cannot be evaluated: Error: it exports nothing: export the manifest as default$`,
		`export default () => {}`:       `^cannot be evaluated: Error: it exports a function: export the manifest, an object, as default$`,
		`export default {a: 1n}`:        `^cannot be evaluated: TypeError: Do not know how to serialize a BigInt$`,
		`const a = {}; a.a = a; export default a`:                `^cannot be evaluated: TypeError: Converting circular structure to JSON`,
		"export const a = 1\nexport default {\n}}":               `^cannot be evaluated: SyntaxError: Unexpected token '}' \(at file://\S+manifest.mjs:3:2\)$`,
		"import {no} from './manifest.mjs'":                      `^cannot be evaluated: SyntaxError: The requested module './manifest.mjs' does not provide an export named 'no' \(at file://\S+manifest.mjs:1:9\)$`,
		`console.error("SyntaxError: of mine"); process.exit(1)`: `^made Node.js end with exit status 1, having written "SyntaxError: of mine"$`,
		`JSON.parse("{")`:                      `^cannot be evaluated: SyntaxError: Expected property name or '}' in JSON at position 1.* \(at file://\S+manifest.mjs:1:6\)$`,
		`process.exit(3)`:                      `^made Node.js end with exit status 3$`,
		`process.kill(process.pid, "SIGKILL")`: `^made Node.js end with signal: killed$`,
		`export default "x".repeat(1 << 20)`:   `^says more than 1048576 bytes: move what is long into a file of its own$`,
		`import fs from "fs"; fs.writeSync(4, "hello\n"); export default {}`: `^wrote "hello" on descriptor 4, which is the host's$`,
		`console.error("x".repeat(1e6)); process.exit(1)`:                    `^made Node.js end with exit status 1, having written "x{400}…"$`,
		`throw new Error("x".repeat(1 << 20))`:                               `^says more than 1048576 bytes: `,
		`throw new Error("é".repeat(400))`:                                   `^cannot be evaluated: Error: é{100,200}…$`,
	} {
		_, err := (&Node{}).Evaluate(t.Context(), module(t, text))
		require.Error(t, err, text)
		require.Regexp(t, want, err.Error(), text)
	}
	_, err := (&Node{}).Evaluate(t.Context(), filepath.Join(t.TempDir(), "absent.mjs"))
	require.ErrorContains(t, err, "cannot be evaluated: Error [ERR_MODULE_NOT_FOUND]")
}

func TestNode_withoutNode(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := (&Node{}).Evaluate(t.Context(), module(t, `export default {}`))
	require.ErrorIs(t, err, ErrNoNode)
}

func TestNode_givesACleanEnvironment(t *testing.T) {
	need.Node(t)
	t.Setenv("NODE_OPTIONS", "--no-such-flag")
	t.Setenv("SECRET", "x")
	t.Setenv("TZ", "UTC")
	file := module(t, `export default {names: Object.keys(process.env).sort(), cwd: process.cwd()}`)
	data, err := (&Node{}).Evaluate(t.Context(), file)
	require.NoError(t, err)
	require.NotContains(t, string(data), "SECRET")
	require.NotContains(t, string(data), "NODE_OPTIONS")
	require.Contains(t, string(data), `"PATH"`)
	require.Contains(t, string(data), `"TZ"`)
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	require.NoError(t, err)
	require.Contains(t, string(data), `"cwd":"`+dir+`"`)
}

func TestNode_endsWhatTakesTooLong(t *testing.T) {
	need.Node(t)
	for _, text := range []string{
		`for (;;);`, `await new Promise(r => setTimeout(r, 60000))`,
		`process.on("exit", () => { for (;;); }); export default {}`,
	} {
		n := &Node{Deadline: 500 * time.Millisecond}
		_, err := n.Evaluate(t.Context(), module(t, text))
		require.EqualError(t, err, "took longer than 500ms to evaluate: a manifest must not wait for anything", text)
	}
}

func TestNode_endsWithItsContext(t *testing.T) {
	need.Node(t)
	cause := errors.New("the host stops")
	ctx, cancel := context.WithCancelCause(t.Context())
	began := filepath.Join(t.TempDir(), "began")
	file := module(t, `import fs from "fs"; fs.mkdirSync(`+"`"+began+"`"+`); for (;;);`)
	defer cancel(nil)
	go func() {
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for ctx.Err() == nil {
			<-look.C
			if _, err := os.Stat(began); err == nil {
				cancel(cause)
			}
		}
	}()
	_, err := (&Node{}).Evaluate(ctx, file)
	require.ErrorIs(t, err, cause)
}

func TestNode_takesTheOneThatIsNamed(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		need.Node(t)
	}
	t.Setenv("PATH", t.TempDir())
	wantSays(t, &Node{Program: node}, module(t, `export default {a: 1}`), `{"a":1}`)
	_, err = (&Node{Program: "/nowhere/node"}).Evaluate(t.Context(), module(t, `export default {a: 1}`))
	require.ErrorContains(t, err, "/nowhere/node")
}
