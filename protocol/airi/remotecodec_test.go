package airi

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestRemoteCodec_readsFramesAndNotes(t *testing.T) {
	for record, want := range map[string][]protocol.Message{
		``:    nil,
		" \n": nil,
		`{"id":"d","type":"e","payload":{"opens":"value","within":"x","body":1}}`:     {formed{Frame{ID: "e", Delivery: "d", Body: raw("1")}, olderForm}},
		` {"deliveryId":"d","hopsRemaining":0,"eventa":{"id":"e","opens":"stream"}} `: {formed{Frame{ID: "e", Delivery: "d"}, newerForm}},
		"said e\n{\"type\":\"e\"}": {Note{Verb: NoteSaid, Rest: "e", Data: raw(`{"type":"e"}`)}},
		"back\n":                   {Note{Verb: NoteBack}},
	} {
		got, err := remoteCodec{}.Decode([]byte(record))
		require.NoError(t, err, record)
		require.Equal(t, want, got, record)
	}
}

// On a websocket a record is a message, so that no text is a mistake of framing.
func TestRemoteCodec_refusesWhatIsNeither(t *testing.T) {
	for record, want := range map[string]string{
		`{"type":"e","payload":{}} {"type":"f"}`: "no Eventa frame: expected a JSON object",
		`{"type":"e"}`:                           "no Eventa frame: payload: expected an object",
		`Content-Length: 3`:                      "no note: expected a verb",
		"back\n{":                                "no note: expected a verb",
	} {
		_, err := remoteCodec{}.Decode([]byte(record))
		require.ErrorContains(t, err, want, record)
	}
}

func TestRemoteCodec_keepsNoReferenceToTheRecord(t *testing.T) {
	record := []byte("said e\n{\"a\":1}")
	messages, err := remoteCodec{}.Decode(record)
	require.NoError(t, err)
	for i := range record {
		record[i] = 'x'
	}
	require.Equal(t, []protocol.Message{Note{Verb: NoteSaid, Rest: "e", Data: raw(`{"a":1}`)}}, messages)
}

func TestRemoteCodec_writesTheFormThatItIsTold(t *testing.T) {
	f := Frame{ID: "e", Delivery: "d", Body: raw("{\n}"), InvokeType: number(0), Opens: OpensValue, Within: "x"}
	const event = `{"id":"e","type":"event","_flowDirection":"outbound","invokeType":0,"body":{}}`
	for form, want := range map[form]string{
		olderForm: `{"id":"d","type":"e","payload":` + event + `}`,
		newerForm: `{"deliveryId":"d","hopsRemaining":31,"eventa":` + event + `}`,
		bothForms: `{"id":"d","type":"e","payload":` + event + `,"deliveryId":"d","hopsRemaining":31,"eventa":` + event + `}`,
	} {
		got, err := remoteCodec{}.Encode([]byte("> "), formed{f, form})
		require.NoError(t, err)
		require.Equal(t, "> "+want, string(got))
		require.True(t, json.Valid(got[2:]))
	}
}

func TestRemoteCodec_writesNotes(t *testing.T) {
	got, err := remoteCodec{}.Encode(nil, Note{Verb: NoteDeliver, Rest: "e", Data: raw("{\n}")})
	require.NoError(t, err)
	require.Equal(t, "deliver e\n{\n}", string(got))

	for want, m := range map[string]protocol.Message{
		"note deliver e: expected JSON, got: {":              Note{Verb: NoteDeliver, Rest: "e", Data: raw("{")},
		"expected a frame with an event id":                  formed{},
		"event e: expected JSON as its payload":              formed{Frame: Frame{ID: "e", Body: raw("{")}},
		"expected an airi.Note or a frame to write, got int": 5,
	} {
		_, err := remoteCodec{}.Encode(nil, m)
		require.ErrorContains(t, err, want)
	}
}
