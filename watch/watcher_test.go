package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/require"
)

func TestWatcher_tellsWhatChanges(t *testing.T) {
	b := newBench(t, Options{})
	b.write("p/index.mjs", "1")
	b.write("p/dist/a/b/c.mjs", "1")
	b.look("p", false)

	b.write("p/index.mjs", "2")
	b.wantTold("p: p/index.mjs")
	b.write("p/dist/a/b/c.mjs", "2")
	b.wantTold("p: p/dist/a/b/c.mjs")
	b.write("p/.env", "A=1")
	b.wantTold("p: p/.env")
	b.remove("p/index.mjs")
	b.wantTold("p: p/index.mjs")
	b.rename("p/dist", "p/lib")
	b.settle("p")
	b.write("p/lib/a/b/c.mjs", "3")
	b.wantTold("p: p/lib/a/b/c.mjs")
	b.write("p/new/deep/er/x.mjs", "1")
	b.settle("p")
	b.write("p/new/deep/er/x.mjs", "2")
	b.wantTold("p: p/new/deep/er/x.mjs")
	b.mkdir("p/node_modules")
	b.wantTold("p: p/node_modules")
}

func TestWatcher_looksAtNothingElse(t *testing.T) {
	b := newBench(t, Options{Ignore: []string{"data", "*.log"}})
	for _, dir := range []string{".git", "node_modules", "data", "src"} {
		b.mkdir("p/" + dir)
	}
	b.write("p/index.mjs", "1")
	b.mkdir("q")
	b.look("p", false)
	for _, name := range []string{
		".index.mjs.swp", "index.mjs~", "4913", "#index.mjs#", ".#index.mjs", "index.mjs___jb_tmp___", "x.tmp",
		".git/HEAD", "node_modules/x.js", "data/state.json", "a.log", "src/.goutputstream-1", ".DS_Store",
	} {
		b.write("p/"+name, "1")
	}
	require.NoError(t, os.Chmod(b.path("p/index.mjs"), 0o600))
	b.write("q/index.mjs", "1")
	b.write("index.mjs", "1")
	require.Zero(t, b.settle("p"))
	require.Empty(t, b.log.String())
}

func TestWatcher_tellsABurstOnce(t *testing.T) {
	const debounce = 200 * time.Millisecond
	b := newBench(t, Options{Debounce: debounce})
	b.mkdir("p")
	b.look("p", false)
	began := time.Now()
	for i := range 50 {
		b.write(fmt.Sprintf("p/%d.mjs", i), "1")
	}
	took := time.Since(began) // of a busy machine it is no burst
	require.LessOrEqual(t, b.settle("p"), 2+int(took/debounce))
}

// What changes while it is told is told when that is over, once.
func TestWatcher_tellsOneAtATimeAndALastOne(t *testing.T) {
	b := newBench(t, Options{})
	b.mkdir("p")
	begun, goOn := make(chan string), make(chan struct{})
	b.lookAt(Folder{Name: "p", Changed: func(_ context.Context, file string) {
		begun <- filepath.Base(file)
		<-goOn
	}})
	b.write("p/1", "")
	require.Equal(t, "1", <-begun)
	for _, name := range []string{"p/2", "p/3"} {
		b.write(name, "")
		b.write("sentinel/"+filepath.Base(name), "")
		b.wantTold("sentinel: sentinel/" + filepath.Base(name)) // a second one of p would have begun
	}
	goOn <- struct{}{}
	require.Equal(t, "3", <-begun)
	goOn <- struct{}{}
	require.Zero(t, b.settle("p"))
}

