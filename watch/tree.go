package watch

import (
	"context"
	"os"
	"path/filepath"
)

// Folder is what is looked at.
type Folder struct {
	// Name is what the log calls it: a plugin's name.
	Name string
	// Path is where it is, or will be.
	Path string
	// Shallow leaves out all that is deeper than its direct sub-directories, among
	// which links are followed.
	Shallow bool
	// Passive says that Changed causes no changes, so that it is told of all of them.
	Passive bool
	// Changed is called when something has changed; file is what did so last. ctx ends
	// with the watcher, or when the folder is no longer looked at.
	Changed func(ctx context.Context, file string)
}

// tree is a folder that is looked at. All paths in it are real ones: absolute, without
// links.
type tree struct {
	Folder
	pace pace
	// anchors are the names that lead to the folder, by the directory that each is in:
	// when one of them comes or goes the folder is another.
	anchors map[string]map[string]bool
	// dirs are the directories whose entries are looked at.
	dirs map[string]bool
	// stale is set when these may be others by now.
	stale bool
	// left is how many directories are known not to be looked at.
	left int
	// file is what has changed last.
	file string

	life   context.Context
	giveUp context.CancelFunc
}

// maxLinks is how many links may lead to each other.
const maxLinks = 40

// locate finds the directory that a path leads to, and what leads there.
func locate(path string) (target string, anchors map[string]map[string]bool) {
	anchors = map[string]map[string]bool{}
	missing := false
	for range maxLinks {
		above, name := filepath.Dir(path), filepath.Base(path)
		if above == path {
			return path, anchors
		}
		dir, err := filepath.EvalSymlinks(above)
		if err != nil {
			path, missing = above, true
			continue
		}
		if anchors[dir] == nil {
			anchors[dir] = map[string]bool{}
		}
		anchors[dir][name] = true
		if missing {
			return "", anchors
		}
		path = filepath.Join(dir, name)
		link, err := os.Readlink(path)
		if err != nil { // it is none, or is not there
			return path, anchors
		}
		if path = link; !filepath.IsAbs(link) {
			path = filepath.Join(dir, link)
		}
	}
	return "", anchors
}

// subdirectories lists the directories in one that are entered, as real paths.
func (t *tree) subdirectories(dir string) (list []string) {
	d, err := os.Open(dir)
	if err != nil {
		return nil // it has gone, which will be told
	}
	defer func() { _ = d.Close() }() // it was only read
	for {
		some, err := d.ReadDir(1024)
		for _, entry := range some {
			if t.pace.passed(entry.Name()) {
				continue
			}
			full := filepath.Join(dir, entry.Name())
			switch {
			case entry.IsDir():
				list = append(list, full)
			case t.Shallow && entry.Type()&os.ModeSymlink != 0:
				if target, err := filepath.EvalSymlinks(full); err == nil && isDirectory(target) {
					list = append(list, target)
				}
			}
		}
		if err != nil {
			return list
		}
	}
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
