package websocket

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The comparison with libraries, and idle peers, are in tools/bench/websockets.

func benchHost(b *testing.B) *host {
	b.Helper()
	h := newHost(ServerOptions{})
	web := httptest.NewServer(h.Server)
	h.url = "ws" + strings.TrimPrefix(web.URL, "http")
	b.Cleanup(func() {
		require.NoError(b, h.Shutdown(context.Background()))
		web.Close()
		for _, c := range h.dialled {
			<-c.Done()
		}
	})
	return h
}

func (h *host) benchPair(b *testing.B) (host, peer *Conn) {
	b.Helper()
	peer, err := Dial(b.Context(), h.url, DialOptions{})
	require.NoError(b, err)
	h.dialled = append(h.dialled, peer)
	b.Cleanup(func() { _ = peer.Close() })
	return <-h.accepted, peer
}

// BenchmarkConn_echo is one record there and back, both ends in this process.
func BenchmarkConn_echo(b *testing.B) {
	for _, size := range []int{200, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			c, peer := benchHost(b).benchPair(b)
			go func() {
				for {
					record, err := c.Recv()
					if err != nil || c.Send(record) != nil {
						return
					}
				}
			}()
			record := []byte(strings.Repeat("x", size))
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, peer.Send(record))
				_, err := peer.Recv()
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkConn_toMany is one record of 200 bytes to a hundred, one at a time and with 64
// gathered; cpu-ms/1000 is that of both ends.
func BenchmarkConn_toMany(b *testing.B) {
	for _, gathered := range []int{1, 64} {
		b.Run(fmt.Sprint(gathered), func(b *testing.B) {
			const many = 100
			h := benchHost(b)
			var ends []*Conn
			got := make(chan struct{}, 1<<16)
			for range many {
				c, peer := h.benchPair(b)
				ends = append(ends, c)
				go func() {
					for {
						if _, err := peer.Recv(); err != nil {
							return
						}
						got <- struct{}{}
					}
				}()
			}
			record := []byte(strings.Repeat("x", 200))
			began, n := cpu(), 0
			for b.Loop() {
				for range gathered {
					for _, c := range ends {
						require.NoError(b, c.Gather(record))
					}
				}
				for _, c := range ends {
					c.Push()
				}
				for range many * gathered {
					<-got
				}
				n += many * gathered
			}
			b.ReportMetric((cpu()-began).Seconds()*1e6/float64(n), "cpu-ms/1000")
		})
	}
}

func cpu() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
