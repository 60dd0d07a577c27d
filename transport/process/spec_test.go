//go:build linux

package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEnvironment_passesFiveNamesAndWhatIsDeclared(t *testing.T) {
	host := map[string]string{
		"PATH": "/bin", "HOME": "/root", "LANG": "C", "TZ": "UTC", "TMPDIR": "/tmp",
		"SECRET": "x", "LD_PRELOAD": "x", "NODE_OPTIONS": "x", "AIRI_HOST_DEBUG": "x",
	}
	lookup := func(name string) (string, bool) { value, ok := host[name]; return value, ok }
	require.Equal(t,
		[]string{"HOME=/root", "LANG=C", "PATH=/usr/bin", "TMPDIR=/tmp", "TOKEN=a=b", "TZ=UTC"},
		Environment(map[string]string{"TOKEN": "a=b", "PATH": "/usr/bin"}, lookup))
	require.Equal(t, []string{"A="}, Environment(map[string]string{"A": ""}, func(string) (string, bool) { return "", false }))
}

func TestEnvironment_asksTheHostByDefault(t *testing.T) {
	t.Setenv("TZ", "Asia/Tokyo")
	t.Setenv("SECRET", "x")
	env := Environment(nil, nil)
	require.Contains(t, env, "TZ=Asia/Tokyo")
	require.NotContains(t, env, "SECRET=x")
}

func TestSpec_reachesTheWorkerAndNothingElseDoes(t *testing.T) {
	t.Setenv("SECRET", "x")
	dir := t.TempDir()
	s := spec(t, "environment")
	s.Dir, s.Args = dir, []string{"one", "two words"}
	w := startSpec(t, s)
	w.want(s.Env...)
	w.want(w.tree.marker.entry()) // the only thing that is added
	w.want(dir, "[one two words]")
}

func TestSpec_errorsNameWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, []byte("x"), 0o600))
	garbage := filepath.Join(dir, "garbage")
	require.NoError(t, os.WriteFile(garbage, []byte("\x7fELF"), 0o700))
	for name, tc := range map[string]struct {
		spec Spec
		text []string
	}{
		"no plugin":       {Spec{Path: "sh"}, []string{"Spec.Plugin"}},
		"no program":      {Spec{Plugin: "p"}, []string{`plugin p`, "Spec.Path"}},
		"not in PATH":     {Spec{Plugin: "p", Path: "no-such-program"}, []string{`plugin p`, "no-such-program", "not found"}},
		"missing program": {Spec{Plugin: "p", Path: "/no/such"}, []string{`plugin p`, "/no/such"}},
		"relative to Dir": {Spec{Plugin: "p", Path: "./none", Dir: dir}, []string{filepath.Join(dir, "none")}},
		"a directory":     {Spec{Plugin: "p", Path: dir}, []string{dir, "is a directory"}},
		"not executable":  {Spec{Plugin: "p", Path: plain}, []string{plain, "chmod +x"}},
		"not a program":   {Spec{Plugin: "p", Path: garbage}, []string{`plugin p`, garbage, "exec format"}},
		"no directory":    {Spec{Plugin: "p", Path: "sh", Dir: "/no/such"}, []string{"working directory", "/no/such"}},
		"a file as dir":   {Spec{Plugin: "p", Path: "sh", Dir: plain}, []string{"working directory", "not a directory"}},
		"zero in path":    {Spec{Plugin: "p", Path: "a\x00b"}, []string{"zero byte"}},
		"zero in args":    {Spec{Plugin: "p", Path: "sh", Args: []string{"a", "\x00"}}, []string{"argument 2", "zero byte"}},
		"env without =":   {Spec{Plugin: "p", Path: "sh", Env: []string{"A=1", "hush"}}, []string{"entry 2", "NAME=value"}},
		"env no name":     {Spec{Plugin: "p", Path: "sh", Env: []string{"=hush"}}, []string{"entry 1", "empty name"}},
		"env zero":        {Spec{Plugin: "p", Path: "sh", Env: []string{"A=hush\x00"}}, []string{`"A"`, "zero byte"}},
		"zero in plugin":  {Spec{Plugin: "a\x00b", Path: "sh"}, []string{"name", "zero byte"}},
		"owner too short": {Spec{Plugin: "p", Path: "sh", Owner: "hush"}, []string{`plugin p`, "owner", "16 to 128"}},
		"owner not plain": {Spec{Plugin: "p", Path: "sh", Owner: "hush:hush:hush:hush"}, []string{"owner", `':'`}},
		"unknown reach":   {Spec{Plugin: "p", Path: "sh", Reach: "moon"}, []string{`"moon"`, "cgroup, sweep, group"}},
		"negative limit":  {Spec{Plugin: "p", Path: "sh", Limits: Limits{Processes: -1}}, []string{"negative", "processes -1"}},
		"no such cgroup":  {Spec{Plugin: "p", Path: "sh", Reach: ReachCgroup, Cgroup: "/no/such"}, []string{`plugin p`, "cgroup", "/no/such"}},
		"no cgroup there": {Spec{Plugin: "p", Path: "sh", Reach: ReachCgroup, Cgroup: dir}, []string{dir, "cgroup.kill"}},
		"unknown wire":    {Spec{Plugin: "p", Path: "sh", Wire: 7}, []string{"wire 7", "Stdio or Own"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := descriptors(t)
			_, err := Start(tc.spec)
			wantErrorText(t, err, tc.text...)
			require.NotContains(t, err.Error(), "hush", "no value of the environment is shown")
			require.Equal(t, before, descriptors(t))
		})
	}
}

func TestSpec_findsTheProgram(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "worker")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nread x; echo \"got $x\"\n"), 0o700))
	env := Environment(map[string]string{markVar: t.Name()}, nil)
	for name, s := range map[string]Spec{
		"absolute":        {Path: script},
		"relative to Dir": {Path: "./worker", Dir: dir},
		"in PATH":         {Path: "sh", Args: []string{script}},
	} {
		t.Run(name, func(t *testing.T) {
			s.Plugin, s.Env = "probe", env
			w := startSpec(t, s)
			w.send("it")
			w.want("got it")
		})
	}
	t.Run("relative Dir", func(t *testing.T) {
		t.Chdir(filepath.Dir(dir))
		w := startSpec(t, Spec{Plugin: "probe", Path: "./worker", Dir: filepath.Base(dir), Env: env})
		require.True(t, strings.HasPrefix(w.spec.Path, "/"))
		w.send("it")
		w.want("got it")
	})
}
