package logs

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBaseName_isSafeAndReadable(t *testing.T) {
	for plugin, want := range map[string]string{
		"greeter":      "greeter",
		"notes.v2_a-b": "notes.v2_a-b",
		"@acme/Quiet":  "%40acme%2F%51uiet",
		"..":           "%2E.",
		".hidden":      "%2Ehidden",
		"a%2Fb":        "a%252%46b",
		"zwölf\x00\n":  "zw%C3%B6lf%00%0A",
		"CON":          "%43%4F%4E",
		"":             "",
		"a.log.1":      "a.log.1",
	} {
		require.Equal(t, want, baseName(plugin))
	}
	long := strings.Repeat("/", 300)
	require.LessOrEqual(t, len(baseName(long)+ending+".100"), 255)
	require.NotEqual(t, baseName(long), baseName(long+"x"))
}

// No two plugins have one file, and no file is a rotated one of another plugin.
func FuzzBaseName(f *testing.F) {
	f.Add("a", "A")
	f.Add("a.log.1", "a")
	f.Add("%2F", "/")
	f.Fuzz(func(t *testing.T, a, b string) {
		one, other := baseName(a), baseName(b)
		require.Equal(t, a == b, strings.EqualFold(one, other))
		require.NotContains(t, one, "/")
		if a != "" {
			require.Equal(t, []string{one + ending, one, ""}, aFile.FindStringSubmatch(one+ending))
		}
	})
}

func TestRecord_isBounded(t *testing.T) {
	var back Record
	long := Record{Plugin: "a", Message: strings.Repeat("ä", maxMessage), Fields: json.RawMessage(`"` + strings.Repeat("x", maxFields) + `"`)}
	require.NoError(t, json.Unmarshal(long.encode(), &back))
	require.Less(t, len(back.Message), maxMessage+40)
	require.Contains(t, back.Message, "bytes cut)")
	require.JSONEq(t, `{"dropped_bytes":65538}`, string(back.Fields))
	require.NoError(t, json.Unmarshal(Record{Plugin: "a", Fields: json.RawMessage(`{`)}.encode(), &back))
	require.JSONEq(t, `{"dropped_bytes":1}`, string(back.Fields))
	require.NoError(t, json.Unmarshal(Record{Plugin: "a", Time: time.Unix(math.MaxInt32*1000, 0)}.encode(), &back))
	require.Zero(t, back.Time)
}
