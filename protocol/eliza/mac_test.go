package eliza

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// vectors reads one file of recorded results of the reference.
func vectors(tb testing.TB, name string, into any) {
	tb.Helper()
	data, err := os.ReadFile("testdata/vectors/" + name + ".json")
	require.NoError(tb, err)
	require.NoError(tb, json.Unmarshal(data, into))
}

// outcome is what the reference did.
type outcome struct {
	OK    bool
	Value json.RawMessage
	Error struct{ Name, Message string }
}

type macVectors struct {
	Vectors []struct {
		Name, KeyHex, Wire, Canonical, CanonicalHex, MacHex string
		WantError                                           *struct{ Name, Message string }
	}
	MacText []struct {
		Text string
		outcome
	}
	KeyIDs []struct {
		PluginID string
		outcome
	}
}

func rpcOf(tb testing.TB, wire string) RPC {
	tb.Helper()
	m, ok := decode(tb, []byte(wire)).(RPC)
	if !ok { // the envelope may hold a member twice only within its args
		tb.Fatalf("no call: %s", wire)
	}
	return m
}

func TestCanonical_isAsTheReferenceHasIt(t *testing.T) {
	var v macVectors
	vectors(t, "hmac", &v)
	require.NotEmpty(t, v.Vectors)
	for _, c := range v.Vectors {
		r := rpcOf(t, c.Wire)
		key, err := hex.DecodeString(c.KeyHex)
		require.NoError(t, err)
		got, err := Canonical([]byte("> "), r)
		if c.WantError != nil {
			require.EqualError(t, err, strings.TrimSuffix(c.WantError.Message, "."), c.Name)
			require.Equal(t, "> ", string(got), c.Name)
			_, err = Sign(key, r)
			require.Error(t, err, c.Name)
			continue
		}
		require.NoError(t, err, c.Name)
		require.Equal(t, "> "+c.Canonical, string(got), c.Name)
		require.Equal(t, c.CanonicalHex, hex.EncodeToString(got[2:]), c.Name)
		mac, err := Sign(key, r)
		require.NoError(t, err, c.Name)
		require.Equal(t, `"`+c.MacHex+`"`, string(mac), c.Name)
		r.MAC = mac
		require.True(t, Verify(key, r), c.Name)
		require.False(t, Verify(append(key, 1), r), c.Name)
	}
}

func TestVerify_readsSignaturesAsTheReference(t *testing.T) {
	var v macVectors
	vectors(t, "hmac", &v)
	for _, c := range v.MacText {
		got, ok := macBytes(quote(c.Text))
		require.Equal(t, c.OK, ok, c.Text)
		if ok {
			require.Equal(t, string(c.Value), `"`+hex.EncodeToString(got)+`"`)
		}
	}
	for _, raw := range []string{``, `null`, `5`, `["ab"]`, `{}`, `true`} {
		_, ok := macBytes(json.RawMessage(raw))
		require.False(t, ok, raw)
	}
}

func TestRPCKeyID(t *testing.T) {
	var v macVectors
	vectors(t, "hmac", &v)
	require.NotEmpty(t, v.KeyIDs)
	for _, c := range v.KeyIDs {
		id, err := RPCKeyID(c.PluginID)
		if !c.OK {
			require.EqualError(t, err, c.Error.Message, c.PluginID)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, string(c.Value), `"`+id+`"`, c.PluginID)
		_, err = ParseKeyID(id)
		require.NoError(t, err)
	}
}

func TestParseKeyID(t *testing.T) {
	var v struct {
		Vectors []struct {
			KeyID string
			OK    bool
			Value struct {
				Scope, OrgID, UserID, Purpose string
				Version                       int
			}
			Error struct{ Message string }
		}
	}
	vectors(t, "key-ids", &v)
	require.NotEmpty(t, v.Vectors)
	for _, c := range v.Vectors {
		id, err := ParseKeyID(c.KeyID)
		if !c.OK {
			require.EqualError(t, err, c.Error.Message, c.KeyID)
			continue
		}
		require.NoError(t, err, c.KeyID)
		require.Equal(t, KeyID{
			Scope: c.Value.Scope, Owner: c.Value.OrgID + c.Value.UserID, Purpose: c.Value.Purpose, Version: c.Value.Version,
		}, id, c.KeyID)
	}
}

func TestVerify_survivesWhatEndsTheReference(t *testing.T) {
	deep := strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000)
	for _, args := range []string{`[1e400]`, `{"a":-1e999}`, deep, `{"a":` + deep + `}`, `{`, `[1,`, `"`, ``} {
		for _, r := range []RPC{
			{RequestID: raw(`1`), Surface: raw(`"a"`), Target: raw(`"b"`), Args: raw(args), MAC: raw(`"ab"`)},
			{RequestID: raw(args), Surface: raw(args), Target: raw(args), MAC: raw(`"ab"`)},
		} {
			require.False(t, Verify([]byte("key"), r))
		}
	}
}

func TestReplays_takeEveryNumberOnce(t *testing.T) {
	w := newReplays(64)
	for _, c := range []struct {
		id string
		ok bool
	}{
		{`1`, true},
		{`1`, false},
		{`"1"`, false},
		{`1.0`, false},
		{`3`, true},
		{`2`, true},
		{`2`, false},
		{`0`, false},
		{`-1`, false},
		{`1.5`, false},
		{`"x"`, false},
		{`null`, false},
		{``, false},
		{`[4]`, true},
		{`4`, false},
		{`70`, true},
		{`6`, false},
		{`7`, true},
		{`7`, false},
		{`1000`, true},
		{`70`, false},
		{`937`, true},
		{`936`, false},
		{`9007199254740992`, false},
		{`9007199254740991`, true},
		{`1001`, false},
	} {
		require.Equal(t, c.ok, w.take(raw(c.id)), c.id)
	}
}

// FuzzCanonical finds that no input is worse than refused, and that canonical text is
// canonical.
func FuzzCanonical(f *testing.F) {
	var v macVectors
	vectors(f, "hmac", &v)
	for _, c := range v.Vectors {
		r := rpcOf(f, c.Wire)
		f.Add([]byte(r.RequestID), []byte(r.Args))
	}
	f.Fuzz(func(t *testing.T, id, args []byte) {
		r := RPC{RequestID: id, Surface: raw(`"s"`), Target: raw(`"t"`), Args: args}
		text, err := Canonical(nil, r)
		if err != nil {
			return
		}
		_, rest, _ := strings.Cut(string(text), "\ns\nt\n")
		if strings.Contains(string(text[:len(text)-len(rest)-5]), "\ns\nt\n") {
			return // the id holds the same lines
		}
		again, err := Canonical(nil, RPC{Args: []byte(rest)})
		require.NoError(t, err)
		require.Equal(t, "undefined\nundefined\nundefined\n"+rest, string(again))
		require.True(t, json.Valid([]byte(rest)))
	})
}
