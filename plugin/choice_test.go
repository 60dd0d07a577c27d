package plugin

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChosen_tellsTheDialect(t *testing.T) {
	eliza := map[string]string{elizaChannel: "stdio", elizaID: "p"}
	for _, c := range []struct {
		args []string
		env  map[string]string
		want string
		fail string
	}{
		{nil, nil, "", ""},
		{nil, eliza, "eliza", ""},
		{nil, map[string]string{paperclipID: "p"}, "paperclip", ""},
		{[]string{"--dialect=paperclip"}, eliza, "paperclip", ""},
		{[]string{"-v", "-dialect", "eliza", "x"}, nil, "eliza", ""},
		{[]string{"--", "--dialect=eliza"}, nil, "", ""},
		{[]string{"dialect", "", "-", "--dialects=x"}, nil, "", ""},
		{nil, map[string]string{dialectVariable: "eliza", paperclipID: "p"}, "eliza", ""},
		{nil, map[string]string{dialectVariable: ""}, "", ""},
		{[]string{"--dialect"}, nil, "", `--dialect: expected one of eliza, paperclip, got ""`},
		{nil, map[string]string{dialectVariable: "airi"}, "", `AIRI_HOST_DIALECT: expected one of eliza, paperclip, got "airi"`},
		{nil, map[string]string{elizaID: "p"}, "", `ELIZA_REMOTE_PLUGIN_CHANNEL is "": expected "stdio": a program can be a process of its own alone`},
		{nil, map[string]string{elizaChannel: "worker"}, "", `ELIZA_REMOTE_PLUGIN_CHANNEL is "worker"`},
		{nil, map[string]string{elizaChannel: "stdio", paperclipID: "p"}, "", `which host is this? Both an elizaOS host's variables and PAPERCLIP_PLUGIN_ID are set`},
	} {
		got, err := chosen(c.args, func(name string) (string, bool) {
			value, ok := c.env[name]
			return value, ok
		})
		require.Equal(t, c.want, got, "%v %v", c.args, c.env)
		if c.fail == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.fail)
		}
	}
}

func TestSpoken_tellsTheDialectByTheFirstFrame(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " \n\n": "", "\n": "",
		`{"jsonrpc":"2.0","id":1,"method":"initialize"}` + "\nmore\n": "paperclip",
		"\r\n \t" + `{"id":1,"type":"x","jsonrpc":"2.0"}`:             "paperclip",
		`{"type":"init","manifest":{}}` + "\n{":                       "eliza",
		`what?` + "\n":                                                "!neither JSON-RPC",
		`{"type":7}` + "\n":                                           "!neither JSON-RPC",
		`{"a":`:                                                       "!neither JSON-RPC",
		`[{"type":"x"}]` + "":                                         "!neither JSON-RPC",
	} {
		got, in, err := spoken(t.Context(), slow{strings.NewReader(text)})
		if why, fails := strings.CutPrefix(want, "!"); fails {
			require.ErrorContains(t, err, why, text)
			require.ErrorContains(t, err, "--dialect NAME, one of eliza, paperclip")
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		if want != "" {
			rest, err := io.ReadAll(in)
			require.NoError(t, err)
			require.Equal(t, strings.TrimLeft(text, "\r\n \t"), strings.TrimLeft(string(rest), "\r\n \t"), "nothing is lost")
		}
	}
	_, _, err := spoken(t.Context(), io.MultiReader(strings.NewReader(" "), broken{}))
	require.EqualError(t, err, "reading from the host: broken")
	_, _, err = spoken(t.Context(), endless{})
	require.ErrorContains(t, err, "the first line has more than 67108864 bytes, the limit")

	in, toWorker := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, rest, err := spoken(ctx, in)
	require.NoError(t, err)
	require.Empty(t, got, "whoever ends the process has not to wait for a host")
	closeAll(rest)
	_, err = toWorker.Write([]byte("x"))
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

// slow gives a byte at a time.
type slow struct{ io.Reader }

func (s slow) Read(p []byte) (int, error) { return s.Reader.Read(p[:1]) }

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("broken") }

// endless is a line without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestElizaOptions_fromEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(elizaID, "acme.clock")
	t.Setenv(elizaStateDir, dir)
	o, err := ElizaOptions{}.fromEnvironment()
	require.NoError(t, err)
	require.Equal(t, ElizaOptions{Name: "acme.clock"}, o, "nothing is signed")

	file := filepath.Join(dir, elizaKeyFile)
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("0a", 32)+"\n"), 0o600))
	o, err = ElizaOptions{Name: "mine"}.fromEnvironment()
	require.NoError(t, err)
	require.Equal(t, "mine", o.Name)
	require.Equal(t, []byte(strings.Repeat("\n", 32)), o.Key)
	o, err = ElizaOptions{Key: []byte("k")}.fromEnvironment()
	require.NoError(t, err)
	require.Equal(t, []byte("k"), o.Key)

	require.NoError(t, os.WriteFile(file, []byte("abc"), 0o600))
	_, err = ElizaOptions{}.fromEnvironment()
	require.EqualError(t, err, "the key of the host's calls: "+file+": expected 64 hexadecimal digits, got 3 bytes that are not")
	require.NoError(t, os.Remove(file))
	require.NoError(t, os.Mkdir(file, 0o700))
	_, err = ElizaOptions{}.fromEnvironment()
	require.ErrorContains(t, err, "the key of the host's calls: ")
}
