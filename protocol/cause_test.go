package protocol

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChain_saysWhoCalledWhat(t *testing.T) {
	outer := Call{Key: "tool:a", Scope: "acme", Root: 7}
	cause := outer.AsCause()
	require.Equal(t, Cause{Key: "tool:a", Scope: "acme", Depth: 1, Root: 7}, cause)
	inner := Call{Key: "tool:b", Caller: "one", Ecosystem: "airi", Cause: &cause}
	require.Equal(t, 2, inner.Depth())
	require.Equal(t, []Link{{Key: "tool:a"}, {"one", "airi", "tool:b"}}, inner.Chain())
	require.Equal(t, "tool:a → one (airi) tool:b", ChainText(inner.Chain()))
	lost := Call{Key: "tool:b", Caller: "one", Cause: &Cause{Guessed: true, Depth: 3}}
	require.Equal(t, 4, lost.Depth())
	require.Equal(t, "… → one tool:b", ChainText(lost.Chain()))
	require.Nil(t, (*Cause)(nil).Chain())
}

func TestChain_isCut(t *testing.T) {
	var chain []Link
	for i := range 20 {
		chain = append(chain, Link{Key: fmt.Sprint(i)})
	}
	require.Equal(t, "0 → 1 → 2 → 3 → … → 16 → 17 → 18 → 19", ChainText(chain))
	require.Equal(t, chain[:MaxLinks], CutChain(chain[:MaxLinks]))
}
