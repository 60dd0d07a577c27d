package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whoever follows goes when what they were let in by holds no longer, and may come again.
func TestServer_expelsFollowers(t *testing.T) {
	r := start(t, Options{})
	guarded, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r.server.Serve(guarded, current(Guard{Loopback: true, Token: "t"}))
	control, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r.server.Serve(control, Guard{})
	follow := func(l net.Listener, path string) *http.Response {
		t.Helper()
		ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+pathAPI+path+"?follow=true", nil)
		require.NoError(t, err)
		ask.Header.Set("Authorization", "Bearer t")
		answer, err := http.DefaultClient.Do(ask)
		require.NoError(t, err)
		t.Cleanup(func() { _ = answer.Body.Close() })
		require.Equal(t, http.StatusOK, answer.StatusCode)
		return answer
	}
	following := func(n int) {
		t.Helper()
		wantEventually(t, func() bool { now, _, _ := r.server.followers.depth(); return now == n }, "so many follow")
	}
	follow(control, "/events")
	for range 2 {
		old := []*http.Response{follow(guarded, "/events"), follow(guarded, "/logs")}
		following(3)
		r.server.Expel()
		for _, one := range old {
			late := time.AfterFunc(patience, func() { _ = one.Body.Close() })
			_, err := io.Copy(io.Discard, one.Body)
			require.NoError(t, err, "its end is told")
			late.Stop()
		}
		following(1)
	}
}

func TestServer_expelsWhoeverIsAttached(t *testing.T) {
	s, conn := attachTo(t, start(t, Options{}), newFlood(), Guard{Open: true})
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
	from := bufio.NewReader(conn)
	answer, err := http.ReadResponse(from, nil)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	s.Expel()
	buffer := make([]byte, MaxAttachFrame)
	for kind := byte(0); kind != frameError; {
		var data []byte
		kind, data, err = readFrame(from, buffer)
		require.NoError(t, err)
		if kind == frameError {
			var f Failure
			require.NoError(t, json.Unmarshal(data, &f))
			require.ErrorContains(t, f.Err(), "its context has ended")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_ = conn.Close()
	require.NoError(t, s.Shutdown(ctx))
}
