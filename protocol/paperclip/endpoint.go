package paperclip

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// http calls an HTTP endpoint of the plugin's, which its manifest declares under a
// key of its own. There must be a company.
func (t *target) http() (outgoing, error) {
	e, ok := t.endpoint()
	if !ok {
		return outgoing{}, t.settings.Fault(protocol.CodeNotFound, fmt.Sprintf(
			"%s: the manifest's apiRoutes declare no such method and path", clip(t.Key)))
	}
	input, err := t.objectInput(t.Input, "{params?, query?, headers?, body?}")
	if err == nil {
		err = t.needsCompany()
	}
	if err != nil {
		return outgoing{}, err
	}
	var parts [3]json.RawMessage
	for i, name := range []string{"params", "query", "headers"} {
		if parts[i], err = t.objectInput(member(input, name), "as "+name); err != nil {
			return outgoing{}, err
		}
	}
	path, err := t.fill(e.path, parts[0])
	if err != nil {
		return outgoing{}, err
	}
	body := member(input, "body")
	if body == nil {
		body = json.RawMessage("null")
	}
	actor := newObject().str("actorType", "user").str("actorId", nobody).str("userId", nobody)
	o := newObject().str("routeKey", e.key).str("method", e.method).str("path", path).
		raw("params", parts[0]).raw("query", parts[1]).raw("body", body).
		raw("actor", actor.done()).str("companyId", t.company).raw("headers", parts[2])
	sent := t.sent(methodAPIRequest, o)
	sent.adapt = asResponse
	return sent, nil
}

// endpoint finds the endpoint that a key like "http:GET /items/:id" names.
func (t *target) endpoint() (endpoint, bool) {
	method, path, _ := strings.Cut(t.name, " ")
	for _, e := range t.endpoints {
		if strings.EqualFold(e.method, method) && e.path == path {
			return e, true
		}
	}
	return endpoint{}, false
}

// fill puts the parameters into a path: "/items/:id" with an id of 7 is "/items/7".
func (t *target) fill(path string, params json.RawMessage) (string, error) {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		name, ok := strings.CutPrefix(s, ":")
		if !ok {
			continue
		}
		value, isText := text(member(params, name))
		if !isText || value == "" {
			return "", t.invalid(fmt.Sprintf("params.%s: expected a string, as the path %s has it", name, path))
		}
		segments[i] = url.PathEscape(value)
	}
	return strings.Join(segments, "/"), nil
}

// asResponse is the worker's {status?, headers?, body?} with all three in it.
func asResponse(d *driver, result json.RawMessage) (json.RawMessage, error) {
	status, headers, body := json.RawMessage("200"), json.RawMessage("{}"), json.RawMessage("null")
	ok := string(result) == "null" || eachMember(result, func(key string, value json.RawMessage) {
		switch key {
		case "status":
			status = value
		case "headers":
			headers = value
		case "body":
			body = value
		}
	})
	if !ok || !isNumber(status) || headers[0] != '{' {
		return nil, d.settings.Fault(protocol.CodeWire, fmt.Sprintf("%s was answered with %s; expected {status?: number, headers?: object, body?}",
			methodAPIRequest, clip(string(result[:min(len(result), maxExcerpt)]))))
	}
	return newObject().raw("status", status).raw("headers", headers).raw("body", body).done(), nil
}
