package logs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRead_theLastOnes(t *testing.T) {
	dir := t.TempDir()
	b := openBench(t, dir, Options{MaxBytes: 1000})
	b.say("a", numbered(6)...) // at 0 to 5 seconds
	b.say("b", "of b")         // at 6
	b.say("a", "the last")     // at 7
	require.NoError(t, b.Close(t.Context()))
	at := func(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }
	wantRead(t, dir, "a", Query{N: 2}, "message 5", "the last")
	wantRead(t, dir, "a", Query{Since: at(4)}, "message 4", "message 5", "the last")
	wantRead(t, dir, "a", Query{Before: at(2)}, "message 0", "message 1")
	wantRead(t, dir, "a", Query{Before: at(5), N: 1}, "message 4")
	wantRead(t, dir, "", Query{N: 3}, "message 5", "of b", "the last")
	wantRead(t, dir, "quiet", Query{})
	_, err := Read(filepath.Join(dir, "none"), "a", Query{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Read(filepath.Join(dir, "none"), "", Query{})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// What is held is bounded, and what is left out is counted.
func TestReadEnd_holdsSoMuch(t *testing.T) {
	dir := t.TempDir()
	b := openBench(t, dir, Options{MaxBytes: 1000})
	b.say("a", numbered(20)...)
	require.NoError(t, b.Close(t.Context()))
	text, err := os.ReadFile(filepath.Join(dir, "a.log"))
	require.NoError(t, err)
	record := strings.IndexByte(string(text), '\n') // all of the last ten are as long
	for _, c := range []struct {
		q                Query
		most, held, left int
	}{
		{Query{}, 0, 20, 0},
		{Query{}, 1, 1, 19},
		{Query{}, 5 * record, 5, 15},
		{Query{N: 3}, 5 * record, 3, 0},
		{Query{N: 9}, 5 * record, 5, 4},
		{Query{Since: epoch.Add(10 * time.Second)}, 5 * record, 5, 5},
	} {
		held, left, err := ReadEnd(dir, "a", c.q, c.most)
		require.NoError(t, err)
		require.Len(t, held, c.held, c)
		require.Equal(t, c.left, left, c)
		require.Equal(t, "message 19", held[len(held)-1].Message)
	}
}

// Lines that span blocks, that are no records, or are too long.
func TestRead_whateverIsInAFile(t *testing.T) {
	dir := t.TempDir()
	b := openBench(t, dir, Options{})
	want := []string{strings.Repeat("a", 60_000), strings.Repeat("b", 60_000), "short"}
	b.say("a", want...)
	require.NoError(t, b.Close(t.Context()))
	file := filepath.Join(dir, "a.log")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	junk := "not JSON\n{}\n\n" + strings.Repeat("x", longestLine+2*block) + "\n"
	require.NoError(t, os.WriteFile(file, []byte(junk+string(text)+junk), 0o600))
	wantRead(t, dir, "a", Query{}, want...)
	wantRead(t, dir, "a", Query{N: 1}, "short")
}

// Whoever reads while files are rotated sees nothing twice.
// What is read amid a rotation is in order, once, and all.
func TestRead_amidARotation(t *testing.T) {
	line := func(n int) string {
		return fmt.Sprintf(`{"time":"2026-11-30T10:00:%02dZ","level":"INFO","plugin":"a","message":"%d"}`+"\n", n, n)
	}
	for name, row := range map[string]struct {
		files []int  // the number that each file has; the oldest has the first line
		again [2]int // a file that is at two numbers: so it looks to who opens one after the other
		want  string
	}{
		"before":                   {[]int{2, 1, 0}, [2]int{}, "0 1 2"},
		"the oldest was moved":     {[]int{3, 1, 0}, [2]int{}, "0 1 2"},
		"two were moved":           {[]int{3, 2, 0}, [2]int{}, "0 1 2"},
		"the newest was moved":     {[]int{3, 2, 1}, [2]int{}, "0 1 2"},
		"one was moved when open":  {[]int{3, 1, 0}, [2]int{1, 2}, "0 1 2"},
		"the newest, when open":    {[]int{3, 2, 0}, [2]int{0, 1}, "0 1 2"},
		"nothing but an older one": {[]int{1}, [2]int{}, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), baseName("a")+ending)
			for n, number := range row.files {
				require.NoError(t, os.WriteFile(numberedName(path, number), []byte(line(n)), 0o600))
			}
			if row.again != [2]int{} {
				require.NoError(t, os.Link(numberedName(path, row.again[0]), numberedName(path, row.again[1])))
			}
			all, err := Read(filepath.Dir(path), "a", Query{})
			require.NoError(t, err)
			var texts []string
			for _, r := range all {
				texts = append(texts, r.Message)
			}
			require.Equal(t, row.want, strings.Join(texts, " "))
		})
	}
}

func TestRead_whileFilesAreRotated(t *testing.T) {
	dir := t.TempDir()
	b := openBench(t, dir, Options{MaxBytes: 2000, Files: 50})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, m := range numbered(500) {
			b.say("a", m)
			b.wantWritten()
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		all, err := Read(dir, "a", Query{})
		if err != nil {
			continue // it has not begun
		}
		for i := 1; i < len(all); i++ {
			require.Positive(t, all[i].Time.Compare(all[i-1].Time))
		}
	}
	wantRead(t, dir, "a", Query{N: 1}, "message 499")
}
