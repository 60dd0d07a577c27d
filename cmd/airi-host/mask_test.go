package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMask_hidesWhatMayBeSecret(t *testing.T) {
	for _, c := range []struct{ frame, want string }{
		{`{"token":"x"}`, `{"token":"[masked]"}`},
		{`{"accessToken": 5}`, `{"accessToken":"[masked]"}`},
		{`{"PASSWORD":null,"user":"ada"}`, `{"PASSWORD":"[masked]","user":"ada"}`},
		{`{"headers":{"Authorization":"Bearer x","x-api-key":"x","Set-Cookie":["x","x"]}}`, `{"headers":{"Authorization":"[masked]","x-api-key":"[masked]","Set-Cookie":"[masked]"}}`},
		{`[[{"client_secret":{"deep":["x"]}}]]`, `[[{"client_secret":"[masked]"}]]`},
		{`{"credentials":[{"a":"x"}],"b":1}`, `{"credentials":"[masked]","b":1}`},
		{`{"tok\u0065n":"x"}`, `{"tok\u0065n":"[masked]"}`},
		{`{"token":"x","token":"x"}`, `{"token":"[masked]","token":"[masked]"}`},
		{`{"config":{"url":"x"},"id":1}`, `{"config":"[masked]","id":1}`},
		{`{"configId":"c","revision":2,"full":{"url":"x"}}`, `{"configId":"c","revision":2,"full":"[masked]"}`},
		{`{"patch":{"url":"x"},"dispatch":"y","fullName":"z"}`, `{"patch":"[masked]","dispatch":"y","fullName":"z"}`},
	} {
		require.Equal(t, c.want, mask([]byte(c.frame)))
	}
}

func TestMask_keepsTheRestAsItWasWritten(t *testing.T) {
	for frame, want := range map[string]string{
		` { "a" : [ 1.50 , -0, 1e999 , 12345678901234567890 ] } `: `{"a":[1.50,-0,1e999,12345678901234567890]}`,
		`{"html":"<b>&\u00e9é\u2028","none":null,"yes":true}`:     `{"html":"<b>&\u00e9é\u2028","none":null,"yes":true}`,
		`{"text":"the token is in the text","":{},"b":[]}`:        `{"text":"the token is in the text","":{},"b":[]}`,
		`"alone"`: `"alone"`,
		`{}`:      `{}`,
	} {
		require.Equal(t, want, mask([]byte(frame)))
	}
}

func TestMask_showsNothingThatItCannotLookThrough(t *testing.T) {
	for _, frame := range []string{``, `token=x`, `{"token":"x"`, `{"token":x}`, `{"a":1,}`, `[1 2]`} {
		require.Equal(t, unmaskable, mask([]byte(frame)), frame)
	}
}

func FuzzMask(f *testing.F) {
	for _, seed := range []string{
		`{"token":"x"}`, `1E700`, `[{"a":{"Password":[1,2]}}]`, `{"full":{},"patch":[]}`, `{"a":`, `1 2`, "\xff", `{"\u0074oken":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		got := mask(frame)
		if !json.Valid(frame) {
			return
		}
		var v any
		dec := json.NewDecoder(strings.NewReader(got))
		dec.UseNumber() // no number is too large
		require.NoError(t, dec.Decode(&v), "%s became %s", frame, got)
		wantMasked(t, v)
	})
}

// wantMasked looks for a secret at every depth.
func wantMasked(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			wantMasked(t, item)
		}
	case map[string]any:
		for name, item := range v {
			if isSecret(name) {
				require.Equal(t, "[masked]", item, name)
				continue
			}
			wantMasked(t, item)
		}
	}
}
