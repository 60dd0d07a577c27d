package peers

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// built is the file of binary, once there is one; TestMain removes it.
var built string

// binary is airi-host, built once for all tests that run it.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "airi-host-")
	if err != nil {
		return "", err
	}
	built = filepath.Join(dir, "airi-host")
	text, err := exec.Command("go", "build", "-o", built, "../cmd/airi-host").CombinedOutput()
	if err != nil {
		return "", errors.Join(err, errors.New(string(text)))
	}
	return built, nil
})

// commanded is what a command did.
type commanded struct {
	code        int
	said, noted string
}

// command runs airi-host.
func command(t *testing.T, args ...string) commanded {
	t.Helper()
	return commandWith(t, nil, args...)
}

// commandWith is command with more variables in its environment.
func commandWith(t *testing.T, env []string, args ...string) commanded {
	t.Helper()
	file, err := binary()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.Env = append(os.Environ(), env...)
	var said, noted bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &said, &noted, time.Second
	var ended *exec.ExitError
	if err = cmd.Run(); !errors.As(err, &ended) {
		require.NoError(t, err)
	}
	return commanded{cmd.ProcessState.ExitCode(), said.String(), noted.String()}
}

// kitchens is a directory with two plugins, of one release each, that have the same data.
func kitchens(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, set := range map[string]string{"kitchen": Paperclip, "waiter": Paperclip916} {
		dir := filepath.Join(root, name)
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, Unpack(dir, Install(t, set), name, Changes{}))
	}
	return root
}

func TestCommand_runsWorkers(t *testing.T) {
	t.Parallel()
	dir := kitchens(t)
	kitchen := filepath.Join(dir, "kitchen")
	for name, row := range map[string]struct {
		args []string
		want commanded
	}{
		"run": {[]string{"run", "--once", dir}, commanded{said: "2 of 2 plugins ready\n"}},
		"tool": {
			[]string{"call", "tool:add", `{"a":1,"b":2}`, "--dir", kitchen, "--scope", "acme"},
			commanded{said: `{"content":"3","data":{"sum":3,"run":{"agentId":"airi-host","runId":"airi-host","companyId":"acme","projectId":"airi-host"}}}` + "\n"},
		},
		"tool without company": {
			[]string{"call", "tool:add", `{"a":1,"b":2}`, "--dir", kitchen},
			commanded{1, "", "plugin kitchen: tool:add needs a company and has none: give the call a scope, or the host a default one"},
		},
		"data": {[]string{"call", "data:echo", `{"n":1}`, "--dir", dir, "--plugin", "waiter"}, commanded{said: `{"waiter":{"n":1}}` + "\n"}},
		"data of nobody": {
			[]string{"call", "data:echo", "--dir", dir},
			commanded{1, "", "nobody offers data:echo: if a plugin has it that announces no such thing, name the plugin"},
		},
		"failure": {
			[]string{"call", "action:fail", `{"params":{"message":"burnt"}}`, "--dir", kitchen, "--plugin", "kitchen"},
			commanded{1, "", "action:fail: burnt"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := command(t, row.args...)
			require.Equal(t, row.want.code, got.code, got.noted)
			if name == "run" {
				require.Contains(t, got.said, row.want.said)
			} else {
				require.Equal(t, row.want.said, got.said)
			}
			require.Contains(t, got.noted, row.want.noted)
		})
	}
}

// The frames that a worker is sent can be logged; its secrets and its configuration
// are in them, and not in the log.
func TestCommand_logsNoSecrets(t *testing.T) {
	t.Parallel()
	dir, hush := t.TempDir(), t.TempDir()
	require.NoError(t, Unpack(dir, Install(t, Paperclip), "kitchen", Changes{}))
	settings, secret := filepath.Join(hush, "airi-host.json"), filepath.Join(hush, "secret")
	require.NoError(t, os.WriteFile(secret, []byte(secretOfFile), 0o600))
	require.NoError(t, os.WriteFile(settings, []byte(`{
		"secrets": {"file": {"file": "`+secret+`"}}, "plugins": {"kitchen": {"config": {"greeting": "in confidence"}}}
	}`), 0o600))
	got := commandWith(t, []string{"AIRI_HOST_DEBUG=wire"}, "call", "action:secret", `{"params":{"ref":{"type":"secret_ref","secretId":"file"}}}`,
		"--dir", dir, "--plugin", "kitchen", "--scope", "acme", "--config", settings)
	require.Equal(t, commanded{said: `"` + secretOfFile + `"` + "\n"}, commanded{got.code, got.said, ""}, got.noted)
	require.Contains(t, got.noted, "secrets.resolve")
	require.NotContains(t, got.noted, secretOfFile)
	require.NotContains(t, got.noted, "in confidence")
}
