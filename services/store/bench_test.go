package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

func BenchmarkState(b *testing.B) {
	value := json.RawMessage(`"` + strings.Repeat("x", 198) + `"`)
	for _, c := range []struct {
		name string
		o    Options
		at   int // goroutines; 0 for one alone
		get  bool
	}{
		{"get/cached", Options{}, 0, true},
		{"get/cached/128", Options{}, 128, true},
		{"get/from disk", Options{CacheBytes: -1}, 0, true},
		{"get/from disk/128", Options{CacheBytes: -1}, 128, true},
		{"set", Options{}, 0, false},
		{"set/128", Options{}, 128, false},
		{"set/unsynced", Options{Unsynced: true}, 0, false},
		{"set/unsynced/128", Options{Unsynced: true}, 128, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			db := openStore(b, c.o)
			const keys = 1000
			for i := range keys {
				set(b, db, keyOf("p", fmt.Sprint(i)), string(value))
			}
			var next atomic.Int64
			one := func() {
				key := keyOf("p", fmt.Sprint(next.Add(1)%keys))
				var err error
				if c.get {
					_, err = db.State().Get(context.Background(), key)
				} else {
					err = db.State().Set(context.Background(), key, value)
				}
				if err != nil {
					b.Error(err)
				}
			}
			b.ReportAllocs()
			if c.at == 0 {
				for b.Loop() {
					one()
				}
				return
			}
			b.SetParallelism(c.at / 2)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					one()
				}
			})
		})
	}
}
