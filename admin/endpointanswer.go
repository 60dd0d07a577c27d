package admin

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/airi-host/airi-host/protocol"
)

// The limits of the headers of a plugin's answer, names and values together.
const (
	maxAnswerHeaders     = 64
	maxAnswerHeaderBytes = 16 << 10
)

// ownHeaders are those that no plugin sets. Some would speak for the host, or for every
// program on this machine, to a browser that keeps cookies and promises by the name of
// the host alone; some would have a proxy in front of the host open its files; some are
// how the answer travels.
var ownHeaders = nameSet("Set-Cookie", "Set-Cookie2", "Www-Authenticate", "Authentication-Info", "Clear-Site-Data",
	"Strict-Transport-Security", "Service-Worker-Allowed", "X-Content-Type-Options", "X-Frame-Options", "Alt-Svc", "Nel", "Report-To",
	"Reporting-Endpoints", "Origin-Agent-Cluster", "Public-Key-Pins", "X-Sendfile", "Content-Length", headerEncoding)

var ownHeaderFamilies = []string{"Access-Control-", "Cross-Origin-", "X-Accel-", "Proxy-", "Sec-"}

// sandbox keeps a page of a plugin's from being one of the host's: to a browser it is of
// an origin of its own, which may not ask the host.
const sandbox = "sandbox allow-scripts allow-forms allow-popups allow-downloads"

// response is the result of an endpoint.
type response struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
}

// respond writes what a plugin has answered. An error is one before anything was
// written, or a goneError.
func (e *endpoints) respond(w http.ResponseWriter, to destination, result json.RawMessage) error {
	var out response
	if err := json.Unmarshal(result, &out); err != nil {
		return to.fault("result: %v", err)
	}
	if out.Status < protocol.LeastStatus || out.Status > protocol.MostStatus { // whoever has answered in the plugin's place
		return to.fault("result.status: expected a whole number from %d to %d, got %d", protocol.LeastStatus, protocol.MostStatus, out.Status)
	}
	head, encoded, err := e.headers(out.Headers, to)
	if err != nil {
		return err
	}
	body, kind, err := out.bytes(encoded)
	if err != nil {
		return to.fault("result.body: %v", err)
	}
	if hasNoBody(out.Status) {
		body, kind = nil, ""
	} else {
		head.Set("Content-Length", strconv.Itoa(len(body)))
	}
	secure(head, kind)
	soon(w)
	maps.Copy(w.Header(), head)
	w.WriteHeader(out.Status)
	if len(body) == 0 {
		return nil
	}
	if _, err := w.Write(body); err != nil {
		return &goneError{err}
	}
	return nil
}

// hasNoBody tells whether answers of a status have none, by the rules of HTTP.
func hasNoBody(status int) bool {
	return status == http.StatusNoContent || status == http.StatusResetContent || status == http.StatusNotModified
}

// secure sets what every answer of a plugin's has, and what it has where the plugin says
// nothing.
func secure(head http.Header, kind string) {
	head.Set("X-Content-Type-Options", "nosniff")
	head.Add("Content-Security-Policy", sandbox)
	if head.Get("Cache-Control") == "" {
		head.Set("Cache-Control", "no-store")
	}
	if head.Get("Content-Type") == "" && kind != "" {
		head.Set("Content-Type", kind)
	}
}

// headers are those of a plugin's that are passed on; encoded tells that the body is
// base64. What cannot be a header fails the request: its author is to notice.
func (e *endpoints) headers(of map[string]string, to destination) (head http.Header, encoded bool, err error) {
	size := 0
	head = make(http.Header, len(of))
	own := nameSet(strings.Split(strings.ReplaceAll(of["connection"]+","+of["Connection"], " ", ""), ",")...)
	for name, value := range of {
		size += len(name) + len(value)
		if !httpguts.ValidHeaderFieldName(name) {
			return nil, false, to.fault("result.headers: %.40q is not the name of a header", name)
		}
		if !httpguts.ValidHeaderFieldValue(value) {
			return nil, false, to.fault("result.headers.%s: its value has a line break or another control character", name)
		}
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case canonical == headerEncoding && strings.EqualFold(strings.TrimSpace(value), encodingBase64):
			encoded = true
		case isOwnHeader(canonical) || own[canonical]:
			e.dropped.Add(1)
		default:
			head[canonical] = append(head[canonical], value)
		}
	}
	if len(of) > maxAnswerHeaders || size > maxAnswerHeaderBytes {
		return nil, false, to.fault("result.headers: %d of %d bytes: at most %d of %d bytes are passed on",
			len(of), size, maxAnswerHeaders, maxAnswerHeaderBytes)
	}
	return head, encoded, nil
}

func isOwnHeader(canonical string) bool {
	if hopByHop[canonical] || ownHeaders[canonical] {
		return true
	}
	for _, family := range ownHeaderFamilies {
		if strings.HasPrefix(canonical, family) {
			return true
		}
	}
	return false
}

// bytes is the body as it is sent, and what it is where the plugin does not say: text is
// sent as it is, anything else as JSON.
func (r response) bytes(encoded bool) (body []byte, kind string, err error) {
	raw := bytes.TrimSpace(r.Body)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, "", nil
	}
	if raw[0] != '"' && encoded {
		return nil, "", fmt.Errorf("expected a string of base64, since %s says so", headerEncoding)
	}
	if raw[0] != '"' {
		return raw, "application/json", nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, "", err
	}
	if !encoded {
		return []byte(text), "text/plain; charset=utf-8", nil
	}
	if body, err = base64.StdEncoding.DecodeString(text); err != nil {
		return nil, "", fmt.Errorf("it is not base64, as %s says: %w", headerEncoding, err)
	}
	return body, "application/octet-stream", nil
}

// fault is an answer that cannot be passed on.
func (d destination) fault(format string, args ...any) error {
	return &protocol.Error{Code: protocol.CodeWire, Plugin: d.plugin, Message: fmt.Sprintf(
		"%s of plugin %s: ", d.key, d.plugin) + fmt.Sprintf(format, args...)}
}
