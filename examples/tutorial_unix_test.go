//go:build unix

package examples_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
	"github.com/airi-host/airi-host/peers"
)

// patience is how long a command of the tutorial may take; the first ones build.
const patience = 3 * time.Minute

// The tutorial is followed to the letter, in a copy of the repository: its files are
// written, its commands run, and what they print is compared with what it shows. There
// "…" stands for anything: for any lines, where it is alone on one.
func TestTutorial_isTrue(t *testing.T) {
	need.Node(t)
	follow(t, "tutorial.md")
}

// So is the operator's page. There a command that stays is left running (console serving)
// until it is interrupted (console stopped), as in another terminal; what needs a machine
// of its own (sh) is not run.
func TestOperating_isTrue(t *testing.T) { follow(t, "operating.md") }

// And so is the page on websockets, whose peer is on AIRI's published client; that and
// Eventa are where npm would have put them.
func TestWebsocket_isTrue(t *testing.T) {
	need.Node(t)
	sets := []string{peers.Install(t, peers.AIRISDK), peers.Install(t, peers.EventaB14)}
	r := newReader(t)
	modules := filepath.Join(r.dir, "mine", "node_modules")
	require.NoError(t, os.MkdirAll(modules, 0o750))
	for i, scope := range []string{"@proj-airi", "@moeru"} {
		require.NoError(t, os.Symlink(filepath.Join(sets[i], scope), filepath.Join(modules, scope)))
	}
	r.follow(t, "websocket.md")
}

func follow(t *testing.T, name string) {
	t.Helper()
	newReader(t).follow(t, name)
}

func (r *reader) follow(t *testing.T, name string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", name))
	require.NoError(t, err)
	blocks := blocksOf(t, string(page))
	require.NotEmpty(t, blocks)
	for _, b := range blocks {
		switch b.language {
		case "console":
			for _, c := range commandsOf(t, b) {
				r.run(t, c)
			}
		case "console serving":
			r.serve(t, commandsOf(t, b)[0])
		case "console stopped":
			r.stop(t)
			for _, c := range commandsOf(t, b) {
				r.run(t, c)
			}
		case "terminal":
			r.watch(t, commandsOf(t, b)[0])
		case "sh":
		default:
			r.write(t, b)
		}
	}
}

// block is what stands between two fences. file is what the text before it names last.
type block struct {
	language, file string
	lines          []string
}

var fileName = regexp.MustCompile("`(mine/[^` ]+\\.[a-z]+)`[^`]*:$")

func blocksOf(t *testing.T, page string) (all []block) {
	t.Helper()
	text, inside := "", false
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !inside:
			b := block{language: language}
			if name := fileName.FindStringSubmatch(text); name != nil {
				b.file = name[1]
			}
			all, inside = append(all, b), true
		case fence:
			text, inside = "", false
		case inside:
			b := &all[len(all)-1]
			b.lines = append(b.lines, line)
		case line != "":
			text = line
		}
	}
	require.False(t, inside, "a fence is open")
	return all
}

// command is what is typed, and what the tutorial shows of its output.
type command struct {
	line  string
	shown []string
}

func commandsOf(t *testing.T, b block) (all []command) {
	t.Helper()
	for _, line := range b.lines {
		if typed, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, command{line: typed})
			continue
		}
		require.NotEmpty(t, all, "%s is shown before a command", line)
		c := &all[len(all)-1]
		c.shown = append(c.shown, line)
	}
	require.NotEmpty(t, all)
	return all
}

// reader is who follows the tutorial.
type reader struct {
	dir string
	env []string
	// serving are the commands that stay, in the order of their starts.
	serving []stayer
}

// stayer is a command that stays; rest closes when all that it prints was read.
type stayer struct {
	cmd  *exec.Cmd
	rest chan struct{}
}

// newReader makes a copy of the repository out of links, with nothing in mine/, and a
// folder for programs that is on PATH.
func newReader(t *testing.T) *reader {
	t.Helper()
	repository, err := filepath.Abs(root)
	require.NoError(t, err)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	entries, err := os.ReadDir(repository)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() != ".git" && e.Name() != "mine" {
			require.NoError(t, os.Symlink(filepath.Join(repository, e.Name()), filepath.Join(dir, e.Name())))
		}
	}
	bin := t.TempDir()
	return &reader{dir: dir, env: append(os.Environ(),
		"PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "GOBIN="+bin, "XDG_STATE_HOME="+t.TempDir(),
		"GOFLAGS=-trimpath", // so that go finds what it has built in another such copy
		"TERM=xterm-256color", "NO_COLOR=")}
}

func (r *reader) write(t *testing.T, b block) {
	t.Helper()
	require.NotEmpty(t, b.file, "the text before this names no file of mine/: %q", b.lines)
	name := filepath.Join(r.dir, filepath.FromSlash(b.file))
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o750))
	require.NoError(t, os.WriteFile(name, []byte(strings.Join(b.lines, "\n")+"\n"), 0o600))
}

// serves is a command that listens at the usual address, unless it is told another.
var serves = regexp.MustCompile(`airi-host run\b`)

// start starts a command line as a shell's foreground job, in a process group of its
// own, and ends it if it takes too long.
func (r *reader) start(t *testing.T, line string, output *os.File, group *syscall.SysProcAttr) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", serves.ReplaceAllString(line, "$0 --listen 127.0.0.1:0"))
	cmd.Dir, cmd.Env = r.dir, r.env
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = output, output, group
	if group.Setctty {
		cmd.Stdin = output
	}
	require.NoError(t, cmd.Start())
	require.NoError(t, output.Close())
	late := time.AfterFunc(patience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	t.Cleanup(func() {
		late.Stop()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // where the test has failed, it may still run
		_ = cmd.Wait()
	})
	return cmd
}

