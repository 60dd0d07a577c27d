package websocket

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The comparison with libraries, and idle peers, are in tools/bench/websockets.

// BenchmarkConn_echo is one record there and back, both ends in this process.
func BenchmarkConn_echo(b *testing.B) {
	for _, size := range []int{200, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			c, peer := startHost(b, ServerOptions{}).pair(b, DialOptions{})
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
			h := startHost(b, ServerOptions{})
			var ends []*Conn
			got := make(chan struct{}, 1<<16)
			for range many {
				c, peer := h.pair(b, DialOptions{})
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
