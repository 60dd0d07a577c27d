// Package logs answers one question: where is what plugins said before?
//
// Files keeps the log of each plugin in a file of its own, one JSON object a line, in
// one directory that only its user can read. Files are rotated, and bounded each and
// together.
//
//	files := logs.Open(dir, logs.Options{Log: log})
//	files.Add(logs.Record{Time: now, Plugin: "greeter", Level: slog.LevelInfo, Message: "hello"})
//	…
//	err := files.Close(ctx)
//
//	greeter.log      the newest records
//	greeter.log.1    those before, and so on
//	%40acme%2Fx.log  the plugin @acme/x: what a file's name may not hold everywhere is
//	                 escaped, capital letters too, so that no two plugins share a file
//
// # Nobody waits for the disk
//
// Add never blocks: a record waits in its plugin's queue for one goroutine that writes
// for all. What does not fit is dropped, counted, and told in the plugin's own file as
// soon as that can be written. A disk that is full or broken, or a directory that is
// gone, is told once, and once more when it works again; meanwhile it is tried again,
// after a pause that doubles. Nothing is kept open between two writes, so that a directory
// may be moved, removed or cleared at any time.
//
// # Reading
//
// Read reads the files of a directory, also while they are written, and also when no
// host runs. A line that is no record, as a machine that fails may leave, is passed over.
package logs
