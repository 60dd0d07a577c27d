package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMerge_addsEdgesAndRows(t *testing.T) {
	table := Table{"a": {"GO": "b"}, "b": {}}
	ours := Table{"a": {"STOP": "c"}, "c": {"GO": "b"}}
	all, err := merge(table, ours)
	require.NoError(t, err)
	require.Equal(t, Table{"a": {"GO": "b", "STOP": "c"}, "b": {}, "c": {"GO": "b"}}, all)
}

func TestMerge_leavesBothAlone(t *testing.T) {
	table, ours := Table{"a": {"GO": "b"}}, Table{"a": {"STOP": "b"}, "c": {"GO": "a"}}
	all, err := merge(table, ours)
	require.NoError(t, err)
	all["a"]["GO"], all["c"]["GO"] = "x", "x"
	require.Equal(t, Table{"a": {"GO": "b"}}, table)
	require.Equal(t, Table{"a": {"STOP": "b"}, "c": {"GO": "a"}}, ours)
}

func TestMerge_overridesNothing(t *testing.T) {
	_, err := merge(Table{"a": {"GO": "b"}}, Table{"a": {"GO": "c"}})
	require.EqualError(t, err, "GO on a leads to b, and to c in ours")
}

func TestNewMachine_panicsOverAMistake(t *testing.T) {
	sound := func() definition {
		return definition{
			name:      "demo",
			states:    []State{"a", "b"},
			events:    []Event{"GO"},
			terminals: []State{"b"},
			table:     Table{"a": {"GO": "b"}, "b": {}},
		}
	}
	require.NotPanics(t, func() { newMachine(sound()) })

	tests := []struct {
		name  string
		spoil func(d *definition)
		want  string
	}{
		{
			"no states", func(d *definition) { d.states = nil },
			"0 states listed, want 1 to 26",
		},
		{
			"more states than letters", func(d *definition) { d.states = make([]State, 27) },
			"27 states listed, want 1 to 26",
		},
		{
			"state not listed", func(d *definition) { d.states = []State{"a"} },
			`states listed ["a"], in the table ["a" "b"]`,
		},
		{
			"state listed twice", func(d *definition) { d.states = []State{"a", "b", "b"} },
			`states listed ["a" "b" "b"], in the table ["a" "b"]`,
		},
		{
			"event not listed", func(d *definition) { d.events = nil },
			`events listed [], in the table ["GO"]`,
		},
		{
			"event not used", func(d *definition) { d.events = []Event{"GO", "STOP"} },
			`events listed ["GO" "STOP"], in the table ["GO"]`,
		},
		{
			"edge to nowhere", func(d *definition) { d.table["a"]["GO"] = "c" },
			`GO on a leads to "c", which has no row`,
		},
		{
			"exit from a terminal", func(d *definition) { d.table["b"]["GO"] = "a" },
			"state b has 1 exits, and terminal is true",
		},
		{
			"dead end", func(d *definition) { d.terminals = nil },
			"state b has 0 exits, and terminal is false",
		},
		{
			"ours over the reference's", func(d *definition) { d.ours = Table{"a": {"GO": "a"}} },
			"GO on a leads to b, and to a in ours",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := sound()
			tt.spoil(&d)
			require.PanicsWithValue(t, "lifecycle: table demo: "+tt.want, func() { newMachine(d) })
		})
	}
}
