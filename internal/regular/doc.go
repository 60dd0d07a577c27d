// Package regular answers one question: how is a file read that somebody names, and that may be
// anything?
//
// A named pipe would keep whoever opens it waiting, a device might never end, and what is looked
// at by its name may be another file when it is opened. So a file is opened without waiting,
// looked at as it is open, and read up to a limit:
//
//	text, info, err := regular.Read(path, 4096)
package regular
