package admin

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// BenchmarkFollowers is a call that logs a line, while others follow over HTTP: all
// events, which have none of it, or all logs. Those that are stuck have stopped reading.
// x0 is what a call takes as a part of what it takes on a host without followers, which is
// called in turn.
func BenchmarkFollowers(b *testing.B) {
	for _, c := range []struct {
		path      string
		followers int
		stuck     bool
	}{{"/logs", 1, true}, {"/logs", 1, false}, {"/events", 1000, false}, {"/logs", 1000, true}, {"/logs", 1000, false}} {
		b.Run(fmt.Sprintf("path=%s/followers=%d/stuck=%t", c.path, c.followers, c.stuck), func(b *testing.B) {
			limits := Limits{Followers: 1000, Requests: 1001, Connections: 1001}
			alone, followed := startGuarded(b, Options{Limits: limits}, Guard{}), startGuarded(b, Options{Limits: limits}, Guard{})
			var reading sync.WaitGroup
			b.Cleanup(reading.Wait) // when all are closed
			for range c.followers {
				conn := dialFollower(b, followed.address, c.path)
				if !c.stuck {
					reading.Go(func() { _, _ = io.Copy(io.Discard, bufio.NewReader(conn)) }) // until it is closed
				}
				b.Cleanup(func() { _ = conn.Close() })
			}
			wantEventually(b, func() bool { n, _, _ := followed.server.followers.depth(); return n == c.followers }, "they follow")
			var took [2][]time.Duration
			for b.Loop() {
				for i, r := range []*running{alone, followed} {
					took[i] = append(took[i], timeOfCalls(b, r))
				}
			}
			for i := range took {
				slices.Sort(took[i])
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took[0][len(took[0])/2]), "alone-ns/call")
			b.ReportMetric(float64(took[1][len(took[1])/2])/float64(took[0][len(took[0])/2]), "x0")
			_, _, missed := followed.server.followers.depth()
			b.ReportMetric(float64(missed)/float64(c.followers*b.N*callsInARow), "missed/line")
		})
	}
}

const callsInARow = 1000

// timeOfCalls is what one of many calls takes.
func timeOfCalls(b *testing.B, r *running) time.Duration {
	b.Helper()
	began := time.Now()
	for range callsInARow {
		_, err := r.host.Invoke(b.Context(), protocol.Call{Key: "model:TALKS", Input: []byte("1")})
		require.NoError(b, err)
	}
	return time.Since(began) / callsInARow
}

// dialFollower begins to follow, and reads nothing.
func dialFollower(t testing.TB, address, path string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	require.NoError(t, c.(*net.TCPConn).SetReadBuffer(4096))
	_, err = fmt.Fprintf(c, "GET %s%s?follow=true HTTP/1.1\r\nHost: localhost\r\n\r\n", pathAPI, path)
	require.NoError(t, err)
	return c
}
