package manifest_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/airi-host/airi-host/manifest"
)

func ExampleDiscover() {
	dir, err := os.MkdirTemp("", "plugins")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, text := range map[string]string{
		"clock": `{"apiVersion": "v1", "kind": "manifest.plugin.airi.moeru.ai", "name": "clock",
			"entrypoints": {"go": "builtin:clock"}}`,
		"hello": `{"apiVersion": "v1", "kind": "manifest.plugin.airi.moeru.ai", "name": "hello",
			"entrypoints": {"node": "./hello.mjs"}, "airi-host": {"timeout": {"init": "5s"}}}`,
	} {
		_ = os.Mkdir(filepath.Join(dir, name), 0o755)
		_ = os.WriteFile(filepath.Join(dir, name, "plugin.json"), []byte(text), 0o644)
	}

	found := manifest.Discover([]string{dir}, manifest.Options{})
	for _, m := range found.Manifests {
		entry, err := m.Entrypoint(manifest.Node)
		fmt.Println(m.PluginName(), entry.Builtin, err)
	}
	for _, problem := range found.Problems {
		problem.File, _ = filepath.Rel(dir, problem.File)
		fmt.Println(problem)
	}
	// Output:
	// clock clock <nil>
	// hello/plugin.json: airi-host.timeout: unknown field: did you mean "timeouts"?
	// hello/plugin.json: entrypoints.node: "./hello.mjs" does not exist: build the plugin or correct the path
}
