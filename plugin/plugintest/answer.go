package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// Answer answers what the plugin calls: a service of the host, or a capability of another
// plugin. It may be called concurrently. A [protocol.Error] is the host's refusal with a
// code, any other error the other plugin's failure.
type Answer func(ctx context.Context, call protocol.Call) (json.RawMessage, error)

// Func is a function of Go values as an Answer. An input that is not In's fails the call as
// invalid.
func Func[In, Out any](answer func(context.Context, In) (Out, error)) Answer {
	return func(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
		var in In
		if err := decodeInput(call, &in); err != nil {
			return nil, err
		}
		out, err := answer(ctx, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}

// Value answers always the same. A value that does not encode to JSON fails the call.
func Value(v any) Answer {
	return func(context.Context, protocol.Call) (json.RawMessage, error) { return json.Marshal(v) }
}

// Fail fails always in the same way, e.g. with a *protocol.Error.
func Fail(err error) Answer {
	return func(context.Context, protocol.Call) (json.RawMessage, error) { return nil, err }
}

// Stream answers null, behind items for whoever follows the call.
func Stream(items ...any) Answer {
	return func(_ context.Context, call protocol.Call) (json.RawMessage, error) {
		for _, item := range items {
			encoded, err := json.Marshal(item)
			if err == nil && call.Progress != nil {
				err = call.Progress(encoded)
			}
			if err != nil {
				return nil, err
			}
		}
		return json.RawMessage("null"), nil
	}
}

func decodeInput(call protocol.Call, into any) error {
	if len(call.Input) == 0 {
		return nil
	}
	if err := json.Unmarshal(call.Input, into); err != nil {
		return &protocol.Error{Code: protocol.CodeInvalid, Message: "the input of " + call.Key, Err: err}
	}
	return nil
}

// answers are the services that options ask for.
func (o Options) answers() map[string]Answer {
	all := map[string]Answer{}
	if o.Secrets != nil {
		all["secrets.resolve"] = Func(o.secret)
	}
	if o.Settings != nil {
		all["getSetting"] = Func(o.setting)
	}
	for key, answer := range o.Answers {
		all[key] = answer
	}
	return all
}

type secretWanted struct {
	Ref struct {
		Type string `json:"type"`
		ID   string `json:"secretId"`
	} `json:"secretRef"`
}

func (o Options) secret(_ context.Context, wanted secretWanted) (string, error) {
	if wanted.Ref.Type != "secret_ref" {
		return "", &protocol.Error{Code: protocol.CodeInvalid, Message: `secretRef: expected { type: "secret_ref", secretId }`}
	}
	value, ok := o.Secrets[wanted.Ref.ID]
	if !ok {
		return "", &protocol.Error{
			Code: protocol.CodeInvalid, Denied: true,
			Message: fmt.Sprintf("secretRef.secretId: no secret %q is declared: add it to Options.Secrets", wanted.Ref.ID),
		}
	}
	return value, nil
}

type settingWanted struct {
	Key string `json:"key"`
}

func (o Options) setting(_ context.Context, wanted settingWanted) (any, error) {
	if wanted.Key == "" {
		return nil, &protocol.Error{Code: protocol.CodeInvalid, Message: "key: expected a string"}
	}
	return o.Settings[wanted.Key], nil
}

// errExited is the failure of code that did not return, nor panic.
var errExited = errors.New("it ended its goroutine instead of returning: runtime.Goexit, or a test's FailNow")

// contain runs the code of somebody else: a panic becomes an error.
func contain[T any](f func() (T, error)) (result T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return f()
}
