package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Errors of Open and Read beside those of the file system.
var (
	// ErrIrregular: what is there is no regular file.
	ErrIrregular = errors.New("is not a regular file")
	// ErrTooLong: it has more bytes than the limit.
	ErrTooLong = errors.New("is too long")
)

// Open opens a regular file to read, and tells what it is. It never waits for somebody to write.
func Open(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) { // a socket
		return nil, nil, ErrIrregular
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrIrregular
	}
	if err != nil {
		_ = f.Close() // nothing was read
		return nil, info, err
	}
	return f, info, nil
}

// Read returns what a regular file holds, at most so many bytes, and what it is.
func Read(path string, most int64) ([]byte, fs.FileInfo, error) {
	f, info, err := Open(path)
	if err != nil {
		return nil, info, err
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = ErrTooLong
	}
	if err != nil {
		return nil, info, err
	}
	return data, info, nil
}
