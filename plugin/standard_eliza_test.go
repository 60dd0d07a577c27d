package plugin_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol/eliza"
)

// startAs starts the test binary as a worker with more arguments and variables.
func startAs(t *testing.T, args []string, env ...string) *process {
	t.Helper()
	p := prepare(t, "")
	p.Args = append(p.Args, args...)
	p.Env = append(p.Env, env...)
	require.NoError(t, p.Start())
	return p
}

// elizaProcess is the host of a worker that runs as a process.
func elizaProcess(t *testing.T, p *process, decided eliza.Plugin) *host {
	t.Helper()
	h := newElizaHost(t, decided)
	h.join(p.in, p.out)
	return h
}

func TestMain_servesAnElizaHost(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rpc.key"), []byte(strings.Repeat("0a", 32)), 0o600))
	signed := eliza.Plugin{Key: []byte(strings.Repeat("\n", 32))}
	stdio, id, state := "ELIZA_REMOTE_PLUGIN_CHANNEL=stdio", "ELIZA_REMOTE_PLUGIN_ID=acme.p", "ELIZA_REMOTE_PLUGIN_STATE_DIR="+dir
	for name, as := range map[string]struct {
		args, env []string
		decided   eliza.Plugin
	}{
		"by its environment":  {env: []string{stdio, id}},
		"signed":              {env: []string{stdio, id, state}, decided: signed},
		"by an argument":      {args: []string{"--mine", "--dialect=eliza"}},
		"by a variable":       {env: []string{"AIRI_HOST_DIALECT=eliza"}},
		"by the first frame":  {},
		"that and are signed": {env: []string{state}, decided: signed},
	} {
		t.Run(name, func(t *testing.T) {
			p := startAs(t, as.args, as.env...)
			h := elizaProcess(t, p, as.decided).begun()
			h.want("model:PRINT", `{}`, `""`)
			p.wantSaid(t, "a stray print")
			p.wantSaid(t, "a stray log")
			require.NoError(t, p.in.Close())
			<-h.gone
			p.wantExit(t, 0)
			require.Empty(t, h.dropped)
		})
	}
}

func TestMain_cannotTellWhoseWorkerItIs(t *testing.T) {
	for want, as := range map[string]struct {
		arg, env, line string
	}{
		`process: --dialect: expected one of eliza, paperclip, got "airi"`:                        {arg: "--dialect=airi"},
		`process: ELIZA_REMOTE_PLUGIN_CHANNEL is "": expected "stdio"`:                            {env: "ELIZA_REMOTE_PLUGIN_ID=p"},
		`process: which host is this? The first line is neither JSON-RPC ("jsonrpc"), as a Paper`: {line: "hello"},
	} {
		p := startAs(t, []string{as.arg}, as.env)
		if as.line != "" {
			_, err := io.WriteString(p.in, as.line+"\n")
			require.NoError(t, err)
		}
		p.wantSaid(t, want)
		p.wantExit(t, 2)
	}
}

func TestMain_refusesAKeyThatIsNone(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rpc.key"), []byte("x"), 0o600))
	p := startAs(t, nil, "ELIZA_REMOTE_PLUGIN_CHANNEL=stdio", "ELIZA_REMOTE_PLUGIN_STATE_DIR="+dir)
	p.wantSaid(t, "process: the key of the host's calls: ")
	p.wantExit(t, 1)
}

// Nobody has to wait for a host that never says anything.
func TestMain_endsBeforeAnybodyHasSaidAnything(t *testing.T) {
	p := startAs(t, nil)
	require.NoError(t, p.in.Close())
	p.wantExit(t, 0)
}

// What runs at the end of standard input is answered, and what does not end in time hears that
// it has to.
func TestMain_endsWithTheInputOfAnElizaHost(t *testing.T) {
	for _, end := range []func(*process) error{
		func(p *process) error { return p.in.Close() },
		func(p *process) error { return p.Process.Signal(syscall.SIGTERM) },
	} {
		p := startAs(t, nil, "ELIZA_REMOTE_PLUGIN_CHANNEL=stdio")
		h := elizaProcess(t, p, eliza.Plugin{}).begun()
		call := h.begin("model:HOLD", `{}`)
		p.wantSaid(t, "holding")
		require.NoError(t, end(p))
		p.wantSaid(t, "let go")
		require.EqualError(t, (<-call).Err, "context canceled")
		p.wantExit(t, 0)
	}
}
