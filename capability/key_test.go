package capability

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKey_kindAndName(t *testing.T) {
	tests := []struct {
		key  Key
		kind Kind
		name string
	}{
		{"tool:greet", KindTool, "greet"},
		{"model:TEXT_SMALL", KindModel, "TEXT_SMALL"},
		{"service:clock.now", KindService, "clock.now"},
		{"action:GREET", KindAction, "GREET"},
		{"provider:TIME", KindProvider, "TIME"},
		{"evaluator:FACTS", KindEvaluator, "FACTS"},
		{"data:health", KindData, "health"},
		{"job:sync", KindJob, "sync"},
		{"webhook:github", KindWebhook, "github"},
		{"http:GET /a:b", KindHTTP, "GET /a:b"},
		{"event:plugin.a.b", KindEvent, "plugin.a.b"},
		{"environment:docker.execute", KindEnvironment, "docker.execute"},
		{"proj-airi:plugin-sdk:apis:x", "", "proj-airi:plugin-sdk:apis:x"},
		{"Tool:greet", "", "Tool:greet"},
		{"tool", "", "tool"},
		{":x", "", ":x"},
		{"cap:x", "", "cap:x"},
	}
	for _, tt := range tests {
		t.Run(string(tt.key), func(t *testing.T) {
			require.Equal(t, tt.kind, tt.key.Kind())
			for _, kind := range Kinds() {
				require.Equal(t, kind == tt.kind, tt.key.Is(kind), kind)
			}
			require.Equal(t, tt.name, tt.key.Name())
			require.NoError(t, tt.key.Validate())
		})
	}
}

func TestKinds_areThoseOfKeys(t *testing.T) {
	require.Len(t, Kinds(), 12)
	for _, kind := range Kinds() {
		require.Equal(t, kind, Key(kind+":x").Kind())
	}
}

func TestKey_validate(t *testing.T) {
	tests := []struct {
		name string
		key  Key
		want string // "" is a good key
	}{
		{"empty", "", `a capability's key is empty: expected "<kind>:<name>", e.g. "tool:greet"`},
		{"blank", " \u00a0 ", `capability key " \u00a0 " is blank: expected "<kind>:<name>", e.g. "tool:greet"`},
		{"a key that is looked at in another way", Key("tool:" + strings.Repeat("a", plainKey)), ""},
		{"a line break", "tool:a\nb", `capability key "tool:a\nb" has a control character: use printable text`},
		{"a zero byte", "a\x00", `capability key "a\x00" has a control character: use printable text`},
		{"a C1 control", "a\u0085", `capability key "a\u0085" has a control character: use printable text`},
		{"broken text", "a\xff", `capability key "a\xff" is not valid UTF-8`},
		{"no name", "tool:", `capability key "tool:" has no name: expected one after "tool:"`},
		{"a blank name", "job:  ", `capability key "job:  " has no name: expected one after "job:"`},
		{
			"too long", Key(strings.Repeat("k", MaxKey+1)),
			`capability key "` + strings.Repeat("k", 40) + `"… is 513 bytes long: at most 512 are allowed`,
		},
		{"as long as may be", Key(strings.Repeat("k", MaxKey)), ""},
		{"any alphabet", "tool:приветствие 挨拶", ""},
		{"spaces within", "http:GET /hello", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.key.Validate(); tt.want != "" {
				require.EqualError(t, err, tt.want)
			} else {
				require.NoError(t, err)
			}
		})
	}
}

func FuzzKey(f *testing.F) {
	for _, seed := range []string{"", "tool:greet", "http:GET /a:b", "proj-airi:x", "tool:", "\xff", "job:\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k := Key(text)
		if kind := k.Kind(); kind != "" {
			require.Equal(t, text, string(kind)+":"+k.Name())
		} else {
			require.Equal(t, text, k.Name())
		}
		if k.Validate() == nil {
			require.NotEmpty(t, strings.TrimSpace(k.Name()))
			require.LessOrEqual(t, len(text), MaxKey)
		}
	})
}
