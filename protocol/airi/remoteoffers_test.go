package airi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestRemote_offersWhatItsAnnouncementLists(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	require.Equal(t, []string{"offered chess:move", "offered event:chess:move", "offered tool:x", "offered event:tool:x"},
		l.note(`announced`+"\n"+`{"possibleEvents":["chess:move","chess:move","module:status","ui:configure","registry:x","peer:x","extension:x","transport:x","error"," ","tool:x"]}`))
	require.Equal(t, []string{
		"retracted chess:move it is announced without it", "retracted event:chess:move it is announced without it",
		"offered errors", "offered event:errors",
	}, l.note("announced\n"+`{"possibleEvents":["tool:x","errors"]}`))
	require.Equal(t, []string{
		"retracted errors it is announced without it", "retracted event:errors it is announced without it",
		"retracted event:tool:x it is announced without it", "retracted tool:x it is announced without it",
	}, l.note("announced\n{}"))
	require.Equal(t, []string{
		"dropped offer airi-host:x", "dropped offer event:airi-host:x", "dropped name " + strings.Repeat("x", 200), "dropped name event:" + strings.Repeat("x", 194),
	}, l.note("announced\n"+`{"possibleEvents":["airi-host:x","`+strings.Repeat("x", MaxName+1)+`"]}`))
	require.Contains(t, l.note("announced\n" + `{"possibleEvents":[5]}`)[0], "dropped control announced: ")
	require.Contains(t, l.note("announced\n")[0], "dropped control announced: ")
}

func TestRemote_offersAreBounded(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	names := make([]string, 0, MaxOffers)
	for i := range MaxOffers {
		names = append(names, fmt.Sprintf(`"e%d"`, i))
	}
	got := l.note("announced\n" + `{"possibleEvents":[` + strings.Join(names, ",") + `]}`)
	require.Len(t, got, MaxOffers+1)
	require.Equal(t, fmt.Sprintf("dropped offer %d more events than are offered", MaxOffers/2), got[MaxOffers])
	require.Len(t, l.d.offers, MaxOffers)
	require.Equal(t, "dropped offer c", l.contribute(`{"id":"c"}`)[0])
	l.note("announced\n{}")
	require.Equal(t, "offered c", l.contribute(`{"id":"c"}`)[0])
}

// contribute offers a capability, and returns what comes of it besides the event.
func (l link) contribute(capability string) []string {
	l.t.Helper()
	return l.capability("offer", `{"capability":`+capability+`}`)
}

func (l link) capability(event, data string) []string {
	l.t.Helper()
	got := l.life("module:contribute:capability:"+event, data)
	require.Equal(l.t, strings.TrimSpace("emitted module:contribute:capability:"+event+" "+data), got[0])
	return got[1:]
}

func TestRemote_offersWhatItContributes(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	require.Equal(t, []string{`offered tool:a says a{"b":1}`}, l.contribute(`{"id":"tool:a","name":"A","description":"says a","metadata":{"b":1}}`))
	require.Equal(t, []string{"offered tool:a A"}, l.contribute(`{"id":"tool:a","name":"A","metadata":5}`), "with new details")
	require.Empty(t, l.contribute(`{"id":"tool:a","name":"A"}`))

	require.Empty(t, l.contribute(`{"id":"b","configSchema":{"type":"object"}}`), "it has to be configured")
	require.Equal(t, []string{"offered b"}, l.capability("configuration:configured", `{"capabilityId":"b"}`))
	require.Equal(t, []string{"retracted b no key"}, l.capability("configuration:needed", `{"capabilityId":"b","reason":"no key"}`))
	require.Equal(t, []string{"offered b"}, l.capability("activated", `{"capabilityId":"b","active":true}`))
	require.Equal(t, []string{"retracted b off"}, l.capability("activated", `{"capabilityId":"b","active":false,"reason":"off"}`))
	require.Empty(t, l.capability("activated", `{"capabilityId":"b","active":false,"reason":"off"}`))
	require.Equal(t, []string{"offered b"}, l.contribute(`{"id":"b","configSchema":null}`))
	require.Empty(t, l.contribute(`{"id":"b","configSchema":{}}`), "it is active already")
	require.Empty(t, l.capability("plan:request", `{"capabilityId":"b"}`))
}

func TestRemote_countsContributionsThatAreNone(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	for data, want := range map[string]string{
		`{"id":""}`:                  "dropped offer",
		`{"id":5}`:                   "dropped offer",
		`5`:                          "dropped offer",
		`{"id":"airi-host:x"}`:       "dropped offer airi-host:x",
		`{"id":"eventa-invoke-fn-"}`: "dropped offer eventa-invoke-fn-",
		`{"id":"` + strings.Repeat("x", MaxName+1) + `"}`: "dropped name " + strings.Repeat("x", 200),
	} {
		require.Equal(t, []string{want}, trimmed(l.contribute(data)), data)
	}
	for _, data := range []string{`{"capabilityId":"x","active":true}`, `{"active":true}`} {
		require.Contains(t, l.capability("activated", data)[0], "dropped control a capability that was not offered: ")
	}
	require.Contains(t, l.capability("activated", `{"capabilityId":"x","active":1}`)[0], "dropped control ")
	require.Contains(t, l.capability("configuration:needed", "")[0], "dropped control ")
	got := l.contribute(`{"id":"c","description":"` + strings.Repeat("d", MaxDescription+1) + `","metadata":{"m":"` + strings.Repeat("m", MaxMetadata) + `"}}`)
	require.Equal(t, []string{"dropped offer c: its metadata are longer than what is kept", "offered c " + strings.Repeat("d", MaxDescription)}, got)
}

func trimmed(lines []string) []string {
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

// A key that is listed and contributed is offered as long as it is either.
func TestRemote_aKeyOfTwoReasonsIsOfferedOnce(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	l.note("announced\n" + `{"possibleEvents":["a"]}`)
	require.Equal(t, []string{"offered a says"}, l.contribute(`{"id":"a","description":"says"}`))
	require.Equal(t, []string{"retracted event:a it is announced without it"}, l.note("announced\n{}"))
	require.Equal(t, []string{"offered event:a"}, l.note("announced\n"+`{"possibleEvents":["a"]}`))
	require.Equal(t, []string{"offered a"}, l.capability("activated", `{"capabilityId":"a","active":false}`), "as the announcement has it")
}

// Eventa's adapters send what a module's own handler has got already.
func TestRemote_whatItCallsOfItselfStaysThere(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	l.note(`announced` + "\n" + `{"possibleEvents":["greet","news"]}`)
	for _, id := range []string{"greet-send", "greet-send-stream-end", "greet-send-error", "news-send"} {
		require.Equal(t, []string{"dropped own-call " + id}, l.frame(id, `{"invokeId":"x","content":1}`))
	}
	require.Equal(t, []string{"serve 1 event:news for hello 1"}, l.frame("event:news-send", `{"invokeId":"x","content":1}`), "others hear it, too")
	require.Equal(t, []string{"serve 2 other for hello 1followed"}, l.frame("other-send", `{"invokeId":"x","content":1}`))
	l.note(`announced` + "\n" + `{"possibleEvents":["other"]}`)
	require.Equal(t, []string{"abandon {2}"}, l.frame("other-send-abort", `{"invokeId":"x"}`), "it began before")
	require.Equal(t, []string{"serve 3 greet for hello 1followed"}, l.frame("greet-send", `{"invokeId":"y","content":1}`), "it offers that no more")
}