func TestWatcher_survivesTheFoldersEnd(t *testing.T) {
	copyOf := func(b *bench, to, text string) {
		b.write(to+"/plugin.json", text)
		b.write(to+"/src/index.mjs", text)
	}
	for name, replace := range map[string]func(*bench){
		"removed and copied": func(b *bench) {
			b.remove("all/p")
			copyOf(b, "all/p", "2")
		},
		"another one moved in": func(b *bench) {
			copyOf(b, "all/next", "2")
			b.rename("all/p", "all/old")
			b.rename("all/next", "all/p")
			b.remove("all/old")
		},
		"the folder above as well": func(b *bench) {
			b.rename("all", "old")
			copyOf(b, "all/p", "2")
		},
		"removed with the folder above": func(b *bench) {
			b.remove("all")
			b.settle("all/p")
			copyOf(b, "all/p", "2")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{})
			copyOf(b, "all/p", "1")
			b.look("all/p", false)
			replace(b)
			require.NotZero(t, b.settle("all/p"))
			b.write("all/p/src/index.mjs", "3")
			b.wantTold("all/p: all/p/src/index.mjs")
			b.write("all/p/plugin.json", "3")
			b.wantTold("all/p: all/p/plugin.json")
			b.do(func() { require.Len(t, b.system.WatchList(), len(b.places)) })
		})
	}
}

func TestWatcher_waitsForAFolderThatIsNotThere(t *testing.T) {
	b := newBench(t, Options{})
	b.look("a/b/c", false)
	b.mkdir("a")
	b.settle("a/b/c")
	b.write("a/b/c/index.mjs", "1")
	require.NotZero(t, b.settle("a/b/c"))
	b.write("a/b/c/index.mjs", "2")
	b.wantTold("a/b/c: a/b/c/index.mjs")
}

func TestWatcher_followsTheLinkThatAFolderIs(t *testing.T) {
	b := newBench(t, Options{})
	b.write("v1/index.mjs", "1")
	b.write("v2/index.mjs", "1")
	b.mkdir("all")
	b.link("v1", "current")
	b.link("../current", "all/p")
	b.look("all/p", false)
	b.write("v1/index.mjs", "2")
	b.wantTold("all/p: v1/index.mjs")

	b.link("v2", "next")
	b.rename("next", "current") // a link in the middle of the way
	b.wantTold("all/p: current")
	b.write("v2/index.mjs", "2")
	b.wantTold("all/p: v2/index.mjs")
	b.write("v1/index.mjs", "3")
	require.Zero(t, b.settle("all/p"))

	b.remove("v2")
	b.write("v2/index.mjs", "3")
	require.NotZero(t, b.settle("all/p"))
	b.write("v2/index.mjs", "4")
	b.wantTold("all/p: v2/index.mjs")
}

func TestWatcher_shallow(t *testing.T) {
	b := newBench(t, Options{})
	b.mkdir("all/p/src")
	b.mkdir("far/src")
	b.link("../far", "all/q")
	b.look("all", true)
	b.write("all/p/plugin.json", "1")
	b.wantTold("all: all/p/plugin.json")
	b.write("all/q/plugin.json", "1")
	b.wantTold("all: far/plugin.json")
	b.write("all/p/src/index.mjs", "1")
	b.write("all/q/src/index.mjs", "1")
	require.Zero(t, b.settle("all"))
	b.mkdir("all/new")
	b.wantTold("all: all/new")
	b.write("all/new/plugin.json", "1")
	require.NotZero(t, b.settle("all"))
}

// A directory that is moved from one folder to another is looked at where it is now.
func TestWatcher_followsADirectoryIntoAnotherFolder(t *testing.T) {
	b := newBench(t, Options{})
	b.mkdir("p/src/deep")
	b.mkdir("q")
	b.look("p", false)
	b.look("q", false)
	b.rename("p/src", "q/src")
	b.settle("p")
	b.settle("q")
	b.write("q/src/deep/index.mjs", "1")
	b.wantTold("q: q/src/deep/index.mjs")
	require.Zero(t, b.settle("p"))
}

func TestWatcher_looksNoMoreAtWhatWasRemoved(t *testing.T) {
	b := newBench(t, Options{})
	b.mkdir("p")
	b.look("q", false)
	life := make(chan context.Context, 1)
	b.lookAt(Folder{Name: "p", Changed: func(ctx context.Context, _ string) { life <- ctx; <-ctx.Done() }})
	b.watches["p"].Touch()
	ctx := <-life
	b.watches["p"].Remove()
	<-ctx.Done()
	b.write("p/index.mjs", "1")
	b.watches["p"].Touch()
	b.settle("q")
	require.Empty(t, life)
	b.do(func() { require.NotContains(t, b.places, b.path("p")) })
	require.NoError(t, b.Close())
	b.watches["q"].Remove() // after the end nothing is done
}

