package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBacklog_countsWhatDoesNotFit(t *testing.T) {
	changes := 0
	b := backlog{most: maxBacklog, changed: func() { changes++ }}
	long := strings.Repeat("x", maxBacklog/2-1)
	require.True(t, b.add([]byte(long+"\nshort\n")))
	require.True(t, b.add([]byte(long+"\n")), "nobody is told to wait")
	require.True(t, b.add([]byte("too late\n")), "the order is kept")
	require.Equal(t, 3, changes)
	require.Equal(t, []string{long, "short", "… 2 lines were not shown: they came too fast for the terminal"}, b.take())
	require.True(t, b.add([]byte("again\n")))
	require.Equal(t, []string{"again"}, b.close())
	require.False(t, b.add([]byte("closed\n")))
}

func TestOutput_divertsUntilItIsReverted(t *testing.T) {
	w := &full{left: 3}
	o := newOutput(w)
	b := &backlog{most: maxBacklog, changed: func() {}}
	o.divert.Store(b)
	_, _ = o.Write([]byte("one\n"))
	_, _ = past{o}.Write([]byte("view\n"))
	require.Equal(t, "view\n", w.String())
	o.revert(b)
	_, _ = o.Write([]byte("two\n"))
	require.Equal(t, "view\none\ntwo\n", w.String())
}
