package manifest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPaperclipWords_agree(t *testing.T) {
	for place, grant := range paperclipPlaces {
		require.Contains(t, paperclipGrants, grant)
		require.True(t, slices.Contains(paperclipSlots, place) || slices.Contains(paperclipZones, place), place)
	}
	for _, place := range slices.Concat(paperclipSlots, paperclipZones) {
		require.Contains(t, paperclipPlaces, place)
	}
	for _, n := range paperclipNeeds {
		require.NotNil(t, paperclipShape.field(n.member), n.member)
		require.Subset(t, paperclipGrants, n.grants)
	}
	for _, k := range paperclipKeys {
		require.NotNil(t, paperclipShape.field(k.list), k.list)
	}
	require.Subset(t, slices.Concat(paperclipSlots, paperclipZones), aboutEntities)
}
