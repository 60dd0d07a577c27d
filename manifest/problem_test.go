package manifest

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProblem_isOneLine(t *testing.T) {
	for want, p := range map[string]Problem{
		"a/plugin.json: name: is missing": {File: "a/plugin.json", Field: "name", Message: "is missing"},
		"a/plugin.json: does not exist":   {File: "a/plugin.json", Message: "does not exist"},
		"name: is missing":                {Field: "name", Message: "is missing"},
		"a.json:3:7: name: is missing":    {File: "a.json", Field: "name", Message: "is missing", Line: 3, Column: 7},
		`"a\nb.json": is missing`:         {File: "a\nb.json", Message: "is missing"},
	} {
		require.Equal(t, want, p.String())
		require.EqualError(t, p, want)
	}
}

func TestProblems_Err(t *testing.T) {
	require.NoError(t, Problems(nil).Err())

	err := Problems{{File: "a", Message: "b"}, {File: "c", Message: "d"}}.Err()
	require.EqualError(t, err, "a: b\nc: d")
	p, ok := errors.AsType[Problem](err)
	require.True(t, ok)
	require.Equal(t, "a", p.File)
}

func TestQuote_isShortAndValid(t *testing.T) {
	require.Equal(t, `"a\nb"`, quote("a\nb"))
	long := quote(strings.Repeat("é", maxQuoted))
	require.Equal(t, `"`+strings.Repeat("é", maxQuoted/2)+`"…`, long)
	cut := quote("x" + strings.Repeat("é", maxQuoted))
	require.Equal(t, `"x`+strings.Repeat("é", maxQuoted/2-1)+`"…`, cut, "half a character is left out")
}

func TestCause_leavesThePathOut(t *testing.T) {
	require.Equal(t, "does not exist", cause(&fs.PathError{Op: "open", Path: "/secret", Err: fs.ErrNotExist}))
	require.Equal(t, "cannot be read (permission denied)", cause(&fs.PathError{Op: "open", Path: "/secret", Err: fs.ErrPermission}))
}

func TestFieldPath_readsAsCode(t *testing.T) {
	var root fieldPath
	require.Equal(t, fieldPath("airi-host.requires[1].anyOf[0]"), root.member("airi-host").member("requires").item(1).member("anyOf").item(0))
	require.Equal(t, fieldPath(`env["A B"].x`), root.member("env").member("A B").member("x"))
	require.Equal(t, fieldPath(`[""]`), root.member(""))
	require.Equal(t, fieldPath(`a["b.c"]`), root.member("a").member("b.c"))
}

func TestFieldPath_within(t *testing.T) {
	require.True(t, fieldPath("a").within("a"))
	require.True(t, fieldPath("a.b").within("a"))
	require.True(t, fieldPath("a[1]").within("a"))
	require.False(t, fieldPath("ab").within("a"))
	require.False(t, fieldPath("b.a").within("a"))
}
