package main

import (
	"context"
	"fmt"
	"log"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/protocol/airi/bridge"
	"github.com/airi-host/airi-host/testdata/plugins/greeter"
)

func main() {
	ctx, node := context.Background(), &bridge.Node{}
	defer func() { _ = node.Close() }()
	host, err := actors.New(actors.Options{
		Dialects: []protocol.Dialect{airi.Dialect{}},
		Programs: map[string]protocol.Program{"greeter": greeter.Plugin()},
		Launch:   actors.CommandLauncher(node.Command),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = host.Shutdown(ctx) }()
	found := manifest.Discover([]string{"testdata/plugins/greeter", "testdata/plugins/echo", "testdata/plugins/guest"}, manifest.Options{})
	for _, o := range host.StartAll(ctx, found.Manifests, nil, nil) {
		fmt.Println(o.Info.Plugin, o.Info.Phase, o.Err)
	}
	result, err := host.Invoke(ctx, protocol.Call{Key: "tool:greet", Input: []byte(`{"name":"Ada"}`)})
	fmt.Println(string(result), err)
}
