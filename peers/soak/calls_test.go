package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestText_isOfItsSizeAndSurvivesJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 100, 5 << 10, 1 << 20} {
		made := newText(rng, size)
		require.InDelta(t, size, len(made.Text), float64(4<<10))
		line, err := json.Marshal(made)
		require.NoError(t, err)
		var back text
		require.NoError(t, json.Unmarshal(line, &back))
		require.Equal(t, made, back)
	}
}

// The same seed gives the same calls.
func TestText_isDecidedByTheSeed(t *testing.T) {
	one, other := rand.New(rand.NewPCG(3, 4)), rand.New(rand.NewPCG(3, 4))
	for range 100 {
		require.Equal(t, newText(one, size(one)), newText(other, size(other)))
	}
}

func TestClassOf(t *testing.T) {
	for want, err := range map[string]error{
		"ok":      nil,
		"peer":    fmt.Errorf("x: %w", &protocol.PeerError{Message: "no"}),
		"timeout": &protocol.Error{Code: protocol.CodeTimeout},
		"":        errors.New("of no kind"),
	} {
		require.Equal(t, want, classOf(err))
	}
}

func TestCalls_allComeBackFromALoneWorker(t *testing.T) {
	k := startSoak(t, fewest)
	rng := rand.New(rand.NewPCG(1, 1))
	echo := k.flock[0]
	for range 20 {
		_, err := k.echo(t.Context(), "calls", echo, newText(rng, size(rng)), patience, false)
		require.NoError(t, err)
	}
	k.fan(echo, rng)
	k.giveUp(echo, rng)
	require.NoError(t, k.book.verdict())
	require.Equal(t, "ok 20", k.book.listed("calls"))
	require.Equal(t, "ok 1", k.book.listed("fans"))
}

// What would be a fault of the host is one for the run.
func TestCalls_wrongOnesAreFaults(t *testing.T) {
	k := startSoak(t, fewest)
	echo, rogue := k.flock[0], k.flock[2]

	var result struct{ N string }
	_, err := k.invoke(t.Context(), "calls", protocol.Call{Key: "data:echo", Plugin: echo.name, Input: json.RawMessage(`{"n":1}`)}, patience, &result)
	require.NoError(t, err)
	k.wantFault(t, `its answer is no *struct`)

	class, err := k.invoke(t.Context(), "calls", protocol.Call{Key: "data:throw", Plugin: rogue.name, Input: json.RawMessage(`{}`)}, patience, nil)
	require.Equal(t, "peer", class)
	k.want("a throw", rogue, class, err)
	k.wantFault(t, "a throw of plugin rogue-2: peer is not expected: thrown on demand")

	k.wantOf(rogue, "an echo", "outcome-unknown", errors.New("gone"))
	require.NoError(t, k.book.verdict())
	k.wantOf(echo, "an echo", "outcome-unknown", errors.New("gone"))
	k.wantFault(t, "an echo of plugin echo-0, which is left alone: gone")

	info, err := k.host.Inspect(echo.name)
	require.NoError(t, err)
	_, err = k.host.Stop(t.Context(), info.ID)
	require.NoError(t, err)
	k.callNeighbor(t.Context(), echo, rand.New(rand.NewPCG(1, 1)))
	k.wantFault(t, "plugin echo-0, which is left alone, does not answer")
}

func TestIsGlued(t *testing.T) {
	sent := text{1, "abcxdef"}
	for back, want := range map[text]bool{
		{1, "abcx" + strings.Repeat("x", 100) + "def"}: true,
		{1, "xabcxdef"}:  true,
		{1, "abcxdefx"}:  true,
		{1, "abcxdef"}:   false,
		{2, "abcxxdef"}:  false,
		{1, "abcxydef"}:  false,
		{1, "abcdef"}:    false,
		{1, "xxxxxxxxx"}: false,
		{1, ""}:          false,
	} {
		require.Equal(t, want, isGlued(sent, back), "%v", back)
	}
}
