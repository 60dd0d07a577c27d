package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest"
)

// settingField is a field of the settings' schema.
type settingField struct {
	// path has * for any name.
	path []string
	// about is its description, kind what it takes.
	about, kind string
}

// settingNode is a part of the schema.
type settingNode struct {
	Ref         string                 `json:"$ref"`
	Description string                 `json:"description"`
	Type        string                 `json:"type"`
	Enum        []string               `json:"enum"`
	Minimum     *float64               `json:"minimum"`
	Maximum     *float64               `json:"maximum"`
	Properties  settingNodes           `json:"properties"`
	Additional  json.RawMessage        `json:"additionalProperties"`
	Defs        map[string]settingNode `json:"$defs"`
}

// settingNodes are the properties of an object in their order.
type settingNodes []struct {
	name string
	settingNode
}

func (n *settingNodes) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var one settingNode
		if err := dec.Decode(&one); err != nil {
			return err
		}
		*n = append(*n, struct {
			name string
			settingNode
		}{name.(string), one})
	}
	return nil
}

// settingFields are all fields that a file may have, and what its objects are
// about.
func settingFields(t *testing.T) (fields []settingField, objects map[string]string) {
	t.Helper()
	var root settingNode
	require.NoError(t, json.Unmarshal(manifest.SettingsSchema(), &root))
	objects = map[string]string{}
	var walk func(path []string, n settingNode)
	walk = func(path []string, n settingNode) {
		about, kind := n.Description, n.Type
		if n.Ref != "" {
			kind = strings.TrimPrefix(n.Ref, "#/$defs/")
			n = root.Defs[kind]
		}
		if about == "" {
			about = n.Description
		}
		var each settingNode
		_ = json.Unmarshal(n.Additional, &each) // false is none
		switch {
		case each.Ref != "":
			objects[strings.Join(path, ".")] = about
			walk(append(slices.Clip(path), "*"), each)
		case n.Properties != nil:
			objects[strings.Join(path, ".")] = about
			for _, one := range n.Properties {
				walk(append(slices.Clip(path), one.name), one.settingNode)
			}
		default:
			switch {
			case len(n.Enum) > 0:
				kind = strings.Join(n.Enum, ", ")
			case n.Maximum != nil && n.Type != "":
				kind = fmt.Sprintf("a number, %.f to %.f", *n.Minimum, *n.Maximum)
			}
			fields = append(fields, settingField{path, about, kind})
		}
	}
	walk(nil, root)
	slices.SortStableFunc(fields, func(a, b settingField) int { // first those that are in no object
		return cmp.Compare(min(len(a.path), 2), min(len(b.path), 2))
	})
	return fields, objects
}

// Whoever adds a setting says what comes of its change while a host runs.
func TestChanges_areSaidOfEverySetting(t *testing.T) {
	fields, _ := settingFields(t)
	require.Greater(t, len(fields), 90)
	used := map[string]bool{}
	for _, f := range fields {
		path := f.path
		if path[0] == "secrets" {
			path = path[:2] // a secret is one field
		}
		one, ok := changeOf(path)
		require.True(t, ok, "%s: say in changes.go what comes of a change", strings.Join(path, "."))
		require.NotEmpty(t, one.effect)
		require.NotEmpty(t, cameOf[one.effect])
		used[one.fields] = true
	}
	for _, one := range changes {
		require.True(t, used[one.fields], "%s is no setting any more", one.fields)
	}
	_, ok := changeOf([]string{"new"})
	require.False(t, ok)
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"a", "a.b", false},
		{"a.*", "a.b", true},
		{"a.*", "a", false},
		{"a.*", "a.b.c", false},
		{"a.*.c", "a.b.c", true},
		{"a.**", "a.b.c", true},
		{"a.**", "a", false},
		{"a.*.**", "a.b", false},
	} {
		require.Equal(t, c.want, matches(strings.Split(c.pattern, "."), strings.Split(c.path, ".")), c)
	}
}

// The tables of docs/settings.md are drawn from the schema and from changes: `go test ./cmd/airi-host -run SettingsPage -update`.
func TestSettingsPage_isDrawnFromTheSchema(t *testing.T) {
	const page, begin, end = "../../docs/settings.md", "<!-- drawn: settings -->\n", "<!-- end -->\n"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	require.True(t, found, "docs/settings.md has lost its mark %s", begin)
	_, after, found := strings.Cut(rest, end)
	require.True(t, found, "docs/settings.md has lost its mark %s", end)
	want := before + begin + drawnSettings(t) + end + after
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(text), "draw it anew: go test ./cmd/airi-host -run SettingsPage -update")
}

// drawnSettings is a table of all fields for each object at the top.
func drawnSettings(t *testing.T) string {
	t.Helper()
	fields, objects := settingFields(t)
	var b strings.Builder
	head := ""
	for _, f := range fields {
		group := f.path[0]
		if len(f.path) == 1 {
			group = ""
		}
		if group != head || b.Len() == 0 {
			head = group
			title := objects[group]
			if group == "" {
				title = "Those that are in no object."
			}
			b.WriteString("\n## " + heading(group) + "\n\n" + title + "\n\n| field | takes | says | a change |\n| --- | --- | --- | --- |\n")
		}
		b.WriteString("| `" + strings.Join(f.path, ".") + "` | " + kinds(f.kind) + " | " + strings.ReplaceAll(f.about, "|", "\\|") + " | " + appliedHow(f.path) + " |\n")
	}
	return b.String() + "\n"
}

func heading(group string) string {
	if group == "" {
		return "single fields"
	}
	return "`" + group + "`"
}

// kinds say what a field takes.
func kinds(kind string) string {
	if text, ok := map[string]string{
		"count": "a number, 1 to 1,000,000", "bytes": "bytes, up to 1 GiB", "storedBytes": "bytes, up to 1 TiB",
		"timeout": "a time, up to 1h", "age": "a time, 1s to 87600h", "name": "text", "names": "a list of text",
		"boolean": "true or false", "string": "text", "object": "an object", "": "a time, 1s to 8760h",
	}[kind]; ok {
		return text
	}
	return kind
}

func appliedHow(path []string) string {
	if path[0] == "secrets" {
		path = path[:2]
	}
	one, _ := changeOf(path)
	if one.note == "" && one.effect == "applied" {
		return "at once"
	}
	return one.told()
}