func TestWatcher_limitOfDirectories(t *testing.T) {
	b := newBench(t, Options{Directories: 4})
	b.mkdir("sentinel")
	b.mkdir("p/1/2/3")
	b.look("p", false)
	require.Contains(t, b.log.String(), "not all directories are watched")
	require.Contains(t, b.log.String(), "plugin=p left_out=1")
	require.Contains(t, b.log.String(), "4 directories are watched, and no more may be: raise watch.directories in the settings, or list names that need not be in watch.ignore")
	b.write("p/1/index.mjs", "1")
	b.wantTold("p: p/1/index.mjs")
	b.do(func() { require.Len(t, b.places, 4) })
}

// What the system refuses is told once, with what to raise; the rest is looked at.
func TestWatcher_limitOfTheSystem(t *testing.T) {
	b := newBench(t, Options{})
	b.mkdir("p/a")
	b.mkdir("p/b")
	b.do(func() {
		b.add = func(dir string) error {
			if dir == b.path("p/a") {
				return syscall.ENOSPC
			}
			return b.system.Add(dir)
		}
	})
	b.look("p", false)
	b.write("p/b/index.mjs", "1")
	b.wantTold("p: p/b/index.mjs")
	b.mkdir("p/c")
	b.wantTold("p: p/c")
	b.write("p/a/index.mjs", "1")
	require.Zero(t, b.settle("p"))
	require.Equal(t, 1, strings.Count(b.log.String(), "raise fs.inotify.max_user_watches"), b.log.String())
	require.Contains(t, b.log.String(), b.path("p/a"))
}

func TestWatcher_whatTheSystemHasLost(t *testing.T) {
	b := newBench(t, Options{})
	b.mkdir("p")
	b.look("p", false)
	b.system.Errors <- fsnotify.ErrEventOverflow
	b.wantTold("p: p")
	b.system.Errors <- errors.New("no luck")
	require.NotZero(t, b.settle("p"))
	require.Contains(t, b.log.String(), `msg="what changes may not be seen" error="no luck"`)
}

// Who changes files whenever a change is told is slowed down, and this is said.
func TestWatcher_breaksALoop(t *testing.T) {
	b := newBench(t, Options{PerMinute: 3})
	b.mkdir("p")
	b.lookAt(Folder{Name: "p", Changed: func(_ context.Context, file string) {
		b.write("p/data.json", "again")
		b.told <- "p: " + filepath.Base(file)
	}})
	b.write("p/index.mjs", "1")
	for _, want := range []string{"index.mjs", "data.json", "data.json"} {
		b.wantTold("p: " + want)
	}
	require.Eventually(t, func() bool { return b.log.String() != "" }, patience, 1e6)
	require.Contains(t, b.log.String(), "it is told once a minute from now on")
	require.Contains(t, b.log.String(), "plugin=p file="+b.path("p/data.json")+" per_minute=3")
	require.Empty(t, b.told)
}

// Who changes nothing is told of everything; several may look at one folder.
func TestWatcher_passive(t *testing.T) {
	b := newBench(t, Options{PerMinute: 1})
	b.mkdir("p")
	b.look("p", true)
	b.lookAt(Folder{Name: "p", Passive: true, Changed: b.tell("passive")})
	for _, name := range []string{"p/1", "p/2", "p/3"} {
		b.write(name, "")
		b.wantTold("passive: " + name)
	}
	require.Contains(t, b.log.String(), "it is told once a minute")
}

func TestExplained_saysWhatToRaise(t *testing.T) {
	err := explained(fmt.Errorf("adding: %w", syscall.ENOSPC))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, "raise fs.inotify.max_user_watches, e.g. with 'sysctl -w ")
	require.ErrorContains(t, explained(syscall.EMFILE), "raise fs.inotify.max_user_instances")
	require.Equal(t, syscall.EIO, explained(syscall.EIO))
}
