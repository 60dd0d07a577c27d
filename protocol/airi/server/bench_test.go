package server

import (
	"fmt"
	"strings"
	"testing"
)

// crowded is a server with so many peers of one module each.
func crowded(peers int) *Server {
	s := New(Options{})
	for i := range peers {
		c := Conn(i + 1)
		s.Step(protocolNow, Opened{Conn: c, Peer: fmt.Sprint("peer-", i)})
		s.Step(protocolNow, Receive(c, []byte(byExtension(fmt.Sprint("module-", i), "plugin", fmt.Sprint("instance-", i)))))
	}
	return s
}

func BenchmarkServer_oneToOne(b *testing.B) {
	for _, peers := range []int{2, 100} {
		b.Run(fmt.Sprint(peers, " peers"), func(b *testing.B) {
			s := crowded(peers)
			frame := []byte(`{"json":` + event("x:y", `{"text":"`+strings.Repeat("x", 200)+`"}`, `,"route":{"destinations":["module:module-1"]}`) + `}`)
			b.ReportAllocs()
			for b.Loop() {
				s.Step(protocolNow, Receive(1, frame))
			}
		})
	}
}

func BenchmarkServer_toHundred(b *testing.B) {
	s := crowded(101)
	frame := []byte(event("x:y", `{"text":"`+strings.Repeat("x", 200)+`"}`, ""))
	b.ReportAllocs()
	for b.Loop() {
		s.Step(protocolNow, Receive(1, frame))
	}
}

func BenchmarkServer_join(b *testing.B) {
	s := crowded(20)
	announce := []byte(byModule("module", "plugin", "instance"))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c := Conn(1000 + i)
		s.Step(protocolNow, Opened{Conn: c, Peer: "peer"})
		s.Step(protocolNow, Receive(c, announce))
		s.Step(protocolNow, Ended{Conn: c})
	}
}
