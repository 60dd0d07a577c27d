package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// What was missed of a log is told on standard error, and is no line of the output.
func TestCall_notesWhatItsLogMissed(t *testing.T) {
	for line, note := range map[string]string{
		`{"event":"gap","missed":1}`:                "note: 1 chunk is missing in the log: output was taken too slowly; the result has all of it\n",
		`{"event":"gap","missed":97}`:               "note: 97 chunks are missing in the log: output was taken too slowly; the result has all of it\n",
		`{"event":"gap","missed":0}`:                "",
		`{"event":"gap","missed":`:                  "",
		`{"event":"progress","item":{"missed":12}}`: "",
	} {
		var said bytes.Buffer
		c := &cli{err: newOutput(&said)}
		c.noteMissed(gapOf([]byte(line)))
		require.Equal(t, note, said.String(), line)
	}
}
