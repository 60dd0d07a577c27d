package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/ecosystems"
	"github.com/airi-host/airi-host/examples/go-plugin/words"
	"github.com/airi-host/airi-host/protocol"
)

func main() {
	ctx, dirs := context.Background(), []string{"testdata/plugins/ledger", "examples/airi-module", "examples/go-plugin/compiled-in"}
	host, err := ecosystems.Open(dirs, ecosystems.Options{
		Host: actors.Options{Programs: map[string]protocol.Program{"words": words.Plugin()}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = host.Close(ctx) }()
	for _, problem := range host.Found.Problems {
		fmt.Println(problem)
	}
	for _, o := range host.StartAll(ctx, host.Found.Manifests, nil, nil) {
		fmt.Println(o.Info.Plugin, o.Info.Phase, o.Err)
	}
	show := func(item json.RawMessage) error { fmt.Println(string(item)); return nil }
	result, err := host.Invoke(ctx, protocol.Call{
		Key: "tool:follow", Input: []byte(`{"text":"one\ntwo words"}`), Progress: show,
	})
	fmt.Println(string(result), err)
}
