package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
)

// What is written is tested by its own test, is sound, and is called, all at once.
func TestNew_whatIsWrittenRuns(t *testing.T) {
	t.Parallel()
	for language, test := range map[string][]string{
		"go":     {"go", "test", "./..."},
		"js":     {"node", "--test"},
		"python": {"python3", "-m", "unittest"},
	} {
		for _, name := range []string{"mine", "con.7_a-."} { // a plugin may be called so, a Go module may not
			t.Run(language+" "+name, func(t *testing.T) {
				t.Parallel()
				need.Node(t) // it reads manifests, too
				need.Program(t, test[0], test[0]+" is not on PATH")
				dir := filepath.Join(t.TempDir(), "with space")
				wantHost(t, "call it: ", "new", name, "--lang", language, "--dir", dir)

				cmd := exec.CommandContext(t.Context(), test[0], test[1:]...)
				cmd.Dir = dir
				said, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s", said)
				wantHost(t, "1 plugin, no problems\n", "validate", dir)
				wantHost(t, `{"content":"Hello, Ada!"}`, "call", "tool:"+name+"-greet", `{"name":"Ada"}`, "--dir", dir, "--timeout", "2m")
			})
		}
	}
}

// wantHost runs a command line, whose output has a text.
func wantHost(t *testing.T, text string, args ...string) {
	t.Helper()
	var out, errOut bytes.Buffer
	require.Equal(t, exitDone, Main(t.Context(), args, nil, &out, &errOut), "%s%s", &out, &errOut)
	require.Contains(t, out.String(), text)
}

func TestStarter_takesTheSDKFromWhereTheHostIs(t *testing.T) {
	checkout, other := filepath.Join(t.TempDir(), "a checkout"), t.TempDir()
	require.NoError(t, os.Mkdir(checkout, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(checkout, "go.mod"), []byte("// a comment\n\nmodule "+sdkModule+"\n\ngo 1.26.0\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(other, "go.mod"), []byte("module example.com/other\n"), 0o600))
	released := &debug.BuildInfo{GoVersion: "go1.27.3 X:some", Main: debug.Module{Version: "v1.2.3", Sum: "h1:x="}}
	built := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "v0.0.0-20261130-abc+dirty"}}
	quoted := `"` + filepath.ToSlash(checkout) + `"`
	for _, c := range []struct {
		given string
		info  *debug.BuildInfo
		built string
		want  starter
		err   string
	}{
		{given: checkout, info: released, want: starter{SDK: quoted, SDKVersion: "v0.0.0", GoVersion: "1.27.0"}},
		{given: other, info: released, built: checkout, err: `expected a checkout of airi-host: its go.mod has no line "module ` + sdkModule + `"`},
		{info: released, built: checkout, want: starter{SDKVersion: "v1.2.3", GoVersion: "1.27.0"}},
		{info: built, built: checkout, want: starter{SDK: quoted, SDKVersion: "v0.0.0", GoVersion: "1.26.0"}},
		{info: built, built: other, err: "say by --sdk where one is"},
		{info: built, built: filepath.Join(other, "none"), err: "say by --sdk where one is"},
		{info: built, built: "github.com/airi-host/airi-host", err: "say by --sdk where one is"},
	} {
		var s starter
		err := s.sdk(c.given, c.info, c.built)
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, s)
	}
	require.True(t, isCheckout(builtFrom()))
	require.Equal(t, "/plain", modPath("/plain"))
	require.NotEmpty(t, goVersion(nil))

	files, err := starter{Name: "mine", ModuleName: "mine", SDKVersion: "v1.2.3", GoVersion: "1.27.0"}.render("go")
	require.NoError(t, err)
	for _, f := range files {
		switch f.name {
		case "go.mod":
			require.Equal(t, "module example.com/plugin-mine\n\ngo 1.27.0\n\nrequire "+sdkModule+" v1.2.3\n", string(f.text))
		case "README.md":
			require.True(t, strings.Contains(string(f.text), "go mod tidy"))
		}
	}
}
