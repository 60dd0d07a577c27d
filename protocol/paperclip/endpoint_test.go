package paperclip

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

const apiActor = `"actor":{"actorType":"user","actorId":"airi-host","userId":"airi-host"},"companyId":"c"`

func TestEndpoint_calls(t *testing.T) {
	for _, c := range []struct{ key, input, want string }{
		{
			"http:GET /items/:id", `{"params":{"id":"7/8 ü"},"query":{"q":["a","b"]},"headers":{"accept":"x"},"body":{"n":1}}`,
			`{"routeKey":"items","method":"GET","path":"/items/7%2F8%20%C3%BC","params":{"id":"7/8 ü"},"query":{"q":["a","b"]},"body":{"n":1},` + apiActor + `,"headers":{"accept":"x"}}`,
		},
		{
			"http:POST /items", ``,
			`{"routeKey":"all","method":"post","path":"/items","params":{},"query":{},"body":null,` + apiActor + `,"headers":{}}`,
		},
	} {
		r := setUp(t, Plugin{}, `[]`)
		call := protocol.Call{Key: c.key, Scope: "c"}
		if c.input != "" {
			call.Input = raw(c.input)
		}
		require.Equal(t, []string{`send {"id":2,"method":"handleApiRequest","params":` + c.want + inCompany + `}`}, r.invoke(1, call))
	}
}

func TestEndpoint_refuses(t *testing.T) {
	for _, c := range []struct{ key, input, scope, want string }{
		{"http:GET /nothing", `{}`, "c", "not-found: plugin lab: http:GET /nothing: the manifest's apiRoutes declare no such method and path"},
		{"http:DELETE /items", `{}`, "c", "not-found: plugin lab: http:DELETE /items: the manifest's apiRoutes declare no such method and path"},
		{"http:POST /items", `{}`, "", "invalid: plugin lab: http:POST /items needs a company and has none: give the call a scope, or the host a default one"},
		{"http:POST /items", `[]`, "c", "invalid: plugin lab: the input of http:POST /items: expected an object {params?, query?, headers?, body?}"},
		{"http:POST /items", `{"query":[]}`, "c", "invalid: plugin lab: the input of http:POST /items: expected an object as query"},
		{"http:GET /items/:id", `{}`, "c", "invalid: plugin lab: the input of http:GET /items/:id: params.id: expected a string, as the path /items/:id has it"},
	} {
		r := setUp(t, Plugin{}, `[]`)
		require.Equal(t, []string{"complete 1 error " + c.want}, r.invoke(1, protocol.Call{Key: c.key, Input: raw(c.input), Scope: c.scope}))
	}
}

func TestEndpoint_resultHasAllItsMembers(t *testing.T) {
	const wrong = "expected {status?: number, headers?: object, body?}"
	for answer, want := range map[string]string{
		`{"status":201,"headers":{"x":"1"},"body":{"a":1}}`: `ok {"status":201,"headers":{"x":"1"},"body":{"a":1}}`,
		`{}`:               `ok {"status":200,"headers":{},"body":null}`,
		`null`:             `ok {"status":200,"headers":{},"body":null}`,
		`7`:                "error wire: plugin lab: handleApiRequest was answered with 7; " + wrong,
		`{"status":"200"}`: `error wire: plugin lab: handleApiRequest was answered with {"status":"200"}; ` + wrong,
		`{"headers":[]}`:   `error wire: plugin lab: handleApiRequest was answered with {"headers":[]}; ` + wrong,
	} {
		r := setUp(t, Plugin{Company: "c"}, `[]`)
		r.invoke(1, protocol.Call{Key: "http:POST /items"})
		require.Equal(t, []string{"complete 1 " + want}, r.receive(`{"id":2,"result":`+answer+`}`))
	}
}
