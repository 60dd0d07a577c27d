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
			Result              struct {
				RequestedPermissions, ChangedPermissions []string
				Isolation                                string
			}
		}
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
		for name, given := range bun {
			require.Equal(t, given, p.Has("bun:"+name), "%s %s", c.Input, name)
		}
	}
	for _, c := range v.Merge {
		got := ReadElizaPermissions(permissionsIn(c.Defaults)).Merge(permissionsIn(c.Overrides))
		require.JSONEq(t, string(c.Result), string(got.JSON()), "%s over %s", c.Overrides, c.Defaults)
	}
	for _, c := range v.Tags {
		require.Equal(t, c.Parsed != nil, IsElizaTag(c.Tag), c.Tag)
	}
	for _, c := range v.Has {
		require.Equal(t, c.Result, ReadElizaPermissions(c.Grant).Has(c.Scope+":"+c.Permission), "%s", c.Grant)
	}
	for _, c := range v.Diff {
		asked := ReadElizaPermissions(permissionsIn(c.Requested))
		require.Equal(t, c.Result.RequestedPermissions, asked.Tags())
		require.ElementsMatch(t, c.Result.ChangedPermissions, asked.Beyond(ReadElizaPermissions(permissionsIn(c.Previous))))
		require.Equal(t, c.Result.Isolation, asked.Isolation)
	}
}
