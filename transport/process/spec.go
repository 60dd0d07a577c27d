package process

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Wire says which descriptors of the worker carry records.
type Wire int

const (
	// Stdio is a worker that reads records on standard input and writes them on
	// standard output.
	Stdio Wire = iota
	// Own is a worker that reads records on descriptor 3 and writes them on
	// descriptor 4. Its standard output is log text.
	Own
)

// The default grace times.
const (
	DefaultExitGrace = time.Second
	DefaultDrainIdle = 500 * time.Millisecond
	DefaultDrainMost = 2 * time.Second
)

// Spec says what to run and within which limits. Plugin and Path are required.
type Spec struct {
	// Plugin names the plugin in errors.
	Plugin string

	// Path is the program. A name without a slash is looked up in the host's
	// PATH; a relative path is taken from Dir.
	Path string

	// Args are the arguments, without the program's name. Other users of the
	// machine can read them: secrets belong into Env.
	Args []string

	// Dir is the working directory. Empty means the host's.
	Dir string

	// Env is the whole environment, as NAME=value; nothing of the host's is
	// added, but for MarkerVar. Most callers take that of Environment.
	Env []string

	// Wire says where records travel.
	Wire Wire

	// Owner is whom the worker belongs to beyond the life of this host: 16 to 128
	// random letters, digits, "-" and "_", which a host keeps with its state, as
	// secret as that, so that Sweep of a later one finds what this one had to leave.
	// Empty means nobody.
	Owner string

	// Reach says how far Stop has to reach; see Process.Containment for how far it
	// does. With ReachCgroup Start fails where that does not work.
	Reach Reach

	// Cgroup is a directory of cgroup v2 below which the worker gets one of its own.
	// Empty means the one that the host was started in. The limits of memory and
	// processes need one that has these controllers and holds no process itself, but
	// for the host's own, which are moved; see the package's text.
	Cgroup string

	// Adopt makes the host's process the parent of its orphans, on Linux, from the
	// first Start on and for good (PR_SET_CHILD_SUBREAPER), and reaps those that are
	// a worker's. Nothing escapes Stop without it: it is for systems whose PID 1
	// reaps nobody, where zombies would stay. A program that embeds the host and has
	// children of its own gets their orphans, too, and nobody reaps those.
	Adopt bool

	// Limits is what the worker may use.
	Limits Limits

	// MaxRecord is the largest record in bytes, in both directions. Zero or less
	// means transport.DefaultMaxRecord.
	MaxRecord int

	// QueueRecords and QueueBytes bound what waits for a worker that reads
	// slowly; see ndjson.WriterOptions, which also has the defaults.
	QueueRecords, QueueBytes int

	// Log, if set, takes the worker's log lines, one at a time and in order. A
	// slow Log costs log lines, nothing else: up to LogQueue lines wait for it,
	// more are dropped and counted.
	Log func(LogLine)

	// Ended, if set, is called once, when the worker has exited, before that is told to
	// anybody, or when Start fails: it takes away what was made for this worker alone. It
	// must not block.
	Ended func()

	// Traces bound a LogLine that has several lines.
	Traces Traces

	// ExitGrace is how long a worker that has closed a pipe may take to exit
	// before the connection ends without an exit. Zero or less means
	// DefaultExitGrace.
	ExitGrace time.Duration

	// DrainIdle and DrainMost say how long the pipes are still read, after an
	// exit, when a descendant holds them: DrainIdle from the last byte, DrainMost
	// in all. What had arrived before the exit is never cut. Zero or less means
	// DefaultDrainIdle and DefaultDrainMost.
	DrainIdle, DrainMost time.Duration
}

// inherited are the names of the host's variables that every worker gets.
var inherited = [...]string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"}

// Environment returns the environment of a worker, sorted: PATH, HOME, LANG, TZ
// and TMPDIR of the host where they are set, and extra, which wins. Nothing else
// of the host's environment reaches a worker. A nil lookup means os.LookupEnv.
func Environment(extra map[string]string, lookup func(string) (string, bool)) []string {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	all := make(map[string]string, len(inherited)+len(extra))
	for _, name := range inherited {
		if value, ok := lookup(name); ok {
			all[name] = value
		}
	}
	maps.Copy(all, extra)
	env := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, name+"="+all[name])
	}
	return env
}

// resolved checks a Spec and fills in its defaults.
func (s Spec) resolved() (Spec, error) {
	orDefault(&s.ExitGrace, DefaultExitGrace)
	orDefault(&s.DrainIdle, DefaultDrainIdle)
	orDefault(&s.DrainMost, DefaultDrainMost)
	if s.Plugin == "" {
		return s, errors.New("process: Spec.Plugin is empty: name the plugin")
	}
	for _, check := range []func() error{s.checkWire, s.checkStrings, s.checkEnv, s.checkDir, s.checkOwner, s.checkReach, s.checkLimits} {
		if err := check(); err != nil {
			return s, fmt.Errorf("plugin %s: %w", s.Plugin, err)
		}
	}
	path, err := s.program()
	if err != nil {
		return s, fmt.Errorf("plugin %s: %w", s.Plugin, err)
	}
	s.Path = path
	return s, nil
}

func orDefault(d *time.Duration, value time.Duration) {
	if *d <= 0 {
		*d = value
	}
}

func (s Spec) checkWire() error {
	if s.Wire != Stdio && s.Wire != Own {
		return fmt.Errorf("wire %d is unknown: take Stdio or Own", s.Wire)
	}
	return nil
}

// checkStrings finds what no program can be given. It does not quote arguments.
func (s Spec) checkStrings() error {
	if strings.ContainsRune(s.Path, 0) || strings.ContainsRune(s.Dir, 0) {
		return errors.New("the program or its directory holds a zero byte")
	}
	if strings.ContainsRune(s.Plugin, 0) {
		return errors.New("the plugin's name holds a zero byte")
	}
	for i, arg := range s.Args {
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("argument %d holds a zero byte", i+1)
		}
	}
	return nil
}

// checkEnv names a bad variable but never shows a value.
func (s Spec) checkEnv() error {
	for i, entry := range s.Env {
		name, _, found := strings.Cut(entry, "=")
		switch {
		case !found:
			return fmt.Errorf("environment entry %d has no \"=\": write NAME=value", i+1)
		case name == "":
			return fmt.Errorf("environment entry %d has an empty name", i+1)
		case strings.ContainsRune(entry, 0):
			return fmt.Errorf("environment variable %q holds a zero byte", strings.ReplaceAll(name, "\x00", ""))
		}
	}
	return nil
}

func (s Spec) checkDir() error {
	if s.Dir == "" {
		return nil
	}
	info, err := os.Stat(s.Dir)
	if err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("working directory %s is not a directory", s.Dir)
	}
	return nil
}

// program finds the file to run.
func (s Spec) program() (string, error) {
	if s.Path == "" {
		return "", errors.New("no program is given: set Spec.Path")
	}
	if !strings.Contains(s.Path, "/") {
		path, err := exec.LookPath(s.Path)
		if err != nil {
			return "", fmt.Errorf("program: %w", err)
		}
		return filepath.Abs(path)
	}
	path := s.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("program %s: %w", s.Path, err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("program: %w", err)
	case info.IsDir():
		return "", fmt.Errorf("program %s is a directory", path)
	case info.Mode().Perm()&0o111 == 0:
		return "", fmt.Errorf("program %s is not executable: chmod +x it, or name its interpreter", path)
	}
	return path, nil
}
