package plugin_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/eliza"
)

// A plugin offers a tool that counts whom it has greeted; the event
// "greeter.reset" starts the count anew.
func ExampleDefine() {
	var greeted atomic.Int64
	p := plugin.Define("greeter")
	plugin.Tool(p, "greet", func(_ context.Context, who struct{ Name string }) (plugin.Result, error) {
		if who.Name == "" {
			return plugin.Result{Error: "whom? give a name"}, nil
		}
		n := greeted.Add(1)
		return plugin.Result{Content: "Hello, " + who.Name + "!", Data: n}, nil
	}, plugin.Describe("greets somebody by name"))
	plugin.On(p, "greeter.reset", func(context.Context, struct{}) error {
		greeted.Store(0)
		return nil
	})

	for _, offer := range p.Offers() {
		fmt.Printf("%s: %q\n", offer.Key, offer.Description)
	}
	// Output:
	// tool:greet: "greets somebody by name"
	// event:greeter.reset: ""
}

// A plugin that uses others asks for them in a hook or a handler, through its
// session. What its manifest requires is ready when the init hook runs.
func ExampleDefinition_OnInit() {
	p := plugin.Define("guest")
	p.OnInit(func(ctx context.Context, s *plugin.Session) error {
		var greeting plugin.Result
		if err := s.Call(ctx, "tool:greet", map[string]string{"name": s.Plugin()}, &greeting); err != nil {
			return err
		}
		s.Log().Info("greeted", "text", greeting.Content)
		return nil
	})
}

// counter is a plugin that keeps a number in the state of its host.
func counter() *plugin.Definition {
	p := plugin.Define("counter")
	plugin.Tool(p, "count", func(ctx context.Context, _ struct{}) (plugin.Result, error) {
		s, n := plugin.From(ctx), 0
		where := map[string]any{"scopeKind": "company", "scopeId": plugin.Scope(ctx), "stateKey": "n"}
		if err := s.Call(ctx, "state.get", where, &n); err != nil {
			return plugin.Result{}, err
		}
		where["value"] = n + 1
		return plugin.Result{Data: n + 1}, s.Call(ctx, "state.set", where, nil)
	})
	return p
}

// The whole main function of a plugin that a Paperclip host starts.
func ExampleMain() {
	plugin.Main(counter())
}

// Over any pair of streams, here with a host that asks once and goes away.
func ExampleServePaperclip() {
	p := plugin.Define("doubler")
	plugin.Data(p, "double", func(_ context.Context, in struct{ N int }) (int, error) { return 2 * in.N, nil })
	host := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"getData","params":{"key":"double","params":{"n":21}}}` + "\n")
	err := plugin.ServePaperclip(context.Background(), p, plugin.PaperclipOptions{
		In: host, Out: struct{ io.Writer }{os.Stdout}, // wrapped, so that it stays open
	})
	fmt.Println(err)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":42}
	// <nil>
}

// A handler whose answer is a stream. Whoever follows the call gets each word as it is
// emitted; whoever does not, as a Paperclip host, all of them at the end.
func ExampleStream() {
	p := plugin.Define("speller")
	plugin.Stream(p, "data:spell", func(_ context.Context, in struct{ Text string }, emit func(string) error) error {
		for word := range strings.FieldsSeq(in.Text) {
			if err := emit(word); err != nil {
				return err
			}
		}
		return nil
	})
	host := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"getData","params":{"key":"spell","params":{"text":"one two"}}}` + "\n")
	err := plugin.ServePaperclip(context.Background(), p, plugin.PaperclipOptions{
		In: host, Out: struct{ io.Writer }{os.Stdout}, // wrapped, so that it stays open
	})
	fmt.Println(err)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":["one","two"]}
	// <nil>
}

// A tool that takes a while says how far it is. A caller who follows is told; one with
// an idle limit knows that the tool has not hung.
func ExampleReport() {
	p := plugin.Define("importer")
	plugin.Tool(p, "import", func(ctx context.Context, in struct{ Files []string }) (plugin.Result, error) {
		for i, file := range in.Files {
			if err := plugin.Report(ctx, map[string]any{"file": file, "of": len(in.Files)}); err != nil {
				return plugin.Result{Content: fmt.Sprint("imported ", i)}, err
			}
			// …
		}
		return plugin.Text("done"), nil
	})
}

// A plugin that follows a model of another one, and passes on what it says.
func ExampleFollow() {
	p := plugin.Define("speaker")
	plugin.Stream(p, "model:SPEECH", func(ctx context.Context, text string, say func([]byte) error) error {
		return plugin.From(ctx).Call(ctx, "model:VOICE", text, nil,
			plugin.Follow(func(sound []byte) error { return say(sound) }),
			plugin.Idle(10*time.Second))
	})
}

// A model that is fed with a stream, sound as it is spoken, and answers at its end.
func ExampleFeed() {
	p := plugin.Define("listener")
	plugin.Model(p, "TRANSCRIPTION", func(ctx context.Context, _ any) (heard int, err error) {
		for sound, err := range plugin.Feed[[]byte](ctx) {
			if err != nil {
				return heard, err
			}
			heard += len(sound)
		}
		return heard, nil
	})
}

