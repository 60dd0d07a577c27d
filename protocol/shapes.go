package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// kind is what goes in and comes out of the capabilities of one kind.
type kind struct {
	name          string
	input, result shape
	// wraps: an input of another type becomes the only item of an array.
	wraps bool
	// silent kinds answer null, whatever the callee says.
	silent bool
	// complete kinds have all members in their results, these where the callee
	// leaves them out.
	complete []string
}

func member(name, about string, types ...string) namedShape {
	return namedShape{name, shape{about: about, types: types}}
}

// values is the shape of objects whose members have one shape.
func values(name, about string, types ...string) namedShape {
	return namedShape{name, shape{about: about, types: []string{isObject}, each: &shape{types: types, each: eachText(types)}}}
}

// eachText is the shape of the items where an array is allowed.
func eachText(types []string) *shape {
	if !slices.Contains(types, isArray) {
		return nil
	}
	return &shape{types: []string{isText}}
}

// object is the shape of an object with these members, and any others.
func object(about string, members ...namedShape) shape {
	return shape{about: about, types: []string{isObject}, members: members}
}

func anything(about string) shape { return shape{about: about} }

// turn is what providers and evaluators are given.
func turn() shape {
	return object("The message that is being answered, and the state so far.",
		member("message", "The message.", isObject),
		member("state", "The state so far.", isObject))
}

// kinds is the table of all kinds; a key of no kind takes and gives anything.
var kinds = []kind{
	{
		name:  "tool",
		input: object("The tool's parameters, as its declared schema has them."),
		result: object("What the tool answers.",
			member("content", "The answer for people and for models.", isText),
			member("data", "The answer for programs."),
			member("error", "Why the call failed. A result that has it is a failed call.")),
	},
	{
		name:   "model",
		input:  anything("The model's params."),
		result: anything("The model's answer; chunks of it come before, while it streams."),
	},
	{
		name: "service", wraps: true,
		input:  shape{about: "The arguments. Any other value is taken as the only one.", types: []string{isArray}},
		result: anything("What the method returns."),
	},
	{
		name: "action",
		input: object("What the action is to do, and the conversation in which it is to be done.",
			member("params", "The action's parameters.", isObject),
			member("message", "The message that is being answered.", isObject),
			member("state", "The state so far.", isObject),
			member("options", "Options of the action.", isObject),
			member("responses", "The answers so far.", isArray)),
		result: anything("What the action answers; what it says meanwhile comes before."),
	},
	{
		name: "provider", input: turn(),
		result: object("What the provider adds to a conversation.",
			member("text", "Text for the prompt.", isText),
			member("values", "Values for templates.", isObject),
			member("data", "Data for programs.", isObject)),
	},
	{name: "evaluator", input: turn(), result: anything("What the evaluator finds.")},
	{
		name:   "data",
		input:  object("The params of what is asked for."),
		result: anything("The data."),
	},
	{
		name: "job", silent: true,
		input: object("Why the job runs.", namedShape{"trigger", shape{
			about: `What starts the run; "manual" where nothing is said.`, types: []string{isText},
			words: []string{TriggerSchedule, TriggerManual, TriggerRetry},
		}},
			member("runId", "The run's id; a host that remembers runs gives its own.", isText),
			member("scheduledAt", "When the run was due, as RFC 3339 has it; set as the id is.", isText)),
		result: shape{about: "Nothing.", types: []string{isNull}},
	},
	{
		name: "webhook", silent: true,
		input: object("What somebody sent.",
			values("headers", "The headers.", isText, isArray),
			member("rawBody", "The body as it came.", isText),
			member("parsedBody", "The body as JSON, where it is that."),
			member("requestId", "The id of the request.", isText)),
		result: shape{about: "Nothing.", types: []string{isNull}},
	},
	{
		name: "http",
		input: object("The request.",
			values("params", "The path's parameters, by the names in the pattern.", isText),
			values("query", "The query.", isText, isArray),
			values("headers", "The headers.", isText, isArray),
			member("body", "The body.")),
		result: object("The response.",
			namedShape{"status", shape{about: "The status; 200 where nothing is said.", types: []string{isInteger}, least: LeastStatus, most: MostStatus}},
			values("headers", "The headers.", isText),
			member("body", "The body.")),
		complete: []string{"status", "200", "headers", "{}", "body", "null"},
	},
	{
		name:   "event",
		input:  anything("The event's payload."),
		result: shape{about: "Nothing.", types: []string{isNull}},
	},
	{
		name:   "environment",
		input:  object("The hook's params."),
		result: anything("The hook's result."),
	},
}

