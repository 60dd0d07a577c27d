package bridge_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/bridge"
)

func TestInstall_writesThePrivateFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "below")
	main := install(t, dir)
	require.True(t, filepath.IsAbs(main))
	require.Equal(t, []string{"NOTICE", "bridge.mjs", "eventa.mjs", "hooks.mjs", "sdk.mjs"}, names(t, filepath.Dir(main)))
	require.Len(t, names(t, dir), 1, "nothing is left beside it")
	for _, path := range []string{dir, filepath.Dir(main)} {
		require.Equal(t, os.FileMode(0o700), mode(t, path))
	}
	require.Equal(t, os.FileMode(0o600), mode(t, main))
}

func TestInstall_usesWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	main := install(t, dir)
	before, err := os.Stat(main)
	require.NoError(t, err)
	require.Equal(t, main, install(t, dir))
	after, err := os.Stat(main)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
}

func TestInstall_replacesWhatWasChanged(t *testing.T) {
	for name, change := range map[string]func(folder string) error{
		"a file has another text": func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "sdk.mjs"), []byte("evil()"), 0o600)
		},
		"a file is missing": func(folder string) error {
			return os.Remove(filepath.Join(folder, "hooks.mjs"))
		},
		"a file is too many": func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "package.json"), []byte("{}"), 0o600)
		},
		"others may write": func(folder string) error {
			return os.Chmod(folder, 0o777)
		},
		"it is a file": func(folder string) error {
			return errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			main := install(t, dir)
			folder := filepath.Dir(main)
			want, err := os.ReadFile(filepath.Join(folder, "sdk.mjs"))
			require.NoError(t, err)
			require.NoError(t, change(folder))

			require.Equal(t, main, install(t, dir))
			got, err := os.ReadFile(filepath.Join(folder, "sdk.mjs"))
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.Len(t, names(t, folder), 5)
			require.Equal(t, os.FileMode(0o700), mode(t, folder))
			require.Len(t, names(t, dir), 1)
		})
	}
}

func TestInstall_mayRunManyTimesAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	errs := make(chan error, 8)
	for range cap(errs) {
		all.Go(func() {
			_, err := bridge.Install(dir)
			errs <- err
		})
	}
	all.Wait()
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
	require.Len(t, names(t, filepath.Dir(install(t, dir))), 5)
	require.Len(t, names(t, dir), 1)
}

func TestInstall_namesThePlaceThatItCannotWriteTo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := bridge.Install(file)
	require.ErrorContains(t, err, "bridge for AIRI modules: install it in "+file)
}

func TestVersion_isThePackages(t *testing.T) {
	text, err := os.ReadFile("package.json")
	require.NoError(t, err)
	var pkg struct {
		Version string
		Engines struct{ Node string }
	}
	require.NoError(t, json.Unmarshal(text, &pkg))
	require.Equal(t, bridge.Version, pkg.Version)
	require.Equal(t, ">="+bridge.MinNode, pkg.Engines.Node)
}

func TestBridge_saysHowItIsStarted(t *testing.T) {
	main := install(t, t.TempDir())
	for want, args := range map[string][]string{
		"name the entrypoint of an AIRI module":           {main},
		"descriptors 3 and 4 have to be pipes to airi-ho": bridge.Args(main, "main.mjs"),
	} {
		cmd := exec.Command(node(t), args...)
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Equal(t, 2, cmd.ProcessState.ExitCode())
		require.Contains(t, string(out), want)
	}
}

func TestBridge_saysWhichNodeItNeeds(t *testing.T) {
	dir := plugin(t, map[string]string{
		"main.mjs": "",
		"old.cjs":  "require('node:module').register = undefined", // as it was before 20.6
	})
	t.Setenv("NODE_OPTIONS", "--require="+filepath.Join(dir, "old.cjs"))
	w := startIn(t, dir, "main.mjs")
	require.ErrorContains(t, next[protocol.Fail](w).Err, "start: the bridge needs Node.js 20.6 or newer, this is ")
	w.wantExit(1)
}

func install(t *testing.T, dir string) string {
	t.Helper()
	main, err := bridge.Install(dir)
	require.NoError(t, err)
	return main
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode().Perm()
}
