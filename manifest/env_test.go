package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExpand_replacesVariables(t *testing.T) {
	lookup := lookupIn(map[string]string{"A": "1", "EMPTY": "", "NESTED": "${A}"})
	for written, want := range map[string]string{
		"":            "",
		"plain $A $":  "plain $A $",
		"${A}":        "1",
		"x${A}y${A}z": "x1y1z",
		"[${EMPTY}]":  "[]",
		"${NESTED}":   "${A}",
		"$${A}":       "${A}",
		"$${":         "${",
		"$$${A}":      "$${A}",
		"$${${A}}":    "${1}",
	} {
		got, errs := expand(written, lookup)
		require.Empty(t, errs, written)
		require.Equal(t, want, got, written)
	}
}

func TestExpand_saysWhatCannotBeReplaced(t *testing.T) {
	unset := func(name string) string {
		return fmt.Sprintf("%q is not set in the host's environment: set it, or write $${ for ${ itself", name)
	}
	for written, want := range map[string][]string{
		"${B}${A}${C}": {unset("B"), unset("C")},
		"${":           {`expected ${NAME}, found "${": write $${ for ${ itself`},
		"${A":          {`expected ${NAME}, found "${A": write $${ for ${ itself`},
		"${}":          {`expected ${NAME}, found "${}": write $${ for ${ itself`},
		"${A-x}":       {`expected ${NAME}, found "${A-x}": write $${ for ${ itself`},
		"${B}${1}":     {unset("B"), `expected ${NAME}, found "${1}": write $${ for ${ itself`},
	} {
		_, errs := expand(written, lookupIn(map[string]string{"A": "1"}))
		var got []string
		for _, err := range errs {
			got = append(got, err.Error())
		}
		require.Equal(t, want, got, written)
	}
}

func TestExpand_boundsTheValue(t *testing.T) {
	lookup := lookupIn(map[string]string{"A": strings.Repeat("x", maxVariable/2)})
	got, errs := expand("${A}${A}", lookup)
	require.Empty(t, errs)
	require.Len(t, got, maxVariable)

	for _, long := range []string{"${A}${A}${A}", "${A}${A}x", strings.Repeat("x", maxVariable+1)} {
		_, errs = expand(long, lookup)
		require.Len(t, errs, 1)
		require.EqualError(t, errs[0], "expected at most 131072 bytes: put it into a file and give the file's path")
	}
}
