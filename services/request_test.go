package services

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestRequest_isReadAsFetchReadsIt(t *testing.T) {
	in := reading(`{"url":" https://a.example/x?y=1#z ","init":{"method":"patch","body":"b\u0000",
		"headers":{"X-A":"1","x-a":"2","X-N":7,"X-T":true,"X-B":"\u00fc"}}}`)
	r := in.request(10)
	require.NoError(t, in.err)
	require.Equal(t, "PATCH", r.method)
	require.Equal(t, "https://a.example/?q=a%20b", reading(`{"url":"https://a.example/?q=a b"}`).request(10).url.String())
	require.Equal(t, "https://a.example/x?y=1#z", r.url.String())
	require.Equal(t, "b\x00", r.body)
	require.Equal(t, http.Header{"User-Agent": {"airi-host"}, "X-A": {"1", "2"}, "X-N": {"7"}, "X-T": {"true"}, "X-B": {"\xfc"}}, r.header)

	in = reading(`{"url":"http://a.example","init":null}`)
	r = in.request(10)
	require.NoError(t, in.err)
	require.Equal(t, "GET", r.method)
	require.Empty(t, r.body)
}

func TestRequest_theHostsOwnHeadersAreLeftOut(t *testing.T) {
	in := reading(`{"url":"http://a.example","init":{"headers":{
		"host":"evil","HOST":"evil"," Host ":"evil","Content-Length":"1","transfer-encoding":"chunked","Connection":"upgrade","Keep-Alive":"1",
		"TE":"trailers","Trailer":"x","Upgrade":"h2c","Expect":"100-continue","Accept-Encoding":"br",
		"Proxy-Authorization":"x","Proxy-Connection":"x","user-agent":"mine"}}}`)
	require.Equal(t, http.Header{"User-Agent": {"mine"}}, in.request(10).header)
	require.NoError(t, in.err)
}

func TestRequest_refusesWhatIsNone(t *testing.T) {
	w := newWorker(t, &plugins{}, Options{HTTP: HTTP{MaxRequest: 10}})
	for params, words := range map[string]string{
		`{}`:                                                                     "url: expected a string that is not blank, got nothing",
		`{"url":{"href":"http://a"}}`:                                            "url: expected a string that is not blank, got an object",
		`{"url":"/secret"}`:                                                      "url: expected an absolute URL with http: or https:",
		`{"url":"ftp://a/secret"}`:                                               "url: expected an absolute URL with http: or https:",
		`{"url":"file:///secret"}`:                                               "url: expected an absolute URL with http: or https:",
		`{"url":"http:secret"}`:                                                  "url: expected a host",
		`{"url":"http://:80/secret"}`:                                            "url: expected a host",
		`{"url":"http://a:secret/"}`:                                             "url: expected an absolute URL",
		`{"url":"http://u:secret@a/"}`:                                           "url: expected none with a user or a password: send an authorization header",
		`{"url":"http://secret@a/"}`:                                             "url: expected none with a user or a password",
		`{"url":"http://a","init":"GET"}`:                                        "init: expected an object, got a string",
		`{"url":"http://a","init":{"method":1}}`:                                 "init.method: expected a string, got a number",
		`{"url":"http://a","init":{"method":"connect"}}`:                         "init.method: expected any but CONNECT, TRACE and TRACK",
		`{"url":"http://a","init":{"method":"A B"}}`:                             "init.method: expected a method, e.g. POST",
		`{"url":"http://a","init":{"body":{"secret":1}}}`:                        "init.body: expected a string, got an object",
		`{"url":"http://a","init":{"body":"12345678901"}}`:                       "init.body: 11 bytes are sent, and 10 are the limit",
		`{"url":"http://a","init":{"headers":[["a","secret"]]}}`:                 "init.headers: expected an object, got an array",
		`{"url":"http://a","init":{"headers":{"x-a":["secret"]}}}`:               "init.headers.x-a: expected a string, a number or a boolean, got an array",
		`{"url":"http://a","init":{"headers":{"x":"secret\u65e5"}}}`:             "init.headers.x: expected characters up to U+00FF",
		`{"url":"http://a","init":{"headers":{"x":"` + long(maxHeaders) + `"}}}`: "init.headers: 65537 bytes are sent, and 65536 are the limit",
	} {
		_, err := w.try("http.fetch", params)
		wantFault(t, err, protocol.CodeInvalid, words)
		require.False(t, strings.Contains(err.Error(), "secret"), err)
	}
}
