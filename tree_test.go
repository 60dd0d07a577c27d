package airihost_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// impure is what a pure package does not import and call. A name that ends in "/"
// stands for all below it too.
var impure = struct {
	packages, allowed []string
	calls             map[string][]string
}{
	packages: []string{"os/", "net/", "syscall/", "golang.org/x/sys/", "log", "database/sql/"},
	allowed:  []string{"net/netip", "net/url"},
	calls:    map[string][]string{"fmt": {"Print", "Printf", "Println"}},
}

// timed is what a timeless package does not call.
var timed = map[string][]string{
	"time":    {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"},
	"context": {"AfterFunc", "WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
}

func TestPackages_openWithTheirDoc(t *testing.T) {
	docs := map[string]string{} // folder to package comment; "" is still owed
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		docs[s.folder] += ""
		// An example or a plugin of a few lines is one file; a package has its doc.go.
		small := within(s.folder, "examples") || within(s.folder, "testdata/plugins") || within(s.folder, "testdata/workers")
		if small || path.Base(s.path) == "doc.go" {
			docs[s.folder] += s.file.Doc.Text()
		}
		if name := s.file.Name.Name; name != "main" && docs[s.folder] != "" {
			require.True(t, strings.HasPrefix(docs[s.folder], "Package "+name+" "),
				"%s: the package comment begins with its name", s.folder)
		}
	}
	for folder, doc := range docs {
		if doc == "" {
			t.Errorf("%s has no doc.go with a package comment that teaches it", folder)
		}
	}
}

func TestPure_packagesStartNothingAndDoNoIO(t *testing.T) {
	for _, s := range sources(t) {
		a := arrowOf(s.folder)
		if s.test || !a.pure {
			continue
		}
		found := s.impurities()
		if a.timeless {
			found = append(found, s.callsOf(timed)...)
		}
		for _, what := range found {
			t.Errorf("%s %s: %s is to be tested as a table; let its caller do that", s.path, what, a.from)
		}
	}
}

func TestSource_impurities(t *testing.T) {
	const text = `package p

import (
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	clock "time"
)

var _ = url.Parse

func f(wg group) {
	clock.Sleep(clock.Second)
	go f(wg)
	wg.Go(http.Get)
	exec.Command("true")
	fmt.Print(fmt.Sprint())
}
`
	s := parse(t, "p/p.go", text)
	require.Equal(t, []string{
		"imports net/http", "imports os/exec", "starts a goroutine", "starts a goroutine", "calls fmt.Print",
	}, s.impurities())
	require.Equal(t, []string{"calls time.Sleep"}, s.callsOf(timed))
}

// Where a test needs Node or the network, it may be skipped on a developer's
// machine; .ci/run demands that nothing is.
func TestTests_skipByWhatTheyNeedAlone(t *testing.T) {
	for _, s := range sources(t) {
		if s.folder != needed && slices.ContainsFunc(s.calls(), aSkip.MatchString) {
			t.Errorf("%s skips a test: say what is missing by package internal/need, which fails where nothing may be skipped", s.path)
		}
	}
}

var (
	// aSkip is a call that ends a test before it has tested anything.
	aSkip = regexp.MustCompile(`^(t|b|f|tb)\.Skip(f|Now)?$`)
	// aMachinesPath is an absolute path into somebody's home or working tree.
	aMachinesPath = regexp.MustCompile("(?:^|[\\s\"'`=:,(\\[])(?:file://)?/(?:home|root|work|Users)/[\\w.]+")
	// aNote is a page in capitals, as README.md is.
	aNote = regexp.MustCompile(`\b[A-Z]{4,}\.md\b`)
	// aPromise is work that somebody left behind.
	aPromise = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)
)

// What is committed is about the project alone: it names no machine, no page that
// a reader cannot open, and nothing left to do.
func TestTree_speaksOfItselfAlone(t *testing.T) {
	walk(t, func(name string) {
		text := read(t, name)
		for _, found := range aMachinesPath.FindAllString(text, -1) {
			t.Errorf("%s: %q is a path of one machine", name, found)
		}
		if strings.Contains(name, "testdata/") || path.Base(name) == "package-lock.json" {
			return // others' words
		}
		for _, page := range aNote.FindAllString(text, -1) {
			_, atRoot := os.Stat(page)
			if _, beside := os.Stat(filepath.Join(path.Dir(name), page)); atRoot != nil && beside != nil {
				t.Errorf("%s names %s, which is not here", name, page)
			}
		}
		for _, found := range aPromise.FindAllString(text, -1) {
			t.Errorf("%s: %s: do it, or open an issue", name, found)
		}
	})
}

// What a command leaves behind where it was tried is not committed: the folders at the
// root are those that README.md lists.
func TestTree_holdsWhatIsListed(t *testing.T) {
	listed, ignored := read(t, "README.md"), read(t, ".gitignore")
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		name, isListed := e.Name(), false
		if e.IsDir() {
			name += "/"
			isListed = strings.Contains(listed, "`"+name)
		} else {
			isListed = path.Ext(name) != "" || name == "LICENSE"
		}
		if !isListed && name[0] != '.' && !ignores(ignored, e.Name(), e.IsDir()) {
			t.Errorf("%s: README.md does not say what it is: remove it, or say it there", name)
		}
	}
}

