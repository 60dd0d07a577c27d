// Package watch answers one question: when have the files of a folder changed?
//
// A [Watcher] looks at folders and all that is below them, and calls a function when
// something has changed there and nothing more follows:
//
//	w, err := watch.New(watch.Options{Log: log})
//	…
//	one := w.Add(watch.Folder{Name: "mirror", Path: "plugins/mirror", Changed: func(ctx context.Context, file string) {
//		reload(ctx, "mirror")
//	}})
//	…
//	one.Remove()
//	…
//	w.Close()
//
// # When a change is told
//
// Options.Debounce after the last change, and at most Options.MaxWait after the first,
// however long they go on. Changed runs once at a time for each folder: what changes
// meanwhile is told when it has returned.
//
// A folder need not be there, and may go and come: it may be removed and copied anew,
// have another one moved into its place, or be a link that comes to point elsewhere.
// All of these are changes. A link is followed where a folder is named, and nowhere
// below it.
//
// # What is looked at
//
// All files but those whose names begin with a dot (.env is looked at), and those that
// editors leave for a while; all folders but those whose names begin with a dot, and
// node_modules. What a build puts into the folder, such as dist, is looked at. Options.Ignore
// names more. A file's mode and times are no change.
//
// # Limits
//
//	more folders than Options.Directories    those are not looked at, the deepest first; it is logged
//	more than the system allows              the same; what to raise is logged
//	changes told Options.PerMinute times     from then on at most once a minute, until nothing has
//	  within a minute                        changed for two: whoever is told may cause the changes
//	events that the system has lost          all folders have changed
//
// # Concurrency
//
// All methods may be called from any goroutine, also by Changed. A watcher has two
// goroutines, and one for each Changed that runs.
package watch
