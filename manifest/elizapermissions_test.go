package manifest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// permissionsIn reads an input of a vector, in which undefined is a word.
func permissionsIn(raw json.RawMessage) json.RawMessage {
	if string(raw) == `"<undefined>"` {
		return nil
	}
	return raw
}

// askedFor is what whoever decides is told of the permissions of a plugin.
type askedFor struct {
	RequestedPermissions, ChangedPermissions []string
	HostPermissions, BunPermissions          []string
	Isolation                                string
}

// told is that of permissions, given what was granted before; lists are as JSON has them.
func told(p, before ElizaPermissions) askedFor {
	list := func(words []string) []string { return append([]string{}, words...) }
	return askedFor{
		RequestedPermissions: list(p.Tags()), ChangedPermissions: list(p.Beyond(before)),
		HostPermissions: list(granted("", p.Host, elizaHostPermissions)), BunPermissions: list(granted("", p.Bun, elizaBunPermissions)),
		Isolation: p.Isolation,
	}
}

func TestElizaPermissions_areReadAsTheReferenceDoes(t *testing.T) {
	type result struct{ Value json.RawMessage }
	var v struct {
		Vectors []struct {
			Input                         json.RawMessage
			Normalize, Flatten, BunWorker result
		}
		Merge []struct{ Defaults, Overrides, Result json.RawMessage }
		Tags  []struct {
			Tag    string
			Parsed *string
		}
		Has []struct {
			Scope, Permission string
			Grant             json.RawMessage
			Result            bool
		}
		Diff []struct {
			Requested, Previous json.RawMessage
			Result              askedFor
		}
		Consent askedFor
	}
	elizaVectors(t, "permissions", &v)
	require.NotEmpty(t, v.Vectors)
	for _, c := range v.Vectors {
		p := ReadElizaPermissions(permissionsIn(c.Input))
		require.JSONEq(t, string(c.Normalize.Value), string(p.JSON()), "%s", c.Input)
		var tags []string
		require.NoError(t, json.Unmarshal(c.Flatten.Value, &tags))
		require.Equal(t, tags, p.Tags(), "%s", c.Input)
		var bun map[string]bool
		require.NoError(t, json.Unmarshal(c.BunWorker.Value, &bun))
		got := map[string]bool{}
		for _, name := range elizaBunPermissions {
			got[name] = p.Has("bun:" + name)
		}
		require.Equal(t, bun, got, "%s", c.Input)
	}
	for _, c := range v.Merge {
		got := ReadElizaPermissions(permissionsIn(c.Defaults)).Merge(permissionsIn(c.Overrides))
		require.JSONEq(t, string(c.Result), string(got.JSON()), "%s over %s", c.Overrides, c.Defaults)
	}
	for _, c := range v.Tags {
		var parsed *string // which is the tag itself, or nothing
		if IsElizaTag(c.Tag) {
			parsed = &c.Tag
		}
		require.Equal(t, c.Parsed, parsed, c.Tag)
	}
	for _, c := range v.Has {
		require.Equal(t, c.Result, ReadElizaPermissions(c.Grant).Has(c.Scope+":"+c.Permission), "%s", c.Grant)
	}
	for _, c := range v.Diff {
		asked, before := ReadElizaPermissions(permissionsIn(c.Requested)), ReadElizaPermissions(permissionsIn(c.Previous))
		require.Equal(t, c.Result, told(asked, before), "%s after %s", c.Requested, c.Previous)
	}
	// The vector has no input: these are the permissions of the manifest that it names.
	dash := ReadElizaPermissions(json.RawMessage(`{"host":{"windows":true},"bun":{"read":true}}`))
	require.Equal(t, v.Consent, told(dash, ReadElizaPermissions(nil)))
}