// Whoever has tried the README's commands here can still run the tests.
func TestIgnores_whatIsNamedAtTheRoot(t *testing.T) {
	ignored := read(t, ".gitignore")
	for _, c := range []struct {
		name  string
		isDir bool
		want  bool
	}{
		{"airi-host", false, true},
		{"airi-host.json", false, true},
		{"try", true, true},
		{"mine", true, true},
		{"bin", true, true},
		{"try", false, false},
		{"cmd/airi-host", true, false},
		{"host", false, false},
	} {
		require.Equal(t, c.want, ignores(ignored, c.name, c.isDir), c.name)
	}
}

func TestTree_patterns(t *testing.T) {
	root := "/" + "home/" // split, so that this file passes
	for _, text := range []string{"cd " + root + "ada", `"` + root + `ada/x.mjs"`, "at file://" + root + "ada:3", root + "ada"} {
		require.Regexp(t, aMachinesPath, text)
	}
	for _, text := range []string{"a" + root + "ada", "https://example.org" + root + "ada", "$HOME" + root, root} {
		require.NotRegexp(t, aMachinesPath, text)
	}
	require.Regexp(t, aNote, "see NOTES"+".md")
	require.NotRegexp(t, aNote, "see notes.md")
	require.Regexp(t, aPromise, "// FIX"+"ME: later")
}

// source is one Go file of the module, whatever system it is for.
type source struct {
	path, folder string
	test         bool
	file         *ast.File
}

// sources parses every Go file of the module and of the plugins in testdata.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	walk(t, func(name string) {
		// The go command ignores testdata, but for the folders that are named to it.
		named := within(name, "testdata/plugins") || within(name, "testdata/workers")
		if path.Ext(name) == ".go" && (named || !strings.Contains(name, "testdata/")) {
			all = append(all, parse(t, name, read(t, name)))
		}
	})
	require.NotEmpty(t, all)
	return all
}

func parse(t *testing.T, name, text string) source {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	return source{path: name, folder: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), file: file}
}

func (s source) imports() []string {
	var names []string
	for _, spec := range s.file.Imports {
		name, _ := strconv.Unquote(spec.Path.Value) // the parser has seen to it
		names = append(names, name)
	}
	return names
}

// impurities lists what pure code must not have, the imports first.
func (s source) impurities() []string {
	var found []string
	for _, name := range s.imports() {
		if !slices.Contains(impure.allowed, name) && slices.ContainsFunc(impure.packages, func(p string) bool {
			return name == strings.TrimSuffix(p, "/") || (strings.HasSuffix(p, "/") && strings.HasPrefix(name, p))
		}) {
			found = append(found, "imports "+name)
		}
	}
	for _, call := range s.calls() {
		if call == "go" || strings.HasSuffix(call, ".Go") {
			found = append(found, "starts a goroutine")
		}
	}
	return append(found, s.callsOf(impure.calls)...)
}

// callsOf lists what is called of these functions, by package.
func (s source) callsOf(functions map[string][]string) []string {
	var found []string
	for _, call := range s.calls() {
		pkg, name, _ := strings.Cut(call, ".")
		if slices.Contains(functions[pkg], name) {
			found = append(found, "calls "+call)
		}
	}
	return found
}

// calls lists what is called or mentioned as x.Name, in order; x is the last
// part of the import path where x is an import. A go statement is listed as "go".
func (s source) calls() []string {
	renamed := map[string]string{}
	for i, name := range s.imports() {
		if local := s.file.Imports[i].Name; local != nil {
			renamed[local.Name] = path.Base(name)
		}
	}
	var calls []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			calls = append(calls, "go")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				pkg := x.Name
				if name, ok := renamed[pkg]; ok {
					pkg = name
				}
				calls = append(calls, pkg+"."+n.Sel.Name)
			}
		}
		return true
	})
	return calls
}

// walk calls visit for every text file of the tree, by its slash-separated name.
// It passes by what is not committed and what belongs to another module.
func walk(t *testing.T, visit func(name string)) {
	t.Helper()
	ignored := read(t, ".gitignore")
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			isGit := name == ".git" // a file where it is a linked work tree
			if d.Type().IsRegular() && isText(d.Name()) && !isGit && !ignores(ignored, name, false) {
				visit(filepath.ToSlash(name))
			}
			return nil
		}
		if slices.Contains([]string{".git", "node_modules"}, d.Name()) || ignores(ignored, filepath.ToSlash(name), true) {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && name != "." {
			return filepath.SkipDir
		}
		return nil
	}))
}

// ignores tells whether a .gitignore names a file or folder as one of the root's.
func ignores(gitignore, name string, isDir bool) bool {
	if isDir {
		name += "/"
	}
	return strings.Contains(gitignore, "\n/"+name+"\n")
}

func isText(base string) bool {
	return slices.Contains([]string{
		"", ".go", ".mod", ".md", ".yml", ".yaml", ".json", ".jsonl", ".ndjson",
		".mjs", ".js", ".cjs", ".ts", ".mts", ".sh", ".txt", ".txtar", ".mmd", ".golden",
	}, path.Ext(base)) || strings.HasPrefix(base, ".")
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	require.NoError(t, err)
	return string(text)
}
