package airi

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadObject_givesMembersAsTheyStand(t *testing.T) {
	var got []string
	err := readObject([]byte(" {\t\"a\" : {\"x\":[1,\"}\\\"\"]} ,\r\n\"b\":-1.5e3,\"\\u0063\": \"\\\\\" , \"d\":[ ],\"é\":null }"),
		func(key string, value []byte) error {
			got = append(got, key+"="+string(value))
			return nil
		})
	require.NoError(t, err)
	require.Equal(t, []string{`a={"x":[1,"}\""]}`, "b=-1.5e3", `c="\\"`, "d=[ ]", "é=null"}, got)
}

func TestReadObject_refuses(t *testing.T) {
	for name, row := range map[string]struct{ in, want string }{
		"a string":                {`"x"`, "expected an object"},
		"nothing":                 {``, "expected an object"},
		"a key twice":             {`{"a":1,"b":2,"a":3}`, `every key once, got "a" twice`},
		"a key twice, one hidden": {`{"a":1,"\u0061":3}`, `every key once, got "a" twice`},
		"too many keys":           {manyMembers(maxMembers + 1), "at most 64 keys"},
	} {
		t.Run(name, func(t *testing.T) {
			err := readObject([]byte(row.in), func(string, []byte) error { return nil })
			require.ErrorContains(t, err, row.want)
		})
	}
}

func TestReadObject_takesAsManyMembersAsAllowed(t *testing.T) {
	n := 0
	require.NoError(t, readObject([]byte(manyMembers(maxMembers)), func(string, []byte) error {
		n++
		return nil
	}))
	require.Equal(t, maxMembers, n)
}

func manyMembers(n int) string {
	var members []string
	for i := range n {
		members = append(members, strconv.Quote("k"+strconv.Itoa(i))+":1")
	}
	return "{" + strings.Join(members, ",") + "}"
}

func TestAppendString_writesJSON(t *testing.T) {
	for in, want := range map[string]string{
		"module:status": `"module:status"`,
		"":              `""`,
		`say "x" \ y`:   `"say \"x\" \\ y"`,
		"line\nend":     `"line\nend"`,
		"\u2028 and 日本": `"\u2028 and 日本"`,
	} {
		require.Equal(t, want, string(appendString(nil, in)))
	}
}
