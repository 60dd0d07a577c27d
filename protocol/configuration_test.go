package protocol

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValidation_isBounded(t *testing.T) {
	long := strings.Repeat("ä", MaxReason)
	v := Validation{Note: long}
	for range MaxReasons + 5 {
		v.Missing, v.Warnings = append(v.Missing, long), append(v.Warnings, "w")
		v.Invalid = append(v.Invalid, ConfigProblem{Path: long, Reason: long})
	}
	v = v.Bounded()
	require.Len(t, v.Missing, MaxReasons)
	require.Len(t, v.Warnings, MaxReasons)
	require.Len(t, v.Invalid, MaxReasons)
	for _, text := range []string{v.Note, v.Missing[0], v.Invalid[0].Path, v.Invalid[0].Reason} {
		require.LessOrEqual(t, len(text), MaxReason+len("…"))
	}
	require.Equal(t, Validation{Asked: true}, Validation{Asked: true}.Bounded())
}
