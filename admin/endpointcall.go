package admin

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/airi-host/airi-host/protocol"
)

// headerEncoding marks a body that is bytes: with the value base64 it is the text of them,
// in both directions.
const (
	headerEncoding = "Content-Transfer-Encoding"
	encodingBase64 = "base64"
)

// call makes a request a call, by the kind of what it is for.
func (e *endpoints) call(w http.ResponseWriter, r *http.Request, to destination, proven bool) (protocol.Call, error) {
	c := protocol.Call{Key: string(to.key), Plugin: to.plugin, Trace: traceOf(r)}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return c, invalid("the query: %v", err)
	}
	body, err := e.body(w, r)
	if err != nil {
		return c, err
	}
	if to.webhook {
		c.Input, err = delivery(r, body)
		return c, err
	}
	headers := passedOn(r.Header)
	in, encoded, err := bodyOf(r.Header.Get("Content-Type"), body)
	if err != nil {
		return c, err
	}
	if encoded {
		headers[strings.ToLower(headerEncoding)] = encodingBase64
	}
	if proven {
		c.Scope = to.scope(query, in)
	}
	c.Input, err = json.Marshal(request{to.params, fields(query), headers, in})
	return c, err
}

// request is the input of an endpoint.
type request struct {
	Params  map[string]string `json:"params"`
	Query   map[string]any    `json:"query"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
}

// fields are a string where there is one value, an array where there are more.
func fields(query url.Values) map[string]any {
	all := make(map[string]any, len(query))
	for name, values := range query {
		if len(values) == 1 {
			all[name] = values[0]
		} else {
			all[name] = values
		}
	}
	return all
}

// delivery is the input of a webhook.
func delivery(r *http.Request, body []byte) (json.RawMessage, error) {
	if !utf8.Valid(body) {
		return nil, invalid("the body: a webhook takes text, in UTF-8")
	}
	in := struct {
		Headers   map[string]string `json:"headers"`
		RawBody   string            `json:"rawBody"`
		Parsed    json.RawMessage   `json:"parsedBody,omitempty"`
		RequestID string            `json:"requestId"`
	}{Headers: passedOn(r.Header), RawBody: string(body), RequestID: uuid.NewString()}
	if json.Valid(body) {
		in.Parsed = body
	}
	return json.Marshal(in)
}

// body reads the body of a request, within its limits.
func (e *endpoints) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	large := func() error {
		return &protocol.Error{Code: codeTooLarge, Message: fmt.Sprintf("the body is larger than %d bytes, the limit", e.Body)}
	}
	if r.ContentLength > e.Body {
		return nil, large()
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, e.Body))
	if _, is := errors.AsType[*http.MaxBytesError](err); is {
		return nil, large()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, &protocol.Error{Code: codeSlow, Message: "the body did not come in time, " + e.Time.String()}
	}
	if err != nil {
		return nil, invalid("reading the body: %v", err)
	}
	unbounded(w, r)
	return body, nil
}

// bodyOf is a body as JSON: the value where it is JSON, the text where it is text, and
// base64 of anything else; null where there is none.
func bodyOf(contentType string, body []byte) (in json.RawMessage, encoded bool, err error) {
	switch {
	case len(body) == 0:
		return json.RawMessage("null"), false, nil
	case isJSON(contentType) && !json.Valid(body):
		return nil, false, invalid("the body is not the JSON that Content-Type says it is")
	case isJSON(contentType):
		return body, false, nil
	case utf8.Valid(body):
		in, err = json.Marshal(string(body))
		return in, false, err
	}
	in, err = json.Marshal(base64.StdEncoding.EncodeToString(body))
	return in, true, err
}

func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// hopByHop are the headers that are about one connection, of requests and responses.
var hopByHop = nameSet("Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade")

// keptBack are the headers of requests that no plugin is told: the host's token, what
// programs on this machine keep in a browser, and what the host itself says here.
var keptBack = nameSet("Authorization", "Cookie", "Cookie2", headerEncoding)

func nameSet(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[http.CanonicalHeaderKey(name)] = true
	}
	return set
}

// passedOn are the headers that a plugin is told: names in lower case, several values of
// one joined by commas.
func passedOn(head http.Header) map[string]string {
	own := nameSet(strings.Split(strings.ReplaceAll(strings.Join(head["Connection"], ","), " ", ""), ",")...)
	all := make(map[string]string, len(head))
	for name, values := range head {
		if !hopByHop[name] && !keptBack[name] && !own[name] {
			all[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\ufffd")
		}
	}
	return all
}

var traceparent = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// traceOf is the trace that a request belongs to, or "".
func traceOf(r *http.Request) string {
	if trace := r.Header.Get("Traceparent"); traceparent.MatchString(trace) {
		return trace
	}
	return ""
}

// scope is the company of a request, where the plugin's manifest has it; "" for none.
func (k known) scope(query url.Values, body json.RawMessage) (company string) {
	switch k.Company.From {
	case "query":
		return query.Get(k.Company.Key)
	case "body":
		var members map[string]json.RawMessage
		if json.Unmarshal(body, &members) == nil {
			_ = json.Unmarshal(members[k.Company.Key], &company) // what is no text is none
		}
	}
	return company
}