// serve starts a command and leaves it running once it has printed what is shown.
func (r *reader) serve(t *testing.T, c command) {
	t.Helper()
	out, in, err := os.Pipe()
	require.NoError(t, err)
	one := stayer{r.start(t, "exec "+c.line, in, &syscall.SysProcAttr{Setpgid: true}), make(chan struct{})}
	r.serving = append(r.serving, one)
	printed := &lines{s: bufio.NewScanner(out)}
	for _, shown := range c.shown {
		if shown != "…" {
			printed.want(t, c.line, shown, true)
		}
	}
	if found := listens.FindStringSubmatch(printed.seen.String()); found != nil {
		r.env = append(r.env, "AIRI_URL=ws://"+found[1]+"/ws")
	}
	go func() {
		defer close(one.rest)
		defer func() { _ = out.Close() }()
		printed.rest()
	}()
}

// stop interrupts what stays, the last one first.
func (r *reader) stop(t *testing.T) {
	t.Helper()
	for _, one := range slices.Backward(r.serving) {
		require.NoError(t, syscall.Kill(-one.cmd.Process.Pid, syscall.SIGINT))
		<-one.rest
		require.NoError(t, one.cmd.Wait())
	}
	r.serving = nil
}

// run compares all that a command prints with what is shown; at ^C it is interrupted.
func (r *reader) run(t *testing.T, c command) {
	t.Helper()
	out, in, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = out.Close() }()
	cmd := r.start(t, c.line, in, &syscall.SysProcAttr{Setpgid: true})
	printed := &lines{s: bufio.NewScanner(out)}
	anything := false
	for _, shown := range c.shown {
		switch shown {
		case "…":
			anything = true
		case "^C":
			require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGINT))
		default:
			printed.want(t, c.line, shown, anything)
			anything = false
		}
	}
	rest := printed.rest()
	require.True(t, anything || rest == "", "%s: this is not shown:\n%s", c.line, rest)
}

// lines are what a command prints, but for what plugins and the host log.
type lines struct {
	s    *bufio.Scanner
	seen strings.Builder
}

var logged = regexp.MustCompile(`^time=\S+ level=`)

func (l *lines) next() (string, bool) {
	for l.s.Scan() {
		l.seen.WriteString(l.s.Text() + "\n")
		if !logged.MatchString(l.s.Text()) {
			return l.s.Text(), true
		}
	}
	return "", false
}

// times are those of a clock, as what is shown has them once it is quoted, and such as
// pass.
var times = regexp.MustCompile(`(?:\d\d:\d\d:\d\d\\?\.\d{3}|\b(?:after|in) [\d.\\]+m?s\b)`)

// listens is where a host says that it does, which a peer has to be told.
var listens = regexp.MustCompile(`(?m)^listening on http://(\S+)$`)

// usualAddress stands for the one that the kernel has picked.
const usualAddress = `127\.0\.0\.1:6121`

// want reads the line that is shown; any may come before it where that is said.
func (l *lines) want(t *testing.T, command, shown string, anything bool) {
	t.Helper()
	quoted := times.ReplaceAllLiteralString(regexp.QuoteMeta(shown), times.String())
	quoted = strings.NewReplacer("…", ".*", usualAddress, `127\.0\.0\.1:\d+`).Replace(quoted)
	pattern := regexp.MustCompile("^" + quoted + "$")
	for {
		line, ok := l.next()
		require.True(t, ok, "%s has ended without printing:\n%s\nIt has printed:\n%s", command, shown, &l.seen)
		if pattern.MatchString(line) {
			return
		}
		require.True(t, anything, "%s printed:\n%s\nThe tutorial shows:\n%s", command, line, shown)
	}
}

func (l *lines) rest() string {
	var rest strings.Builder
	for line, ok := l.next(); ok; line, ok = l.next() {
		rest.WriteString(line + "\n")
	}
	return rest.String()
}

// watch runs a command on a terminal until all that is shown is on the screen, but for
// numbers and the width of columns, and stops it with q.
func (r *reader) watch(t *testing.T, c command) {
	t.Helper()
	console, tty, err := pty.Open()
	require.NoError(t, err)
	defer func() { _ = console.Close() }()
	require.NoError(t, pty.Setsize(console, &pty.Winsize{Rows: 30, Cols: 120}))
	r.start(t, c.line, tty, &syscall.SysProcAttr{Setsid: true, Setctty: true})

	s := &screen{emulator: vt.NewEmulator(120, 30)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(s, console) // it ends with an error when nobody has the tty
	}()
	whole := regexp.MustCompile(alike(strings.Join(c.shown, "\n")))
	require.Eventually(t, func() bool { return whole.MatchString(s.String()) }, patience, 10*time.Millisecond, "%s", s)
	_, err = io.WriteString(console, "q")
	require.NoError(t, err)
	select {
	case <-ended:
	case <-time.After(patience):
		require.FailNow(t, "q has not stopped it")
	}
}

var (
	numbers = regexp.MustCompile(`\d+`)
	blanks  = regexp.MustCompile(` *\n| {2,}`)
)

// alike is a pattern for a text with other numbers and columns.
func alike(text string) string {
	return blanks.ReplaceAllStringFunc(numbers.ReplaceAllLiteralString(regexp.QuoteMeta(text), `\d+`), func(s string) string {
		if strings.HasSuffix(s, "\n") {
			return ` *\n`
		}
		return ` +`
	})
}

// screen is what is on a terminal.
type screen struct {
	mu       sync.Mutex
	emulator *vt.Emulator
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emulator.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emulator.String()
}
