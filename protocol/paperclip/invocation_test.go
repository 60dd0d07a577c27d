package paperclip

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

const getCompany = `{"id":9,"method":"companies.get","params":{"companyId":"c"}`

// within asks for a company under an invocation.
func (r rig) within(invocation string) string {
	r.t.Helper()
	out := r.receive(getCompany + `,"paperclipInvocationId":"` + invocation + `"}`)
	require.Len(r.t, out, 1)
	return out[0]
}

var readsCompanies = Plugin{Grants: []string{"companies.read"}}

func TestInvocations_liveWithTheirCalls(t *testing.T) {
	for name, end := range map[string]func(rig){
		"answered":  func(r rig) { r.receive(`{"id":1,"result":1}`) },
		"failed":    func(r rig) { r.receive(`{"id":1,"error":{}}`) },
		"malformed": func(r rig) { r.receive(`{"id":"1","result":1}`) },
		"cancelled": func(r rig) { r.step(protocol.Cancel{ID: 1}) },
	} {
		r := newRig(t, readsCompanies, protocol.Settings{})
		r.call(1, "c")
		require.Contains(t, r.within("id-1"), "serve 1 companies.get", name)
		require.Contains(t, r.within(" id-1 "), "serve 2 companies.get", name)
		end(r)
		require.Contains(t, r.within("id-1"), "missing, expired, or unknown", name)
	}
}

func TestInvocations_keepCompaniesApart(t *testing.T) {
	r := newRig(t, readsCompanies, protocol.Settings{})
	r.call(1, "c")
	r.call(2, "other")
	require.Contains(t, r.within("id-1"), " in c ")
	require.Contains(t, r.within("id-2"), `requested company \"c\" but the current invocation is scoped to company \"other\"`)
}

func TestInvocations_ofEventsLastFifteenMinutes(t *testing.T) {
	r := newRig(t, readsCompanies, protocol.Settings{})
	start := now
	at := func(after time.Duration, in protocol.Input) []protocol.Effect {
		return r.d.Step(start.Add(after), in, nil)
	}
	event := func(id protocol.CallID) protocol.Invoke {
		return protocol.Invoke{ID: id, Call: protocol.Call{Key: "event:e", Scope: "c"}}
	}
	require.Equal(t, protocol.SetTimer{Timer: expiryTimer, After: EventInvocationTime}, at(0, event(1))[0]) // id-2; the event is id-1
	require.Len(t, at(5*time.Minute, event(2)), 2)                                                          // id-4, and no second timer
	require.Contains(t, r.within("id-2"), "serve")
	require.Equal(t, []protocol.Effect{protocol.SetTimer{Timer: expiryTimer, After: 5 * time.Minute}},
		at(15*time.Minute, protocol.Fired{Timer: expiryTimer}))
	require.Contains(t, r.within("id-2"), "missing, expired, or unknown")
	require.Contains(t, r.within("id-4"), "serve")
	require.Empty(t, at(20*time.Minute, protocol.Fired{Timer: expiryTimer}))
	require.Contains(t, r.within("id-4"), "missing, expired, or unknown")
}

func TestInvocations_ofEventsAreBounded(t *testing.T) {
	r := newRig(t, readsCompanies, protocol.Settings{})
	for i := range MaxEventInvocations {
		require.NotContains(t, fmt.Sprint(r.invoke(protocol.CallID(i), protocol.Call{Key: "event:e", Scope: "c"})), "dropped")
	}
	require.Contains(t, r.within("id-2"), "serve")
	out := r.invoke(0, protocol.Call{Key: "event:e", Scope: "c"})
	require.Equal(t, "dropped event-invocation id-2", out[0])
	require.Contains(t, r.within("id-2"), "missing, expired, or unknown")
	require.Contains(t, r.within("id-4"), "serve")
}

func TestInvocations_carryTheTrace(t *testing.T) {
	r := newRig(t, readsCompanies, protocol.Settings{})
	out := r.invoke(1, protocol.Call{Key: "data:k", Scope: "c", Trace: "00-a-b-01"})
	require.Contains(t, out[0], `"paperclipInvocation":{"id":"id-1","scope":{"companyId":"c"},"traceparent":"00-a-b-01"}`)
	require.Contains(t, r.within("id-1"), "trace 00-a-b-01")
	require.NotContains(t, r.invoke(2, protocol.Call{Key: "data:k", Trace: "00-a-b-01"})[0], "00-a-b-01")
}

// The recorded host told its handlers what they may act for.
func TestInvocations_resolveAsRecorded(t *testing.T) {
	lines := conversations(t, "v824/20-host-call-raw")[0]
	h := newHostReplay(t, "", replays["v824/20-host-call-raw"], lines)
	scopes := map[string]string{}
	for _, l := range lines {
		h.line(l)
		for id, s := range h.serving {
			scopes[id] = s.Call.Scope
		}
	}
	require.Equal(t, map[string]string{
		`"abc-1"`: "", `7`: "", `0`: "", `"u"`: "", `"s"`: "", `"c1"`: "", `"c2"`: "",
		`"i1"`: "company-1", `"i2"`: "", `"i3"`: "", `"i4"`: "company-9", `"i5"`: "", `"i7"`: "",
	}, scopes)
}

func TestInvocations_proactiveSetIsAskedEachTime(t *testing.T) {
	may := map[string]bool{"c": true}
	r := newRig(t, Plugin{Grants: []string{"companies.read"}, Proactive: func(c string) bool { return may[c] }}, protocol.Settings{})
	require.Contains(t, r.within(""), " in c ")
	require.Contains(t, r.within("   "), " in c ")
	r.call(1, "other") // also while another invocation is active
	require.Contains(t, r.within(""), " in c ")
	may["c"] = false
	require.Contains(t, r.within(""), "missing, expired, or unknown")
	r.receive(`{"id":1,"result":1}`)
	require.Contains(t, r.within(""), "company context is required")
}

func TestCompanyOf_looksWhereTheMethodHasIt(t *testing.T) {
	for _, c := range []struct{ method, params, want string }{
		{"getData", `{"companyId":" c "}`, "c"},
		{"getData", `{"companyId":"  ","actorContext":{"companyId":"x"}}`, ""},
		{"getData", `{"companyId":7}`, ""},
		{"performAction", `{"actorContext":{"companyId":"a"}}`, "a"},
		{"performAction", `{"companyId":"c","actorContext":{"companyId":"a"}}`, "c"},
		{"executeTool", `{"runContext":{"companyId":"r"}}`, "r"},
		{"onEvent", `{"event":{"companyId":"e"}}`, "e"},
		{"onEvent", `[]`, ""},
		{"runJob", `{"job":{"companyId":"e"}}`, ""},
	} {
		require.Equal(t, c.want, companyOf(c.method, raw(c.params)), "%s %s", c.method, c.params)
	}
}
