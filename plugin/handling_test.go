package plugin_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

type wordKey struct{}

func TestFrom_belongsToTheHandler(t *testing.T) {
	h := &home{}
	p := plugin.Define("p")
	plugin.Data(p, "d", func(ctx context.Context, _ any) (string, error) {
		require.Nil(t, plugin.Request(ctx), "no wire")
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		require.Equal(t, "kept", ctx.Value(wordKey{}))
		return plugin.Scope(ctx), plugin.From(ctx).Call(ctx, "m", nil, nil)
	})
	ctx := context.WithValue(t.Context(), wordKey{}, "kept")
	result, err := p.Open(h).Invoke(ctx, &protocol.Call{Key: "data:d", Scope: "acme"})
	require.NoError(t, err)
	require.Equal(t, `"acme"`, string(result))
	require.Equal(t, "acme", h.served[0].Scope, "what a handler calls is for the same tenant")

	require.Nil(t, plugin.From(ctx))
	require.Empty(t, plugin.Scope(ctx))
	require.Nil(t, plugin.Request(ctx))
}
