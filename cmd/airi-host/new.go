package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/manifest"
)

const newText = `Write a plugin to start from, complete with manifest, code, a test and a README.

  go      a worker in Go, on the SDK; go.mod points at the checkout that this host was built
          from (or --sdk), or at the version that it was released as
  js      a module of Project AIRI in JavaScript
  python  a worker in Python, with its standard library alone

NAME is the plugin's, and that of the directory, unless --dir says otherwise. A directory that
holds something is refused. What is written runs at once: the README says how it is tested,
checked and called.

With --output json what was written is {"event":"written","name":…,"language":…,"dir":…,"files":[…]}.`

type newOptions struct{ language, dir, sdk string }

func (c *cli) newCommand() *cobra.Command {
	var opts newOptions
	languages := strings.Join(starterLanguages(), ", ")
	cmd := &cobra.Command{
		Use:     "new NAME --lang go|js|python",
		Short:   "Write a plugin to start from",
		Long:    newText,
		Example: "  airi-host new greeter --lang python\n  airi-host new greeter --lang go --dir plugins/greeter",
		Args:    c.arguments(1, 1, "a NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(starterLanguages(), opts.language) {
				return usageError{fmt.Errorf("--lang %q: expected one of %s", opts.language, languages)}
			}
			if err := manifest.CheckName(args[0]); err != nil {
				return usageError{err}
			}
			return c.writeNew(args[0], opts)
		},
	}
	cmd.Flags().StringVar(&opts.language, "lang", "", "what it is written in: "+languages)
	cmd.Flags().StringVar(&opts.dir, "dir", "", "the directory to write; NAME if it is not said")
	cmd.Flags().StringVar(&opts.sdk, "sdk", "", "a checkout of airi-host to take the Go SDK from, instead of what this host was built from")
	return cmd
}

type writtenLine struct {
	Event    string   `json:"event"`
	Name     string   `json:"name"`
	Language string   `json:"language"`
	Dir      string   `json:"dir"`
	Files    []string `json:"files"`
}

// writeNew writes a plugin and tells what it has written.
func (c *cli) writeNew(name string, opts newOptions) error {
	s := starter{Name: name, ModuleName: strings.TrimRight(name, ".")}
	if opts.language == "go" {
		info, _ := debug.ReadBuildInfo()
		if err := s.sdk(opts.sdk, info, builtFrom()); err != nil {
			return err
		}
	}
	files, err := s.render(opts.language)
	if err != nil {
		return err
	}
	dir := cmp.Or(opts.dir, name)
	if err := writeStarter(dir, files); err != nil {
		return err
	}
	line := writtenLine{"written", name, opts.language, dir, nil}
	for _, f := range files {
		line.Files = append(line.Files, f.name)
		c.say("%s", printable(filepath.Join(dir, f.name)))
	}
	if c.json() {
		c.encode(line)
	}
	c.say("call it: airi-host call tool:%s-greet '{\"name\":\"Ada\"}' --dir %s", name, word(printable(dir)))
	return nil
}

// word writes a directory as one word of a shell's.
func word(dir string) string {
	if !strings.ContainsAny(dir, " '\"\\$`&|;<>()*?[]#~!{}") {
		return dir
	}
	return "'" + strings.ReplaceAll(dir, "'", `'\''`) + "'"
}

const sdkModule = "github.com/airi-host/airi-host"

// sdk says where a Go plugin gets the SDK: from a checkout that is given or that the host was
// built from, or else as the version that the host is.
func (s *starter) sdk(given string, info *debug.BuildInfo, built string) error {
	s.GoVersion, s.SDKVersion = goVersion(info), "v0.0.0"
	switch {
	case given != "":
		dir, err := filepath.Abs(given)
		if err != nil {
			return err
		}
		if !isCheckout(dir) {
			return usageError{fmt.Errorf("--sdk %q: expected a checkout of airi-host: its go.mod has no line \"module %s\"", given, sdkModule)}
		}
		s.SDK = modPath(dir)
	case info != nil && info.Main.Sum != "": // it was downloaded as a module
		s.SDKVersion = info.Main.Version
	case isCheckout(built):
		s.SDK = modPath(built)
	default:
		return errors.New("this host was built from a checkout that is not there: say by --sdk where one is, for the replace in go.mod")
	}
	return nil
}

// goVersion is the language's version for a go.mod: the one that the host was built with,
// without its patch.
func goVersion(info *debug.BuildInfo) string {
	version := runtime.Version()
	if info != nil {
		version = info.GoVersion
	}
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "go"), " ")
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	return major + "." + minor + ".0"
}

// builtFrom is the folder of the checkout whose source this is, if it was built from one
// whose paths were kept.
func builtFrom() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// isCheckout tells whether a directory holds this module.
func isCheckout(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	f, err := os.Open(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it is only read
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "module "+sdkModule {
			return true
		}
	}
	return false
}

// modPath is a path as a go.mod has it.
func modPath(dir string) string {
	dir = filepath.ToSlash(dir)
	if strings.ContainsAny(dir, " \t\"'`()[]{},;=>") || strings.Contains(dir, "//") {
		return strconv.Quote(dir)
	}
	return dir
}
