package airi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestErrorValue_hasWhatAPeerCanUse(t *testing.T) {
	for want, err := range map[string]error{
		`{"message":"boom"}`: errors.New("boom"),
		`{"message":"plugin p: busy","code":"overloaded"}`:            &protocol.Error{Code: protocol.CodeOverloaded, Plugin: "p", Message: "busy"},
		`{"message":"call: late: gone","code":"timeout"}`:             fmt.Errorf("call: %w", &protocol.Error{Code: protocol.CodeTimeout, Message: "late", Err: errors.New("gone")}),
		`{"name":"TypeError","message":"not a number","code":-32000}`: &protocol.PeerError{Name: "TypeError", Message: "not a number", Code: raw("-32000")},
		`{"message":"m","data":{"a":1}}`:                              &protocol.PeerError{Message: "m", Data: raw(`{"a":1}`)},
		`{"message":""}`:                                              &protocol.PeerError{},
		`{"message":"a code that is no JSON"}`:                        &protocol.PeerError{Message: "a code that is no JSON", Code: raw("{")},
	} {
		require.JSONEq(t, want, string(errorValue(err)))
	}
}

func TestPeerError_keepsThePeersWords(t *testing.T) {
	for content, want := range map[string]protocol.PeerError{
		`{"error":{"message":"no","stack":"Error: no\n    at x"}}`: {
			Message: "no", Data: raw(`{"stack":"Error: no\n    at x"}`), Stack: "Error: no\n    at x",
		},
		`{"error":{"name":"TypeError","message":"no","at":"main.mjs:1:2","code":"E1"}}`: {
			Name: "TypeError", Message: "no", At: "main.mjs:1:2", Code: raw(`"E1"`),
		},
		`{"error":{"message":""}}`:                                   {Message: ""},
		`{"error":"text"}`:                                           {Message: "text"},
		`{"error":{}}`:                                               {Message: "wordless"},
		`{"error":{"message":5}}`:                                    {Message: "wordless", Data: raw(`{"message":5}`)},
		`{"error":{"Message":"other key"}}`:                          {Message: "wordless", Data: raw(`{"Message":"other key"}`)},
		`{"error":[1]}`:                                              {Message: "wordless", Data: raw(`[1]`)},
		`{"error":{"thrown":"just a string"}}`:                       {Message: "wordless", Data: raw(`{"thrown":"just a string"}`)},
		`{"error":{"message":"m","data":{"a":1},"status":404}}`:      {Message: "m", Data: raw(`{"a":1}`)},
		`{"error":{"message":"m","status":404,"__proto__":{"x":1}}}`: {Message: "m", Data: raw(`{"status":404,"__proto__":{"x":1}}`)},
		`{"error":{"message":"m","a":1,"a":2}}`:                      {Message: "m", Data: raw(`{"message":"m","a":1,"a":2}`)},
		`{"error":7}`:                                                {Message: "wordless", Data: raw(`7`)},
		`{"error":null}`:                                             {Message: "wordless"},
		`{}`:                                                         {Message: "wordless"},
		`5`:                                                          {Message: "wordless"},
		``:                                                           {Message: "wordless"},
	} {
		require.Equal(t, &want, peerError(raw(content), "wordless"), content)
	}
}
