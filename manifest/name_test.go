package manifest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckName_isThatOfTheStrictestEcosystem(t *testing.T) {
	for _, name := range []string{"a", "7", "greeter", "my.plugin_2-x", strings.Repeat("a", 128)} {
		require.NoError(t, CheckName(name))
	}
	const want = `NAME: expected an id of a-z, 0-9, ".", "_" and "-", a letter or a digit first, found `
	for name, found := range map[string]string{"": `""`, "Greeter": `"Greeter"`, "-a": `"-a"`, "a b": `"a b"`, "../a": `"../a"`, "ä": `"ä"`} {
		require.EqualError(t, CheckName(name), want+found)
	}
	require.EqualError(t, CheckName(strings.Repeat("a", 129)), "NAME: expected at most 128 characters, found 129: shorten it")
}
