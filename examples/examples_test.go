package examples_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
)

// root is the repository, seen from here.
const root = ".."

// bin is the folder for airi-host.
var bin string

func TestMain(m *testing.M) {
	code := 1
	var err error
	if bin, err = os.MkdirTemp("", "airi-host-examples-"); err == nil {
		code = m.Run()
		_ = os.RemoveAll(bin)
	}
	os.Exit(code)
}

// build builds airi-host, once for all tests.
var build = sync.OnceValue(func() error {
	_, err := output(exec.Command("go", "build", "-buildvcs=false", "-o", bin, "./cmd/airi-host"))
	return err
})

// host is the path of airi-host.
func host(t *testing.T) string {
	t.Helper()
	require.NoError(t, build())
	return filepath.Join(bin, "airi-host")
}

// output runs a command in the repository. Its standard error is part of the error.
func output(cmd *exec.Cmd) (string, error) {
	cmd.Dir = root
	text, err := cmd.Output()
	if ended, ok := err.(*exec.ExitError); ok { //nolint:errorlint // of Output, as it is
		return string(text), &failed{ended, string(ended.Stderr)}
	}
	return string(text), err
}

// failed is a command that said why.
type failed struct {
	error
	stderr string
}

func (f *failed) Error() string { return f.error.Error() + ": " + f.stderr }

// wantCall calls a capability of plugins from the command line.
func wantCall(t *testing.T, want string, args ...string) {
	t.Helper()
	got, err := output(exec.Command(host(t), append([]string{"call"}, args...)...))
	require.NoError(t, err)
	require.Equal(t, want, strings.TrimSpace(got))
}

const text = `{"text":"one\ntwo words"}`

func TestGoPlugin_runsAsAWorker(t *testing.T) {
	need.Node(t) // its manifest is code
	wantCall(t, `{"content":"3 words"}`, "tool:count", text, "--dir", "examples/go-plugin")
	wantCall(t, `0`, "data:total", "--plugin", "words", "--dir", "examples/go-plugin")

	_, err := output(exec.Command(host(t), "call", "tool:count", "{}", "--dir", "examples/go-plugin"))
	require.ErrorContains(t, err, "the input of tool:count of plugin words: /text: is missing")
}

func TestAIRIModule_usesAGoPlugin(t *testing.T) {
	need.Node(t)
	wantCall(t, `{"content":"The text has 3 words."}`, "tool:report", text, "--dir", "examples")
}

func TestGoCaller_callsAnAIRIModule(t *testing.T) {
	need.Node(t)
	wantCall(t, `{"content":"noted: one two"}`, "tool:note", `{"text":" one   two "}`, "--dir", "examples")
}

// The module follows what the Go plugin reports, and is followed itself.
func TestEmbed_runsPluginsOfAllEcosystems(t *testing.T) {
	need.Node(t)
	got, err := output(exec.Command("go", "run", "./examples/embed"))
	require.NoError(t, err)
	require.Equal(t, `ledger ready <nil>
report ready <nil>
words ready <nil>
"line 1: 1"
"line 2: 2"
"3 words"
null <nil>
`, got)
}

// What the documents promise of the examples' length: lines of code, without blank
// ones and comments.
func TestExamples_areAsShortAsPromised(t *testing.T) {
	require.LessOrEqual(t, linesOf(t, "embed/main.go", "main"), 20, "the body of main")
	require.LessOrEqual(t, linesOf(t, "go-plugin/words/words.go", ""), 40, "the file")
}

// linesOf counts the lines of code of a function's body, or of a file if it is "".
func linesOf(t *testing.T, name, function string) int {
	t.Helper()
	source, err := os.ReadFile(name)
	require.NoError(t, err)
	if function != "" {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, source, 0)
		require.NoError(t, err)
		body := file.Scope.Lookup(function).Decl.(*ast.FuncDecl).Body
		source = source[set.Position(body.Lbrace).Offset+1 : set.Position(body.Rbrace).Offset]
	}
	count := 0
	for line := range strings.Lines(string(source)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			count++
		}
	}
	return count
}
