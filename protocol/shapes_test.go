package protocol

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInputOf_isWhatTheKindTakes(t *testing.T) {
	const same = "the same"
	for _, c := range []struct{ kind, input, want string }{
		{"tool", `{"a":1}`, same},
		{"tool", ``, same},
		{"model", `[7]`, same},
		{"service", ``, `[]`},
		{"service", ` [1,2]`, same},
		{"service", `{"a":1}`, `[{"a":1}]`},
		{"service", ` null `, `[null]`},
		{"action", `null`, ``},
		{"action", `{"params":{"x":1},"message":null,"responses":[1],"more":7}`, same},
		{"provider", `{"message":{},"state":{}}`, same},
		{"evaluator", ` { } `, same},
		{"data", `{"q":[]}`, same},
		{"job", `{"trigger":"retr\u0079","runId":"r"}`, same},
		{"webhook", `{"headers":{"a":"b","c":["d","e"]},"rawBody":"","parsedBody":[1],"requestId":"r"}`, same},
		{"http", `{"params":{"id":"7"},"query":{"q":["a"]},"headers":{"h":"x"},"body":7}`, same},
		{"http", `null`, ``},
		{"event", `"any"`, same},
		{"environment", `{"config":{}}`, same},
		{"", `7`, same},
	} {
		got, err := InputOf(c.kind, c.kind+":x", json.RawMessage(c.input))
		require.NoError(t, err, "%s %s", c.kind, c.input)
		if c.want == same {
			c.want = c.input
		}
		require.Equal(t, c.want, string(got), "%s %s", c.kind, c.input)
	}
}

func TestInputOf_namesTheField(t *testing.T) {
	for _, c := range []struct{ kind, input, want string }{
		{"tool", `[]`, "input: expected an object, got an array"},
		{"tool", `null`, ""},
		{"data", `"x"`, "input: expected an object, got a string"},
		{"environment", `7`, "input: expected an object, got a number"},
		{"action", `true`, "input: expected an object, got a boolean"},
		{"action", `{"params":[]}`, "input.params: expected an object, got an array"},
		{"action", `{"params":{},"params":7}`, "input.params: expected an object, got a number"},
		{"action", `{"responses":{}}`, "input.responses: expected an array, got an object"},
		{"provider", `{"message":"hi"}`, "input.message: expected an object, got a string"},
		{"evaluator", `{"state":7}`, "input.state: expected an object, got a number"},
		{"job", `{"trigger":"now"}`, `input.trigger: expected one of "schedule", "manual", "retry", got another string`},
		{"job", `{"trigger":7}`, "input.trigger: expected a string, got a number"},
		{"webhook", `{"headers":{"a":7}}`, "input.headers.a: expected a string or an array of strings, got a number"},
		{"webhook", `{"headers":{"a":["b",7]}}`, "input.headers.a[1]: expected a string, got a number"},
		{"webhook", `{"rawBody":{}}`, "input.rawBody: expected a string, got an object"},
		{"http", `{"query":"q=1"}`, "input.query: expected an object, got a string"},
		{"http", `{"params":{"id":7}}`, "input.params.id: expected a string, got a number"},
	} {
		_, err := InputOf(c.kind, c.kind+":x", json.RawMessage(c.input))
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, c.kind+":x: "+c.want)
		require.Equal(t, CodeInvalid, CodeOf(err))
	}
}

func TestResultOf_isWhatTheKindGives(t *testing.T) {
	for _, c := range []struct{ kind, result, want string }{
		{"tool", `{"content":"a","data":[1],"more":7}`, `{"content":"a","data":[1],"more":7}`},
		{"tool", `{}`, `{}`},
		{"tool", `null`, `null`},
		{"tool", ``, ``},
		{"model", `7`, `7`},
		{"provider", `{"text":"a","values":{},"data":null}`, `{"text":"a","values":{},"data":null}`},
		{"job", `{"ran":true}`, `null`},
		{"webhook", ``, `null`},
		{"http", `{"status":201,"headers":{"a":"b"},"body":1}`, `{"status":201,"headers":{"a":"b"},"body":1}`},
		{"http", `{}`, `{"status":200,"headers":{},"body":null}`},
		{"http", `null`, `{"status":200,"headers":{},"body":null}`},
		{"http", `{"status":404,"headers":null,"more":1}`, `{"status":404,"headers":{},"body":null,"more":1}`},
		{"", `7`, `7`},
	} {
		got, err := ResultOf(c.kind, c.kind+":x", "p", json.RawMessage(c.result))
		require.NoError(t, err, "%s %s", c.kind, c.result)
		if c.kind == "http" {
			require.JSONEq(t, c.want, string(got))
			continue
		}
		require.Equal(t, c.want, string(got), "%s %s", c.kind, c.result)
	}
}

func TestResultOf_namesThePluginAndTheField(t *testing.T) {
	for _, c := range []struct{ kind, result, want string }{
		{"tool", `"hello"`, "result: expected an object, got a string"},
		{"tool", `{"content":[{"text":"a"}]}`, "result.content: expected a string, got an array"},
		{"provider", `{"values":[]}`, "result.values: expected an object, got an array"},
		{"http", `{"status":"200"}`, "result.status: expected a whole number, got a string"},
		{"http", `{"status":99}`, "result.status: expected a whole number from 200 to 599, got another number"},
		{"http", `{"status":103}`, "result.status: expected a whole number from 200 to 599, got another number"},
		{"http", `{"status":600}`, "result.status: expected a whole number from 200 to 599, got another number"},
		{"http", `{"status":200.5}`, "result.status: expected a whole number from 200 to 599, got another number"},
		{"http", `{"headers":{"a":["b"]}}`, "result.headers.a: expected a string, got an array"},
	} {
		_, err := ResultOf(c.kind, c.kind+":x", "p", json.RawMessage(c.result))
		require.EqualError(t, err, c.kind+":x of plugin p: "+c.want)
		require.Equal(t, CodeWire, CodeOf(err))
	}
}
