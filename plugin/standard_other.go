//go:build !unix

package plugin

import (
	"io"
	"os"
)

// pollable is of use where there is a way to wait without a thread.
func pollable(f *os.File) io.ReadCloser { return f }
