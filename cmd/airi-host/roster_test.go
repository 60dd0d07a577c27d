package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest"
)

func TestRoster_readsManifestsAnew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plugin.json")
	write := func(name, rest string) {
		t.Helper()
		require.NoError(t, os.WriteFile(file, []byte(`{
			"apiVersion": "v1", "kind": "manifest.plugin.airi.moeru.ai", "name": "`+name+`",
			"entrypoints": {"go": "builtin:greeter"}`+rest+`}`), 0o600))
	}
	write("a", "")
	opts := manifest.Options{Builtins: []string{"greeter"}}
	r := newRoster(manifest.Discover([]string{file}, opts).Manifests, opts)
	require.Equal(t, []string{"a"}, r.list())

	write("a", `, "airi-host": {"scope": "acme"}`)
	m, err := r.reread("a")
	require.NoError(t, err)
	require.Equal(t, "acme", m.Host.Scope)
	require.Same(t, m, r.get("a"))

	write("a", `, "airi-host": {"skope": "acme"}`)
	_, err = r.reread("a")
	require.ErrorContains(t, err, "plugin a was left as it is, its manifest has problems: ")
	require.ErrorContains(t, err, "airi-host.skope")
	write("b", "")
	_, err = r.reread("a")
	require.EqualError(t, err, "plugin a was left as it is: "+file+" is not its manifest any more")
	require.Same(t, m, r.get("a"))

	_, err = r.reread("nobody")
	require.ErrorContains(t, err, "none of those that this host was told to run")
	require.Nil(t, r.get("nobody"))
}

func TestRoster_oneAtATimeHasAPlugin(t *testing.T) {
	r := newRoster(nil, manifest.Options{})
	release, err := r.hold(t.Context(), "a")
	require.NoError(t, err)
	tired, giveUp := context.WithCancelCause(t.Context())
	giveUp(errors.New("enough"))
	_, err = r.hold(tired, "a")
	require.EqualError(t, err, "plugin a is being started: enough")
	require.Len(t, r.turns, 1)

	var others sync.WaitGroup
	held := 0
	for range 10 {
		others.Go(func() {
			release, err := r.hold(t.Context(), "a")
			if err == nil {
				held++
				release()
			}
		})
	}
	release()
	others.Wait()
	require.Equal(t, 10, held)
	require.Empty(t, r.turns, "what nobody wants is not kept")
}
