package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// full is a writer that takes a number of writes and then fails.
type full struct {
	bytes.Buffer
	left int
	err  error
}

func (f *full) Write(p []byte) (int, error) {
	if f.left == 0 {
		return 0, f.err
	}
	f.left--
	return f.Buffer.Write(p)
}

func TestOutput_dropsWhatCannotBeWritten(t *testing.T) {
	w := &full{left: 1, err: &fs.PathError{Op: "write", Path: "out", Err: syscall.ENOSPC}}
	o := newOutput(w)
	for _, line := range []string{"one\n", "two\n", "three\n"} {
		n, err := o.Write([]byte(line))
		require.NoError(t, err)
		require.Equal(t, len(line), n)
	}
	require.Equal(t, "one\n", w.String())
	require.EqualError(t, o.failure(), "not all of the output was written: write out: no space left on device")
	require.ErrorIs(t, o.failure(), syscall.ENOSPC)
}

func TestOutput_endsWhatIsAskedForToBeWritten(t *testing.T) {
	o := newOutput(&full{left: 1, err: syscall.EPIPE})
	taken, cancel := o.whileTaken(t.Context())
	defer cancel()
	_, _ = o.Write([]byte("one\n"))
	require.NoError(t, taken.Err())
	_, _ = o.Write([]byte("two\n"))
	<-taken.Done()
	require.NoError(t, o.failure(), "its reader has had enough")
}

func TestOutput_forgivesAReaderThatIsGone(t *testing.T) {
	o := newOutput(&full{err: fmt.Errorf("write: %w", syscall.EPIPE)})
	_, _ = o.Write([]byte("x"))
	require.NoError(t, o.failure())
}

// A reader may stop reading and keep its end open, as a terminal does at Ctrl-S.
func TestOutput_waitsForAReaderUntilItIsHurried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		o := newOutput(w)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = o.Write([]byte("one\n"))
			_, _ = o.Write([]byte("two\n"))
		}()
		time.Sleep(time.Hour)
		got := make([]byte, 4)
		_, err := io.ReadFull(r, got)
		require.NoError(t, err)
		require.Equal(t, "one\n", string(got), "an hour late, and not lost")

		o.hurry()
		o.hurry()
		began := time.Now()
		<-done
		_, _ = o.Write([]byte("three\n"))
		require.Equal(t, stuckAfter, time.Since(began), "one write waits, the next does not")
		require.ErrorIs(t, o.failure(), errStuck)
		require.NoError(t, r.Close()) // lets go of the write that is stuck
	})
}

func TestIsTerminal_isNoFileAndNotNothing(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, null.Close()) }()
	file, err := os.Create(t.TempDir() + "/file")
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	for _, w := range []any{null, file, &bytes.Buffer{}, (*os.File)(nil)} {
		require.False(t, isTerminal(w))
	}
}

func TestCLI_encodesWhatItCannotEncodeAsAnError(t *testing.T) {
	var b bytes.Buffer
	c := &cli{out: newOutput(&b), output: outputJSON}
	c.encode(resultLine{"result", json.RawMessage("{")})
	require.Contains(t, b.String(), `{"event":"error","code":"failed","message":"json: `)
	c.say("for people")
	require.NotContains(t, b.String(), "people")
	require.NoError(t, c.out.failure())
}

// sometimes is a disk that is full now and then.
type sometimes struct {
	bytes.Buffer
	err error
}

func (s *sometimes) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	return s.Buffer.Write(p)
}

func TestOutput_thatLastsGoesOnWhenTheDiskHasRoomAgain(t *testing.T) {
	w := &sometimes{}
	o := newOutput(w)
	o.lasting = true
	fmt.Fprintln(o, "one")
	w.err = &fs.PathError{Op: "write", Err: syscall.ENOSPC}
	fmt.Fprintln(o, "two")
	fmt.Fprintln(o, "three")
	w.err = nil
	fmt.Fprintln(o, "four")
	fmt.Fprintln(o, "five")
	require.Equal(t, "one\n… 2 lines were not written here: the disk was full\nfour\nfive\n", w.String())
	require.NoError(t, o.failure())
	require.JSONEq(t, `{"level":"WARN","msg":"lines were not written here: the disk was full","count":7}`, string(missedLine(7, true)))
	w.err = syscall.EBADF
	fmt.Fprintln(o, "six")
	require.ErrorIs(t, o.failure(), syscall.EBADF)
}
