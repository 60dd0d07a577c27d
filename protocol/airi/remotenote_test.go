package airi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestNote_isOneLineAndJSON(t *testing.T) {
	for record, note := range map[string]Note{
		"back\n":                                  {Verb: NoteBack},
		"away gone for now\n":                     {Verb: NoteAway, Rest: "gone for now"},
		"life module:status\n{\"phase\":\"x\"}":   {Verb: NoteLife, Rest: "module:status", Data: raw(`{"phase":"x"}`)},
		"said a\nnull":                            {Verb: NoteSaid, Rest: "a", Data: raw("null")},
		"announced\n{\n}":                         {Verb: NoteAnnounced, Data: raw("{\n}")},
		"said \"a\\nsaid b\"\n1":                  {Verb: NoteSaid, Rest: "a\nsaid b", Data: raw("1")},
		"said \"\\\"quoted\\\"\"\n":               {Verb: NoteSaid, Rest: `"quoted"`},
		"said with \"a quote\"\n":                 {Verb: NoteSaid, Rest: `with "a quote"`},
		"tell module:configuration:commit\n{}":    {Verb: NoteTell, Rest: "module:configuration:commit", Data: raw("{}")},
		"said  two\n":                             {Verb: NoteSaid, Rest: " two"},
		"configure\n{\"a\":\"{\\\"type\\\":1}\"}": {Verb: NoteConfigure, Data: raw(`{"a":"{\"type\":1}"}`)},
	} {
		require.Equal(t, record, string(AppendNote(nil, note)))
		got, ok := ReadNote([]byte(record))
		require.True(t, ok, record)
		require.Equal(t, note, got)
	}
}

func TestNote_readsNothingElse(t *testing.T) {
	for _, record := range []string{
		"", "\n", "back", `{"type":"e","payload":{}}`, "{\n{}", " back\n", "back\nx", "back\n{} {}",
		"said \n1", "said \"a\n1", "said \"\"\n1", "said \"a\" b\n1",
	} {
		_, ok := ReadNote([]byte(record))
		require.False(t, ok, record)
	}
}

// FuzzRemote_records: whatever stands in a record, it is read or refused, what was read is
// written to the same meaning, and who is meant is one of ours.
func FuzzRemote_records(f *testing.F) {
	for _, line := range recordedFrames(f) {
		f.Add([]byte(line))
	}
	for _, record := range []string{
		"back\n", "said \"a\\nb\"\n{}", "life module:status\n{\"phase\":\"ready\"}", "away\n", "announced\n{\"possibleEvents\":[\"e\"]}",
		`{"type":"e-receive-airi-host-7-1","payload":{"body":{"invokeId":"airi-host-7-1"}}}`,
		`{"deliveryId":"d","hopsRemaining":1,"eventa":{"id":"e-receive-error-airi-host-18446744073709551615-1"}}`,
	} {
		f.Add([]byte(record))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		if n, ok := ReadNote(record); ok {
			again, ok := ReadNote(AppendNote(nil, n))
			require.True(t, ok)
			require.Equal(t, n, again)
		}
		session, ours := RemoteTarget(record)
		messages, err := remoteCodec{}.Decode(record)
		if err != nil {
			return
		}
		for _, m := range messages {
			written, err := remoteCodec{}.Encode(nil, m)
			if f, ok := m.(formed); ok && f.form == newerForm || err == nil {
				require.NoError(t, err)
				again, err := remoteCodec{}.Decode(written)
				require.NoError(t, err)
				require.Len(t, again, 1)
				sameMeaning(t, m, again[0])
			}
			if f, ok := m.(formed); ok && ours {
				s := readStep(f.Frame)
				if s.kind != noStep {
					got, _ := RemoteSession(s.idText)
					require.Equal(t, session, got)
				}
			}
		}
	})
}

// sameMeaning compares messages but for line breaks within a frame's payload.
func sameMeaning(t *testing.T, a, b protocol.Message) {
	t.Helper()
	x, isFrame := a.(formed)
	if !isFrame {
		require.Equal(t, a, b)
		return
	}
	y, ok := b.(formed)
	require.True(t, ok)
	x.Frame, y.Frame = oneLine(t, x.Frame), oneLine(t, y.Frame)
	require.Equal(t, x, y)
}
