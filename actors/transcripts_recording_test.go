package actors_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// recording is what happened in one scenario, as text that a reader can compare:
// of the reference host, from a transcript, or of this host, from a lab. Ids that
// were drawn by lot and times are masked.
type recording struct {
	// Notes are the outcomes of the calls of the host's API, "NAME: OUTCOME".
	Notes []string
	// Lines are the events on the sessions' channels,
	// "SESSION EVENT PAYLOAD [PHASE]", with the number that Eventa gives to the
	// step of an invoke behind it.
	Lines []string
	// Sessions are those that were listed at the end, "SESSION MODULE [PHASE]".
	Sessions []string
}

// text is all of it, a line each.
func (r recording) text() string {
	all := slices.Concat([]string{"notes"}, r.Notes, []string{"lines"}, r.Lines, []string{"sessions"}, r.Sessions)
	return strings.Join(all, "\n")
}

// transcript is what was recorded of the reference host.
type transcript struct {
	recording
	// versions are those that its host was given.
	versions protocol.VersionRequest
	// peer is what the plugin was said to support.
	peer protocol.VersionRequest
}

// line is one event of a transcript's .ndjson file.
type line struct {
	Session    string          `json:"session"`
	Type       string          `json:"type"`
	Payload    json.RawMessage `json:"payload"`
	Phase      string          `json:"phase"`
	InvokeType *int            `json:"invokeType"`
}

const transcripts = "testdata/transcripts"

// readTranscript reads host-NAME.ndjson and host-NAME.meta.json.
func readTranscript(t *testing.T, name string) transcript {
	t.Helper()
	var got transcript
	got.readMeta(t, readFile(t, "host-"+name+".meta.json"))
	var masks masks
	for text := range strings.Lines(string(readFile(t, "host-"+name+".ndjson"))) {
		var l line
		require.NoError(t, json.Unmarshal([]byte(text), &l))
		got.readPeer(t, l)
		got.Lines = append(got.Lines, masks.line(t, l))
	}
	return got
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(transcripts, name))
	require.NoError(t, err)
	return data
}

// versions are how the reference host is told of them.
type versions struct {
	ProtocolVersion, APIVersion                     string
	SupportedProtocolVersions, SupportedAPIVersions []string
}

func (r *transcript) readMeta(t *testing.T, data []byte) {
	t.Helper()
	var meta struct {
		HostOptions versions
		Notes       [][2]any
		Sessions    []struct {
			ID, Phase string
			Identity  struct{ ID string }
		}
	}
	meta.HostOptions = versions{ProtocolVersion: "v1", APIVersion: "v1"} // unless it was given others
	require.NoError(t, json.Unmarshal(data, &meta))
	given := meta.HostOptions
	r.versions = protocol.VersionRequest{
		Protocol: given.ProtocolVersion, SupportedProtocol: given.SupportedProtocolVersions,
		API: given.APIVersion, SupportedAPI: given.SupportedAPIVersions,
	}
	for _, note := range meta.Notes {
		r.Notes = append(r.Notes, noteText(fmt.Sprint(note[0]), note[1]))
	}
	for _, s := range meta.Sessions {
		r.Sessions = append(r.Sessions, sessionText(s.ID, s.Identity.ID, s.Phase))
	}
}

// readPeer takes the peer's versions from where the transcript repeats them.
func (r *transcript) readPeer(t *testing.T, l line) {
	t.Helper()
	if l.Type != "module:compatibility:request" {
		return
	}
	var asked versions
	require.NoError(t, json.Unmarshal(l.Payload, &asked))
	r.peer = protocol.VersionRequest{
		SupportedProtocol: asked.SupportedProtocolVersions, SupportedAPI: asked.SupportedAPIVersions,
	}
}

var (
	// A descriptor's time; some notes have its type instead.
	aTime = regexp.MustCompile(`"updatedAt":(\d+|"number")`)
	// The class of an error stands before its message in the transcripts.
	aClass = regexp.MustCompile(`^THROW \w+: `)
	// What is wrong with a manifest is told in each validator's words; the field
	// that it blames is not.
	aBlame = regexp.MustCompile(`^invalid: ([\w.]+): .*`)
)

func noteText(name string, outcome any) string {
	text := fmt.Sprint(outcome)
	text = aTime.ReplaceAllString(text, `"updatedAt":0`)
	text = aClass.ReplaceAllString(text, "THROW ")
	return name + ": " + aBlame.ReplaceAllString(text, "invalid: $1")
}

func sessionText(session, module, phase string) string {
	return fmt.Sprintf("%s %s [%s]", session, module, phase)
}

// masks gives the ids of invokes numbers, in the order in which they appear.
type masks struct {
	ids map[string]string
}

func (m *masks) line(t *testing.T, l line) string {
	t.Helper()
	text := m.payload(t, l.Payload)
	for id, number := range m.ids {
		l.Type = strings.ReplaceAll(l.Type, id, number)
	}
	text = fmt.Sprintf("%s %s %s [%s]", l.Session, l.Type, text, l.Phase)
	if l.InvokeType != nil {
		text += fmt.Sprintf(" %d", *l.InvokeType)
	}
	return text
}

// payload returns the payload as JSON whose members are in order, masked.
func (m *masks) payload(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	if raw == nil {
		return "undefined"
	}
	var v any
	require.NoError(t, json.Unmarshal(raw, &v))
	m.mask(v)
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(v))
	return strings.TrimSpace(text.String())
}

func (m *masks) mask(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			m.mask(item)
		}
	case map[string]any:
		for key, item := range v {
			m.mask(item)
			switch key {
			case "updatedAt":
				v[key] = 0
			case "invokeId":
				v[key] = m.number(fmt.Sprint(item))
			case "error":
				v[key] = errorText(item)
			}
		}
	}
}

func (m *masks) number(id string) string {
	if m.ids == nil {
		m.ids = map[string]string{}
	}
	if m.ids[id] == "" {
		m.ids[id] = fmt.Sprintf("ID%d", len(m.ids))
	}
	return m.ids[id]
}

// errorText reduces an Error to its message: {"__error": message} stands for one
// in the transcripts, and over a wire it is an object of name, message and code.
func errorText(v any) any {
	e, isObject := v.(map[string]any)
	if !isObject {
		return v
	}
	for _, key := range []string{"__error", "message"} {
		if text, there := e[key]; there {
			return text
		}
	}
	return v
}
