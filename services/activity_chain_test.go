package services

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// A record tells which calls led to it, where another plugin made the last of them; nobody
// else writes that.
func TestWithChain(t *testing.T) {
	byHost := &protocol.Cause{Key: "tool:a", Depth: 1}
	byPlugin := &protocol.Cause{Caller: "other", Ecosystem: "airi", Key: "tool:b", Depth: 2, Within: byHost}
	const chain = `"airi-host":{"chain":[{"key":"tool:a"},{"caller":"other","ecosystem":"airi","key":"tool:b"}]}`
	for name, c := range map[string]struct {
		metadata string
		cause    *protocol.Cause
		want     string
	}{
		"no call":              {`{"n":1}`, nil, `{"n":1}`},
		"a call of the host's": {`{"n":1}`, byHost, `{"n":1}`},
		"nothing":              {``, byHost, ``},
		"a plugin's call":      {`{"n":1}`, byPlugin, `{"n":1,` + chain + `}`},
		"and nothing else":     {``, byPlugin, `{` + chain + `}`},
		"one that is made up":  {`{"n":1,"airi-host":{"chain":[]}}`, nil, `{"n":1}`},
		"and hidden":           {`{"airi\u002dhost":1}`, byHost, `{}`},
		"and is beside one":    {`{"airi-host":1}`, byPlugin, `{` + chain + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := withChain(json.RawMessage(c.metadata), c.cause)
			if c.want == "" {
				require.Empty(t, got)
				return
			}
			require.JSONEq(t, c.want, string(got))
		})
	}
}
