package store

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// children are what the test binary does as a child, by name, on a directory.
var children = map[string]func(dir string) error{
	"holds":  holdLock,
	"starts": startForEver,
	"writes": writeForEver,
}

// child is the test binary as another process.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t *testing.T, name, dir string) *child {
	t.Helper()
	return startChildWith(t, name, dir, func(*exec.Cmd) {})
}

func startChildWith(t *testing.T, name, dir string, change func(*exec.Cmd)) *child {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, dir)
	cmd.Env = append(os.Environ(), asChild+"="+name)
	cmd.Stderr = os.Stderr
	change(cmd)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	_, err = cmd.StdinPipe() // which ends with the test
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c := &child{t: t, cmd: cmd, lines: bufio.NewScanner(out)}
	t.Cleanup(c.kill)
	return c
}

func (c *child) wantLine(want string) {
	c.t.Helper()
	require.True(c.t, c.lines.Scan(), "the child has ended")
	require.Equal(c.t, want, c.lines.Text())
}

// kill ends it at once, if it has not ended.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// wantDone waits for the child, whose checks must all have passed.
func (c *child) wantDone() {
	c.t.Helper()
	for c.lines.Scan() {
		c.t.Log(c.lines.Text())
	}
	require.NoError(c.t, c.cmd.Wait())
}

func holdLock(dir string) error {
	if _, err := Acquire(dir); err != nil {
		return err
	}
	fmt.Println("held")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// startForEver holds a lock and an open store, and starts processes all the time.
func startForEver(dir string) error {
	if _, err := Open(context.Background(), dir, Options{}); err != nil {
		return err
	}
	fmt.Println("held")
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for {
				if err := exec.Command("/bin/sleep", "0").Run(); err != nil {
					fmt.Fprintln(os.Stderr, err)
					return
				}
			}
		})
	}
	all.Wait()
	return nil
}

// writeForEver writes with several goroutines and prints each write that has been
// acknowledged, G N: key G has had the value N.
func writeForEver(dir string) error {
	db, err := Open(context.Background(), dir, Options{})
	if err != nil {
		return err
	}
	fmt.Println("open")
	var all sync.WaitGroup
	var printing sync.Mutex
	for g := range writers {
		all.Go(func() {
			key := keyOf("p", fmt.Sprint(g))
			from := 0
			if before, err := db.State().Get(context.Background(), key); err == nil && before != nil {
				from = numberIn(before)
			}
			for n := from + 1; ; n++ {
				if err := db.State().Set(context.Background(), key, numbered(n)); err != nil {
					fmt.Fprintln(os.Stderr, err)
					return
				}
				printing.Lock()
				fmt.Println(g, n)
				printing.Unlock()
			}
		})
	}
	all.Wait()
	return db.Close()
}

const writers = 4

// numbered is a value that is longer than a page, so that half of one would show.
func numbered(n int) json.RawMessage {
	value := fmt.Appendf(nil, "[%d", n)
	for range 500 + n%500 {
		value = fmt.Appendf(value, ",%d", n)
	}
	return append(value, ']')
}

// numberIn returns the number that a value is full of, -1 if it is not whole.
func numberIn(value json.RawMessage) int {
	var all []int
	if json.Unmarshal(value, &all) != nil || len(all) == 0 || string(numbered(all[0])) != string(value) {
		return -1
	}
	return all[0]
}
