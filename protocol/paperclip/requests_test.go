package paperclip

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestRequests_echoIDsOfAnyType(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	for i, id := range []string{`1`, `1`, `"a"`, `0`, `{"o":[1]}`, `true`, `9007199254740993`, `1.0`} {
		require.Contains(t, r.receive(`{"id":` + id + `,"method":"log","params":{}}`)[0], "serve")
		require.Equal(t, []string{`send {"id":` + id + `,"result":[1]}`}, r.reply(protocol.RequestID(i+1), `[1]`, nil))
	}
}

func TestRequests_areAnsweredOnce(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.receive(`{"id":1,"method":"log"}`)
	require.Equal(t, []string{`send {"id":1,"result":null}`}, r.step(protocol.Reply{ID: 1}))
	require.Empty(t, r.step(protocol.Reply{ID: 1}))
}

func TestRequests_failInTheServicesWords(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	for i, c := range []struct {
		err  error
		want string
	}{
		{errors.New("boom"), `{"code":-32603,"message":"boom"}`},
		{&protocol.Error{Code: protocol.CodeNotFound, Message: "x"}, `{"code":-32601,"message":"Host does not handle method \"log\""}`},
		{&protocol.PeerError{Message: "p", Code: raw("-32004")}, `{"code":-32004,"message":"p"}`},
	} {
		r.receive(`{"id":1,"method":"log"}`)
		require.Equal(t, []string{`send {"id":1,"error":` + c.want + `}`}, r.reply(protocol.RequestID(i+1), "", c.err))
	}
}

func TestRequests_tellAServicesNotFoundFromNoService(t *testing.T) {
	r := newRig(t, Plugin{Handles: func(string) bool { return true }}, protocol.Settings{})
	r.receive(`{"id":1,"method":"airi-host.invoke"}`)
	require.Equal(t, []string{`send {"id":1,"error":{"code":-32603,"message":"no plugin offers tool:x"}}`},
		r.reply(1, "", &protocol.Error{Code: protocol.CodeNotFound, Message: "no plugin offers tool:x"}))
}

func TestRequests_areBounded(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{MaxPending: 1})
	r.receive(`{"id":1,"method":"log"}`)
	require.Equal(t, []string{
		`send {"id":2,"error":{"code":-32000,"message":"plugin lab: 1 calls by this plugin are in flight, the limit: call log again later"}}`,
	}, r.receive(`{"id":2,"method":"log"}`))
	r.reply(1, "1", nil)
	require.Contains(t, r.receive(`{"id":3,"method":"log"}`)[0], "serve 2 log")
}

func TestRequests_listOnlyTheCompanyInScope(t *testing.T) {
	rows := ` [ {"id":"c","n":9007199254740993}, {"id":"x"}, 7, {"id":"c"} ] `
	for _, c := range []struct{ scope, rows, want string }{
		{"c", rows, `"result":[{"id":"c","n":9007199254740993},{"id":"c"}]`},
		{"y", rows, `"result":[]`},
		{"c", `{}`, `"error":{"code":-32603,"message":"companies.list: the host's own answer is no list"}`},
		{"", `{}`, `"result":{}`},
	} {
		r := newRig(t, readsCompanies, protocol.Settings{})
		r.call(1, c.scope)
		ask := `{"id":5,"method":"companies.list","params":{}}`
		if c.scope != "" {
			ask = `{"id":5,"method":"companies.list","params":{},"paperclipInvocationId":"id-1"}`
		}
		require.Contains(t, r.receive(ask)[0], "serve 1")
		require.Equal(t, []string{`send {"id":5,` + c.want + `}`}, r.reply(1, c.rows, nil))
	}
}

func TestRequests_areAbandonedAtTheEnd(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.receive(`{"id":"a","method":"log"}`)
	r.receive(`{"id":"b","method":"log"}`)
	require.Equal(t, []string{"abandon {1}", "abandon {2}"}, r.step(protocol.Closed{}))
	require.Empty(t, r.reply(1, "1", nil))
}

func TestRequests_aResultThatCannotBeSentIsFollowedByAnError(t *testing.T) {
	r := newRig(t, Plugin{Company: "c"}, protocol.Settings{})
	r.receive(`{"id":"a","method":"entities.list","params":{}}`)
	require.Equal(t, []string{`send {"id":"a","result":[]}`}, r.step(protocol.Reply{ID: 1, Result: raw(`[]`)}))
	require.Equal(t, []string{`send {"id":"a","error":{"code":-32603,"message":"too long"}}`},
		r.step(protocol.Reply{ID: 1, Err: errors.New("too long")}))
	require.Empty(t, r.step(protocol.Reply{ID: 1, Err: errors.New("too long")}))
}

func TestRequests_theirBytesAreBounded(t *testing.T) {
	r := newRig(t, Plugin{Company: "c"}, protocol.Settings{})
	d, ok := r.d.(*driver)
	require.True(t, ok)
	big := Request{ID: raw(`"big"`), Method: "entities.list", Params: raw(`{"x":"` + strings.Repeat("x", MaxAsked/2-17) + `"}`)}
	for range 2 {
		out := d.Step(now, protocol.Received{Message: big}, nil)
		require.IsType(t, protocol.Serve{}, out[0])
	}
	require.Contains(t, r.receive(`{"id":3,"method":"entities.list","params":{"limit":1}}`)[0], `"code":-32000`)
	d.Step(now, protocol.Reply{ID: 1}, nil)
	d.Step(now, protocol.Reply{ID: 2}, nil)
	require.NoError(t, d.requests.Refusal(protocol.Settings{}, "x", 2*MaxAsked), "nothing of them is counted any more")
	require.Contains(t, r.receive(`{"id":4,"method":"entities.list","params":{}}`)[0], "serve 3")
}

func TestNotes_aLongLineDoesNotKeepItsFrame(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	require.NotSame(t, unsafe.StringData(long), unsafe.StringData(cut(long, 10)))
	require.Same(t, unsafe.StringData(long), unsafe.StringData(cut(long, len(long))))
}
