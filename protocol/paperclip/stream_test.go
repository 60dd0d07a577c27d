package paperclip

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestStreams_belongToACompany(t *testing.T) {
	r := newRig(t, Plugin{Proactive: func(company string) bool { return company == "p" }}, protocol.Settings{})
	tell := func(method, params, invocation string) []string {
		if invocation != "" {
			invocation = `,"paperclipInvocationId":"` + invocation + `"`
		}
		return r.receive(`{"method":"streams.` + method + `","params":` + params + invocation + `}`)
	}
	require.Equal(t, []string{"stream 1 a x"}, tell("open", `{"channel":"a","companyId":"x"}`, ""), "nothing is in flight")
	require.Equal(t, []string{`stream 2 a  {"n":1}`}, tell("emit", `{"channel":"a","event":{"n":1}}`, ""))
	require.Equal(t, []string{`stream 2 7  null`}, tell("emit", `{"channel":7,"companyId":null,"event":null}`, ""))
	r.call(1, "c")
	require.Equal(t, []string{"dropped stream-invocation streams.emit on a"}, tell("emit", `{"channel":"a","companyId":"c","event":1}`, ""))
	require.Equal(t, []string{"dropped stream-invocation streams.emit on a"}, tell("emit", `{"channel":"a","companyId":"c","event":1}`, "gone"))
	require.Equal(t, []string{"stream 2 a p 1"}, tell("emit", `{"channel":"a","companyId":"p","event":1}`, ""))
	require.Equal(t, []string{"stream 1 b c"}, tell("open", `{"channel":"b","companyId":"c","event":1}`, "id-1"))
	require.Equal(t, []string{"dropped stream-company streams.close on b for d, in scope of c"}, tell("close", `{"channel":"b","companyId":"d"}`, "id-1"))
	require.Equal(t, []string{"dropped stream-company streams.close on b for 7, in scope of c"}, tell("close", `{"channel":"b","companyId":7}`, "id-1"))
	require.Equal(t, []string{"stream 3 a c"}, tell("close", `{"channel":"a","companyId":"c"}`, "id-1"), "one table for all, as in the reference")
	out := r.d.Step(now, protocol.Closed{}, nil)
	require.Equal(t, protocol.Streamed{What: protocol.StreamClose, Channel: "b", Scope: "c", Lost: true}, out[len(out)-1])
}

func TestStreams_areBounded(t *testing.T) {
	r := newRig(t, Plugin{Limits: Limits{Stream: StreamLimits{Open: 1, Name: 3}}}, protocol.Settings{})
	require.Equal(t, []string{"stream 1 abc"}, r.receive(`{"method":"streams.open","params":{"channel":"abc"}}`))
	require.Equal(t, []string{"stream 1 abc x"}, r.receive(`{"method":"streams.open","params":{"channel":"abc","companyId":"x"}}`), "again")
	require.Equal(t, []string{"dropped stream-limit b"}, r.receive(`{"method":"streams.open","params":{"channel":"b"}}`))
	require.Equal(t, []string{"stream 2 b  1"}, r.receive(`{"method":"streams.emit","params":{"channel":"b","event":1}}`))
	require.Equal(t, []string{"dropped stream-name streams.emit on abcd"}, r.receive(`{"method":"streams.emit","params":{"channel":"abcd"}}`))
	require.Equal(t, []string{"dropped stream-name streams.open on "}, r.receive(`{"method":"streams.open"}`))
	require.Equal(t, []string{"dropped stream-name streams.open on abc"}, r.receive(`{"method":"streams.open","params":{"channel":"abc","companyId":"`+strings.Repeat("x", 257)+`"}}`),
		"the company of a stream that is open is kept as well")
	require.Equal(t, []string{"stream 3 abc"}, r.receive(`{"method":"streams.close","params":{"channel":"abc"}}`))
	require.Equal(t, []string{"stream 1 b"}, r.receive(`{"method":"streams.open","params":{"channel":"b"}}`))
	require.Equal(t, 256, len(strings.Repeat("x", StreamLimits{}.filled().Name)))
}
