package services

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func reading(members string) *params {
	return read(protocol.Call{Key: "m", Caller: "p1", Input: json.RawMessage(members)})
}

func TestParams_keysAreExactAndTheLastOneCounts(t *testing.T) {
	in := reading(`{"A":"no","a":"first","a":"last","\u0062":"escaped"}`)
	require.Equal(t, "last", in.text("a"))
	require.Equal(t, "escaped", in.text("b"))
	require.NoError(t, in.err)
}

func TestParams_nullIsAbsent(t *testing.T) {
	in := reading(`{"a":null}`)
	require.Empty(t, in.optional("a"))
	require.Empty(t, in.object("a").members)
	require.Nil(t, in.raw("a"))
	require.NoError(t, in.err)
}

func TestParams_theFirstThingThatIsWrongIsTold(t *testing.T) {
	in := reading(`{"n":1,"blank":"\t","in":{"deep":[]}}`)
	in.object("in").text("deep")
	in.text("n")
	require.EqualError(t, in.err, "plugin p1: m: in.deep: expected a string that is not blank, got an array")
}

func TestParams_whatIsWrongIsDescribedAndNotQuoted(t *testing.T) {
	for _, row := range []struct{ field, want string }{
		{"absent", "got nothing"},
		{"null", "got null"},
		{"number", "got a number"},
		{"blank", "got a blank one"},
		{"object", "got an object"},
		{"bool", "got a boolean"},
	} {
		in := reading(`{"null":null,"number":-1,"blank":" ","object":{"secret":1},"bool":false}`)
		in.text(row.field)
		require.EqualError(t, in.err, "plugin p1: m: "+row.field+": expected a string that is not blank, "+row.want)
	}
	in := reading(`{"a":"hunter2"}`)
	in.object("a")
	require.EqualError(t, in.err, "plugin p1: m: a: expected an object, got a string")
}

func TestParams_companyIsTrimmedAsTheGateDoes(t *testing.T) {
	for members, want := range map[string]string{
		`{}`:                               "scope",
		`{"companyId":7}`:                  "scope",
		`{"companyId":" \t"}`:              "scope",
		`{"companyId":"\ufeff c2 \u00a0"}`: "c2",
		`{"companyId":"\u0085c2"}`:         "\u0085c2", // JavaScript does not trim this one
	} {
		in := reading(members)
		in.call.Scope = "scope"
		require.Equal(t, want, in.company(), members)
	}
}

func TestParams_thatNestTooDeeplyAreSaidToDoSo(t *testing.T) {
	deep := `{"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`
	newWorker(t, &plugins{}, Options{}).wantRefused(protocol.CodeInvalid, "state.set", deep, "params: they nest too deeply")
}

// Short parameters are read by another way than long ones.
func TestParams_areReadAlikeHoweverLong(t *testing.T) {
	for _, members := range []string{
		``, `"a":"x"`, ` "a" : "\u0041\n" , "b" : { "c" : [ 1 , "}" ] } `, `"a":"1","a":"2","\u0061":"3"`, `"a":"ключ \ud800"`, `"a":null,"b":-1e5,"c":true,"d":[]`,
	} {
		short, long := reading("{"+members+"}"), reading("{"+members+strings.Repeat(" ", shortParams)+"}")
		require.NoError(t, short.err)
		require.Equal(t, long.optional("a"), short.optional("a"), members)
		for name, value := range long.members {
			require.Equal(t, string(value), string(short.members[name]), members)
		}
		require.Len(t, short.members, len(long.members), members)
	}
}