// kindOf finds a kind, nil for none. The first ones are found fastest: it is asked at
// each call.
func kindOf(name string) *kind {
	for i := range kinds {
		if kinds[i].name == name {
			return &kinds[i]
		}
	}
	return nil
}

// Kinds lists the kinds of capabilities in the order of docs/kinds.md.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].name
	}
	return names
}

// InputOf returns the input of a call as its kind has it: null is none where an object
// is expected, and what is no array is wrapped for a service. It fails with
// [CodeInvalid], naming the key and the field. Of a kind that is none it takes anything.
func InputOf(kindName, key string, input json.RawMessage) (json.RawMessage, error) {
	k := kindOf(kindName)
	if k == nil || len(k.input.types) == 0 {
		return input, nil
	}
	if k.wraps {
		return wrapped(input), nil
	}
	if k.name != "tool" && typeOf(bytes.TrimSpace(input)) == isNull {
		return nil, nil
	}
	if wrong := k.input.check(input); wrong != nil {
		return nil, &Error{Code: CodeInvalid, Message: fmt.Sprintf("%s: input%s: %s", key, wrong.at, wrong.text)}
	}
	return input, nil
}

func wrapped(input json.RawMessage) json.RawMessage {
	switch trimmed := bytes.TrimSpace(input); {
	case len(trimmed) == 0:
		return json.RawMessage(`[]`)
	case trimmed[0] == '[':
		return input
	default:
		return slices.Concat(json.RawMessage(`[`), trimmed, json.RawMessage(`]`))
	}
}

// ResultOf returns the result of a call as its kind has it: null of kinds that have
// none, and of an HTTP response all of its members. It fails with [CodeWire], naming
// the plugin that answered, the key and the field.
func ResultOf(kindName, key, plugin string, result json.RawMessage) (json.RawMessage, error) {
	k := kindOf(kindName)
	switch {
	case k == nil:
		return result, nil
	case k.silent:
		return json.RawMessage("null"), nil
	}
	if wrong := k.result.check(result); wrong != nil {
		return nil, &Error{Code: CodeWire, Plugin: plugin, Message: fmt.Sprintf(
			"%s of plugin %s: result%s: %s", key, plugin, wrong.at, wrong.text)}
	}
	return k.completed(result), nil
}

// completed adds the members that are not there, or null, in front of those that are.
func (k *kind) completed(result json.RawMessage) json.RawMessage {
	if len(k.complete) == 0 {
		return result
	}
	have := map[string]json.RawMessage{}
	for i := 0; i < len(k.complete); i += 2 {
		have[k.complete[i]] = json.RawMessage(k.complete[i+1])
	}
	missing := len(have)
	EachMember(result, func(key, value []byte) {
		if _, wanted := have[string(key)]; wanted && typeOf(value) != isNull {
			missing--
		}
		have[string(key)] = value
	})
	if missing == 0 {
		return result
	}
	for i := 0; i < len(k.complete); i += 2 {
		if name := k.complete[i]; typeOf(have[name]) == isNull {
			have[name] = json.RawMessage(k.complete[i+1])
		}
	}
	whole, _ := json.Marshal(have) // values that were JSON already
	return whole
}

// InputSchema returns a JSON Schema of what a kind takes, {} where that is anything.
func InputSchema(kindName string) json.RawMessage {
	if k := kindOf(kindName); k != nil {
		return k.input.schema(false).encode()
	}
	return json.RawMessage(`{}`)
}

// ResultSchema returns a JSON Schema of what a kind gives, {} where that is anything.
func ResultSchema(kindName string) json.RawMessage {
	if k := kindOf(kindName); k != nil {
		return k.result.schema(false).encode()
	}
	return json.RawMessage(`{}`)
}

// KindsSchema returns the schemas of all kinds as one JSON Schema: "$defs" has one
// "KIND.input" and one "KIND.result" of each.
func KindsSchema() json.RawMessage {
	page := struct {
		Draft string                 `json:"$schema"`
		Title string                 `json:"title"`
		Defs  map[string]*jsonSchema `json:"$defs"`
	}{"https://json-schema.org/draft/2020-12/schema", "What goes in and comes out, by kind", map[string]*jsonSchema{}}
	for i := range kinds {
		page.Defs[kinds[i].name+".input"] = kinds[i].input.schema(false)
		page.Defs[kinds[i].name+".result"] = kinds[i].result.schema(false)
	}
	raw, _ := json.MarshalIndent(page, "", "  ") // strings and numbers only
	return append(raw, '\n')
}
