package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// heard is any line of a stream.
type heard struct {
	Event, To, Text, Key string
	Missed               int
}

// collect makes a function that puts lines into a channel.
func collect(t *testing.T) (chan heard, func([]byte) error) {
	t.Helper()
	c := make(chan heard, 1000)
	return c, func(line []byte) error {
		var h heard
		err := json.Unmarshal(line, &h)
		c <- h
		return err
	}
}

// following runs a follower until the test ends; its end is told by the channel.
func following(t *testing.T, follow func(context.Context, func([]byte) error) error) (<-chan heard, <-chan error) {
	t.Helper()
	c, line := collect(t)
	ended := make(chan error, 1)
	go func() { ended <- follow(t.Context(), line) }()
	return c, ended
}

func next(t *testing.T, c <-chan heard) heard {
	t.Helper()
	select {
	case h := <-c:
		return h
	case <-time.After(patience):
		require.FailNow(t, "no line came")
		return heard{}
	}
}

func TestEvents_thatWereAreKept(t *testing.T) {
	r := start(t, Options{Limits: Limits{History: 12}})
	last := func(kinds string, n int) (all []heard) {
		require.NoError(t, r.Events(t.Context(), kinds, n, false, func(line []byte) error {
			var h heard
			err := json.Unmarshal(line, &h)
			all = append(all, h)
			return err
		}))
		return all
	}
	wantEventually(t, func() bool {
		all := last("phase", 1)
		return len(all) == 1 && all[0].To == "ready"
	}, "the last event is kept")
	require.Len(t, last("", 0), 12, "no more is kept than there may be")
	require.Len(t, last("", 5), 5)
	for _, h := range last("capability", 0) {
		require.Equal(t, "capability", h.Event)
	}
	err := r.Events(t.Context(), "phase,wire", 0, false, nil)
	require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err))
	require.ErrorContains(t, err, "expected some of phase, waiting, capability, dropped, restart")
}

func TestEvents_areFollowedUntilTheHostEnds(t *testing.T) {
	r := start(t, Options{})
	wantEventually(t, func() bool {
		seen := 0
		require.NoError(t, r.Events(t.Context(), "phase", 0, false, func([]byte) error { seen++; return nil }))
		return seen == 8
	}, "all phases are kept")
	events, ended := following(t, func(ctx context.Context, line func([]byte) error) error {
		return r.Events(ctx, "phase", 1, true, line)
	})
	require.Equal(t, "ready", next(t, events).To, "what was comes first")
	_, err := r.Command(t.Context(), Stop, "talker")
	require.NoError(t, err)
	require.Equal(t, "stopped", next(t, events).To)
	require.NoError(t, r.host.Shutdown(t.Context()))
	require.NoError(t, <-ended)
}

func TestLogs_areFollowedWithoutAGapOrADouble(t *testing.T) {
	r := start(t, Options{})
	talk := func(n int) {
		_, err := r.Call(t.Context(), CallRequest{Key: "model:TALKS", Input: json.RawMessage(fmt.Sprint(n))})
		require.NoError(t, err)
	}
	talk(3)
	var tail []string
	require.NoError(t, r.Logs(t.Context(), "talker", 2, time.Time{}, false, func(line []byte) error {
		tail = append(tail, string(line))
		return nil
	}))
	require.Len(t, tail, 2)
	require.Contains(t, tail[1], "i=2")

	lines, _ := following(t, func(ctx context.Context, line func([]byte) error) error {
		return r.Logs(ctx, "", 1, time.Time{}, true, line)
	})
	require.Contains(t, next(t, lines).Text, "i=2")
	go talk(2) // it may be written before or after the follower listens
	require.Contains(t, next(t, lines).Text, "i=0")
	require.Contains(t, next(t, lines).Text, "i=1")

	err := r.Logs(t.Context(), "nobody", 0, time.Time{}, false, nil)
	require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err))
	for path, text := range map[string]string{
		"/logs?lines=many": "?lines=many: expected a number", "/logs?follow=perhaps": "expected true or false", "/logs?tail=3": "?tail: there is no such parameter here; there are: lines, follow",
	} {
		status, body := r.get(t, pathAPI+path)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, body, text)
	}
}

// stuck is a follower of all logs that reads nothing.
func stuck(t testing.TB, address string) net.Conn {
	t.Helper()
	c := dialFollower(t, address, "/logs")
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestFollower_thatIsStuckCostsNobodyAnything(t *testing.T) {
	r := start(t, Options{Limits: Limits{FollowLines: 100, FollowBytes: 10_000}})
	c := stuck(t, r.address)
	wantEventually(t, func() bool { n, _, _ := r.server.followers.depth(); return n == 1 }, "it follows")
	talk := func() {
		_, err := r.host.Invoke(t.Context(), protocol.Call{Key: "model:TALKS", Input: []byte("20000"), Deadline: time.Now().Add(patience)})
		require.NoError(t, err)
	}
	missed := func() bool { _, _, m := r.server.followers.depth(); return m > 0 }
	for !missed() { // what the connection itself takes is not ours to say
		talk()
	}
	_, waiting, _ := r.server.followers.depth()
	require.LessOrEqual(t, waiting, 100)

	// It reads on, and is told what it has missed.
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	defer func() { _ = c.Close() }() // a body would be read to its end first
	scanner := bufio.NewScanner(answer.Body)
	for scanner.Scan() {
		if strings.HasPrefix(scanner.Text(), `{"event":"gap","missed":`) {
			return
		}
	}
	require.FailNow(t, "no gap was told", "%v", scanner.Err())
}

func TestFollowers_areBounded(t *testing.T) {
	r := start(t, Options{Limits: Limits{Followers: 1}})
	stuck(t, r.address)
	wantEventually(t, func() bool { n, _, _ := r.server.followers.depth(); return n == 1 }, "it follows")
	for _, path := range []string{"/events", "/logs"} {
		status, body := r.get(t, pathAPI+path+"?follow=true")
		require.Equal(t, http.StatusTooManyRequests, status)
		require.Contains(t, body, "there are 1 followers, the limit")
	}
}