// An environment driver that runs commands. What a command writes is logged while it runs,
// and stands in the result; the command ends with its context.
func ExampleEnvironment() {
	p := plugin.Define("shed")
	plugin.Environment(p, "shed", plugin.EnvironmentHooks{
		AcquireLease: func(context.Context, plugin.EnvironmentAcquire) (plugin.EnvironmentLease, error) {
			dir, err := os.MkdirTemp("", "shed-")
			return plugin.EnvironmentLease{ProviderLeaseID: plugin.LeaseID(dir)}, err
		},
		Execute: func(ctx context.Context, e plugin.EnvironmentExecution, log *plugin.ExecutionLog) (plugin.EnvironmentExecuted, error) {
			cmd := exec.CommandContext(ctx, e.Command, e.Args...)
			cmd.Dir, cmd.Stdin = string(e.Lease.ProviderLeaseID), strings.NewReader(e.Stdin)
			cmd.Stdout, cmd.Stderr = log.Stdout, log.Stderr
			err := cmd.Run()
			if cmd.ProcessState == nil || ctx.Err() != nil {
				return plugin.EnvironmentExecuted{}, errors.Join(err, ctx.Err())
			}
			code := cmd.ProcessState.ExitCode()
			return plugin.EnvironmentExecuted{ExitCode: &code}, nil
		},
	})
}

// A channel that gives all back that it gets, in capitals.
func ExampleRoute() {
	p := plugin.Define("shed")
	plugin.Environment(p, "shed", plugin.EnvironmentHooks{
		Channel: func(_ context.Context, c plugin.ChannelRequest, r *plugin.Route) (plugin.Exit, error) {
			if c.Command[0] != "shout" {
				return plugin.Exit{}, fmt.Errorf("command: expected shout, got %q", c.Command[0])
			}
			if err := r.Accept(); err != nil {
				return plugin.Exit{}, err
			}
			for lines := bufio.NewScanner(r); lines.Scan(); {
				if _, err := fmt.Fprintln(r, strings.ToUpper(lines.Text())); err != nil {
					return plugin.Exit{}, err
				}
			}
			return plugin.Exited(0), nil
		},
	})
}

// A job that tells a company how far it is, whoever listens.
func ExampleSession_OpenStream() {
	p := plugin.Define("importer")
	plugin.Action(p, "import", func(ctx context.Context, in plugin.Invocation[struct{ Files []string }]) (int, error) {
		progress, err := plugin.From(ctx).OpenStream(ctx, "progress")
		if err != nil {
			return 0, err
		}
		for _, file := range in.Params.Files {
			if err := progress.Emit(ctx, map[string]string{"file": file}); err != nil {
				return 0, err
			}
			// …
		}
		return len(in.Params.Files), progress.Close(ctx)
	})
}

// A plugin for conversations, which elizaOS's hosts call as well.
func ExampleService() {
	type calendar struct{ holidays map[string]string }
	p := plugin.Define("holidays")
	plugin.Service(p, "calendar", plugin.ServiceHooks[*calendar]{
		Start: func(context.Context, *plugin.Session) (*calendar, error) { // at the first call
			return &calendar{map[string]string{"05-01": "May Day"}}, nil
		},
	}, plugin.Method("on", func(_ context.Context, c *calendar, day string) (string, error) {
		return c.holidays[day], nil
	}))
	plugin.Action(p, "CELEBRATE", func(ctx context.Context, in plugin.Invocation[struct{ Day string }]) (plugin.ActionResult, error) {
		if err := plugin.Report(ctx, map[string]string{"text": "hurray"}); err != nil {
			return plugin.ActionResult{}, err
		}
		return plugin.ActionResult{Success: true, Text: "It is " + in.Params.Day}, nil
	}, plugin.Similes("PARTY"), plugin.Validate(func(_ context.Context, in plugin.Turn) (bool, error) {
		return strings.Contains(string(in.Message), "holiday"), nil
	}))

	s := p.Open(&home{})
	for key, input := range map[string]string{
		"service:calendar.on":       `["05-01"]`,
		"action:CELEBRATE":          `{"params":{"day":"Sunday"}}`,
		"action:CELEBRATE.validate": `{"message":{"content":{"text":"a holiday!"}}}`,
	} {
		result, err := s.Invoke(context.Background(), &protocol.Call{Key: key, Input: json.RawMessage(input)})
		fmt.Println(key, string(result), err)
	}
	// Unordered output:
	// service:calendar.on "May Day" <nil>
	// action:CELEBRATE {"success":true,"text":"It is Sunday"} <nil>
	// action:CELEBRATE.validate true <nil>
}

// Main does so by itself, when it is an elizaOS host that starts the process.
func ExampleServeEliza() {
	p := plugin.Define("upper")
	plugin.Model(p, "UPPER", func(_ context.Context, in string) (string, error) { return strings.ToUpper(in), nil })
	err := plugin.ServeEliza(context.Background(), p, plugin.ElizaOptions{
		Denied: func(d eliza.Denial) { fmt.Fprintln(os.Stderr, d.Surface, d.Target, d.Permission, d.Reason) },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
