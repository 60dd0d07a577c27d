package manifest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
)

// judge reads manifests from standard input and says whether the ecosystem's schema
// takes each of them, which words it knows, and which members it has.
const judge = `
import { readFileSync } from 'node:fs'
import * as shared from '@paperclipai/shared'
const schema = shared.pluginManifestV1Schema
const verdicts = JSON.parse(readFileSync(0)).map(text => {
  const result = schema.safeParse(JSON.parse(text))
  return { good: result.success, why: result.success ? '' : result.error.issues.map(i => i.path.join('.') + ': ' + i.message).join('; ') }
})
console.log(JSON.stringify({
  verdicts, members: Object.keys((schema.innerType?.() ?? schema).shape),
  grants: shared.PLUGIN_CAPABILITIES, slots: shared.PLUGIN_UI_SLOT_TYPES, zones: shared.PLUGIN_LAUNCHER_PLACEMENT_ZONES,
}))
`

// verdicts is what the judge says.
type verdicts struct {
	Verdicts []struct {
		Good bool
		Why  string
	}
	Members, Grants, Slots, Zones []string
}

// ask installs the ecosystem's package and has it judge.
func ask(t *testing.T, version string, texts []string) verdicts {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		need.Program(t, tool, tool+" is not installed")
	}
	dir := tree(t, map[string]string{"package.json": `{"type": "module"}`, "judge.js": judge})
	install := exec.CommandContext(t.Context(), "npm", "install", "--silent", "--no-audit", "--no-fund", "@paperclipai/shared@"+version, "zod@4.6.7")
	install.Dir = dir
	said, err := install.CombinedOutput()
	need.That(t, err == nil, "npm cannot install @paperclipai/shared: "+string(said))
	input, err := json.Marshal(texts)
	require.NoError(t, err)
	file := filepath.Join(dir, "texts.json")
	require.NoError(t, os.WriteFile(file, input, 0o644))
	in, err := os.Open(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, in.Close()) }()
	cmd := exec.CommandContext(t.Context(), "node", "judge.js")
	cmd.Dir, cmd.Stdin, cmd.Stderr = dir, in, os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	var judged verdicts
	require.NoError(t, json.Unmarshal(out, &judged))
	return judged
}

func TestPaperclip_judgesAsTheEcosystemDoes(t *testing.T) {
	var rows []row
	var texts []string
	for _, c := range slices.Concat(paperclipRows, paperclipDriverRows, paperclipCheckRows, paperclipProductRows, paperclipUIRows) {
		rows, texts = append(rows, c), append(texts, c.text(t))
	}
	require.Greater(t, len(rows), 60)
	said := ask(t, "2026.916.1", texts)
	for i, v := range said.Verdicts {
		require.Equal(t, rows[i].own || len(rows[i].want) == 0, v.Good, "%s: %s", rows[i].set, v.Why)
	}
	require.ElementsMatch(t, append(said.Members, "airi-host"), paperclipShape.names())
	require.ElementsMatch(t, said.Grants, paperclipGrants)
	require.ElementsMatch(t, said.Slots, paperclipSlots)
	require.ElementsMatch(t, said.Zones, paperclipZones)
}
