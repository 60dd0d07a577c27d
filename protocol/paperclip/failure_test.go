package paperclip

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestCodeFor_isTheTable(t *testing.T) {
	coded := func(code string) error { return &protocol.PeerError{Message: "m", Code: raw(code)} }
	own := func(code protocol.Code) error { return fmt.Errorf("wrapped: %w", &protocol.Error{Code: code}) }
	for _, c := range []struct {
		err          error
		host, worker string
	}{
		{errors.New("any"), "-32603", "-32002"},
		{coded("-32000"), "-32000", "-32000"},
		{coded("-32006"), "-32006", "-32006"},
		{coded("-32099"), "-32099", "-32099"},
		{coded("-32007"), "-32603", "-32007"},
		{coded("-32601"), "-32603", "-32601"},
		{coded("42"), "-32603", "42"},
		{coded("1.5"), "-32603", "1.5"},
		{coded(`"ENOENT"`), "-32603", "-32002"},
		{coded(`not json`), "-32603", "-32002"},
		{coded(``), "-32603", "-32002"},
		{own(protocol.CodeTimeout), "-32003", "-32003"},
		{own(protocol.CodeDenied), "-32001", "-32002"},
		{own(protocol.CodeNotReady), "-32000", "-32000"},
		{own(protocol.CodeOverloaded), "-32000", "-32000"},
		{own(protocol.CodeOutcomeUnknown), "-32000", "-32000"},
		{own(protocol.CodeInvalid), "-32603", "-32002"},
		{own(protocol.CodeNotFound), "-32603", "-32002"},
		{own(protocol.CodeInternal), "-32603", "-32002"},
	} {
		require.Equal(t, c.host, string(codeFor(c.err, hostEnd)), "%v", c.err)
		require.Equal(t, c.worker, string(codeFor(c.err, workerEnd)), "%v", c.err)
	}
}

func TestFailure_sendsDataFromWorkersAlone(t *testing.T) {
	err := &protocol.PeerError{Message: `say "no"`, Code: raw("-32002"), Data: raw(`{"why":"lab"}`)}
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"say \"no\"","data":{"why":"lab"}}}`,
		encode(t, failure(raw("1"), err, workerEnd)))
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"say \"no\""}}`,
		encode(t, failure(raw("1"), err, hostEnd)))
}

func TestResponse_outcome(t *testing.T) {
	const unexpected = `error wire: plugin lab: Unexpected response format for "m": expected a result, or an error that is an object`
	for in, want := range map[string]string{
		`"result":null`:                       "ok null",
		`"result":{"a":1}`:                    `ok {"a":1}`,
		`"error":{"code":-1,"message":"no"}`:  "error no",
		`"result":1,"error":{"message":"no"}`: "error no",
		`"error":"text"`:                      "error text",
		`"error":{"message":7}`:               "error the other end failed without a message",
		`"error":7`:                           "error the other end failed without a message",
		`"error":null`:                        unexpected,
		`"result":1,"error":null`:             unexpected,
		`"result":1,"error":0`:                unexpected,
		`"result":1,"error":""`:               unexpected,
		`"result":1,"error":false`:            unexpected,
	} {
		r, ok := decode(t, []byte(`{"jsonrpc":"2.0","id":1,`+in+`}`)).(Response)
		require.True(t, ok)
		require.Equal(t, want, outcome(r.outcome("m", "lab")), in)
	}
}

func TestPeerError_keepsCodeAndDataRaw(t *testing.T) {
	e := peerError(raw(`{"code":"E","message":"m","data":{"n":9007199254740993},"more":1}`))
	require.Equal(t, &protocol.PeerError{Message: "m", Code: raw(`"E"`), Data: raw(`{"n":9007199254740993}`)}, e)
}
