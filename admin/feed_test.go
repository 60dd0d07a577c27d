package admin

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func text(s string) func() []byte { return func() []byte { return []byte(s) } }

func TestFeed_tellsGapsInTheirPlace(t *testing.T) {
	f := newFeed(Limits{FollowLines: 2, FollowBytes: 100})
	wantTaken := func(want string) {
		t.Helper()
		got, _ := f.take()
		require.Equal(t, want, string(got))
	}
	for _, line := range []string{"a", "b", "c", "d"} {
		f.put(text(line))
	}
	wantTaken("a\nb\n{\"event\":\"gap\",\"missed\":2}\n")
	wantTaken("")
	f.lose(3)
	f.put(text("e"))
	wantTaken("{\"event\":\"gap\",\"missed\":3}\ne\n")

	waiting, missed := f.depth()
	require.Zero(t, waiting)
	require.EqualValues(t, 5, missed)
}

func TestFeed_isBoundedInBytes(t *testing.T) {
	f := newFeed(Limits{FollowLines: 100, FollowBytes: 5})
	for range 4 {
		f.put(text("four"))
	}
	got, _ := f.take()
	require.Equal(t, "four\nfour\n{\"event\":\"gap\",\"missed\":2}\n", string(got))
}

func TestFeed_endsBehindWhatWaits(t *testing.T) {
	f := newFeed(Limits{FollowLines: 2, FollowBytes: 5})
	f.put(text("a"))
	f.end()
	f.put(text("b"))
	got, ended := f.take()
	require.Equal(t, "a\n", string(got))
	require.True(t, ended)
}
