package paperclip

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// execute runs a command for a company; its invocation is id-n, and somebody follows it.
func (r rig) execute(id protocol.CallID, company string) {
	r.t.Helper()
	out := r.step(protocol.Invoke{ID: id, Follows: true, Call: protocol.Call{Key: "environment:d.execute", Scope: company, Input: raw(`{}`)}})
	require.Len(r.t, out, 1)
}

func (r rig) log(invocation, params string) []string {
	r.t.Helper()
	if invocation != "" {
		invocation = `,"paperclipInvocationId":` + invocation
	}
	return r.receive(`{"method":"execute.log","params":` + params + invocation + `}`)
}

// What is wrong is found in the reference's order.
func TestLog_checks(t *testing.T) {
	fine := `{"stream":"stdout","chunk":"x"}`
	for params, want := range map[string]string{
		fine: `progress 1 ` + fine, `{"stream":"stderr","chunk":"12345"}`: `progress 1 {"stream":"stderr","chunk":"12345"}`,
		`{"chunk":"\u0061","stream":"std\u006fut"}`:  `progress 1 {"chunk":"\u0061","stream":"std\u006fut"}`,
		`{"stream":"stdout","more":[1],"chunk":"x"}`: `progress 1 {"stream":"stdout","chunk":"x"}`,
		`{"stream":"stdout","chunk":"😀😀x"}`:          `progress 1 {"stream":"stdout","chunk":"😀😀x"}`,
		`{"stream":"stdout","chunk":"😀😀😀"}`:          "dropped log-chunk",
		`{"stream":"stdout","chunk":"123456"}`:       "dropped log-chunk",
		`{"stream":"stdout","chunk":""}`:             "dropped log-chunk",
		`{"stream":"stdout","chunk":5}`:              "dropped log-chunk",
		`{"stream":"stdout"}`:                        "dropped log-chunk",
		`{"stream":"stdin","chunk":""}`:              "dropped log-stream",
		`{"chunk":"x"}`:                              "dropped log-stream",
		`7`:                                          "dropped log-stream",
	} {
		r := newRig(t, Plugin{Limits: Limits{Log: LogLimits{Chunk: 5}}}, protocol.Settings{})
		r.execute(1, "c")
		require.Equal(t, want, strings.TrimSpace(r.log(`" id-1 "`, params)[0]), params)
	}
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.execute(1, "c")
	for invocation, want := range map[string]string{
		"": "dropped log-invocation ", `""`: "dropped log-invocation ", `" "`: "dropped log-invocation ", "7": "dropped log-invocation ", `"id-2"`: "dropped log-late ",
	} {
		require.Equal(t, []string{want}, r.log(invocation, fine), invocation)
	}
	require.Equal(t, []string{"dropped log-chunk "}, r.log("", `{"stream":"stdout","chunk":""}`))
}

func TestLog_comesBeforeTheAnswerAndNotBehindIt(t *testing.T) {
	chunk := `{"stream":"stdout","chunk":"x"}`
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.execute(1, "c")
	require.Equal(t, []string{"progress 1 " + chunk}, r.log(`"id-1"`, chunk))
	require.Equal(t, []string{`complete 1 ok {"exitCode":0}`}, r.receive(`{"id":1,"result":{"exitCode":0}}`))
	require.Equal(t, []string{"dropped log-late "}, r.log(`"id-1"`, chunk))
	r.execute(2, "c")
	r.step(protocol.Cancel{ID: 2})
	require.Equal(t, []string{"dropped log-late "}, r.log(`"id-2"`, chunk))
	r.step(protocol.Invoke{ID: 3, Call: protocol.Call{Key: "environment:d.execute", Scope: "c", Input: raw(`{}`)}})
	require.Equal(t, []string{"dropped log-late "}, r.log(`"id-3"`, chunk), "nobody follows it")
	r.step(protocol.Invoke{ID: 4, Follows: true, Call: protocol.Call{Key: "environment:d.probe", Scope: "c", Input: raw(`{}`)}})
	require.Equal(t, []string{"dropped log-late "}, r.log(`"id-4"`, chunk), "it runs no command")
}

func TestLog_oneCompanyAtATime(t *testing.T) {
	chunk := `{"stream":"stdout","chunk":"x"}`
	passed, dropped := func(id string) []string { return []string{"progress " + id + " " + chunk} }, []string{"dropped log-company "}
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.execute(1, "a")
	r.execute(2, "a")
	require.Equal(t, passed("2"), r.log(`"id-2"`, chunk))
	r.execute(3, "b")
	require.Equal(t, dropped, r.log(`"id-3"`, chunk))
	r.receive(`{"id":3,"result":{}}`)
	require.Equal(t, dropped, r.log(`"id-1"`, chunk), "it was there when two were mixed")
	r.execute(4, "a")
	require.Equal(t, passed("4"), r.log(`"id-4"`, chunk), "this one was not")
	require.Equal(t, dropped, r.log(`"id-2"`, chunk))

	r = newRig(t, Plugin{}, protocol.Settings{})
	r.execute(1, "a")
	r.execute(2, "b")
	r.receive(`{"id":2,"result":{}}`)
	require.Equal(t, passed("1"), r.log(`"id-1"`, chunk), "nothing came while they were mixed")
	r.step(protocol.Invoke{ID: 3, Call: protocol.Call{Key: "environment:d.execute", Scope: "b", Input: raw(`{}`)}})
	require.Equal(t, passed("1"), r.log(`"id-1"`, chunk), "a call without a log mixes nothing")
}

func TestLog_totalsSkipWhatDoesNotFit(t *testing.T) {
	r := newRig(t, Plugin{Limits: Limits{Log: LogLimits{Total: 6}}}, protocol.Settings{})
	r.execute(1, "c")
	require.Contains(t, r.log(`"id-1"`, `{"stream":"stdout","chunk":"12€4"}`)[0], "progress")
	require.Equal(t, []string{"dropped log-total "}, r.log(`"id-1"`, `{"stream":"stdout","chunk":"567"}`))
	require.Contains(t, r.log(`"id-1"`, `{"stream":"stdout","chunk":"56"}`)[0], "progress")
	r.execute(2, "c")
	require.Contains(t, r.log(`"id-2"`, `{"stream":"stdout","chunk":"123456"}`)[0], "progress", "each call has its own")
}
