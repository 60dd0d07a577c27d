package websocket

import (
	"bytes"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
)

func TestRecv_readsFragmentsAndAnswersPingsAmidThem(t *testing.T) {
	h := startHost(t, ServerOptions{})
	socket := h.raw(t)
	c := <-h.accepted
	for _, f := range [][]byte{
		text("Hel", false), frame(ws.OpPing, "are you there", true), frame(ws.OpContinuation, "", false),
		frame(ws.OpPong, "unasked", true), frame(ws.OpContinuation, "lo \xe2\x82", false), frame(ws.OpContinuation, "\xac", true),
		text("", true), frame(ws.OpBinary, "\xff\x00", true), frame(ws.OpBinary, `{"binary":1}`, true),
	} {
		_, err := socket.Write(f)
		require.NoError(t, err)
	}
	for _, want := range []string{"Hello €", "", "\xff\x00", `{"binary":1}`} {
		record, err := c.Recv()
		require.NoError(t, err)
		require.Equal(t, want, string(record))
	}
	pong, err := readFrame(socket)
	require.NoError(t, err)
	require.Equal(t, ws.OpPong, pong.Header.OpCode)
	require.Equal(t, "are you there", string(pong.Payload))
}

func TestRecv_keepsControlTextsToItself(t *testing.T) {
	for _, pass := range []bool{false, true} {
		h := startHost(t, ServerOptions{Options: Options{PassControl: pass}})
		socket := h.raw(t)
		c := <-h.accepted
		before := c.Heard()
		for _, said := range []string{"ping", "pong", `"ping"`, " ping", "Ping", "over"} {
			_, err := socket.Write(text(said, true))
			require.NoError(t, err)
		}
		want := []string{`"ping"`, " ping", "Ping", "over"}
		if pass {
			want = slices.Concat([]string{"ping", "pong"}, want)
		}
		for _, said := range want {
			record, err := c.Recv()
			require.NoError(t, err)
			require.Equal(t, said, string(record))
		}
		require.True(t, c.Heard().After(before))
	}
}

func TestRecv_closesWhoBreaksTheRules(t *testing.T) {
	masked := func(first byte, payload string) []byte {
		f := frame(ws.OpText, payload, true)
		f[0] = first
		return f
	}
	const early = 1 << 10
	for _, c := range []struct {
		name string
		sent []byte
		code int
		is   error
	}{
		{"a frame without a mask", ws.MustCompileFrame(ws.NewTextFrame([]byte("x"))), 1002, ErrInvalid},
		{"HTTP again", []byte("GET /ws HTTP/1.1\r\nHost: x\r\n\r\n"), 1002, ErrInvalid},
		{"a reserved opcode", masked(0x83, "x"), 1002, ErrInvalid},
		{"a reserved bit", masked(0xc1, "x"), 1002, ErrInvalid},
		{"a control frame in parts", masked(0x09, "x"), 1002, ErrInvalid},
		{"a control frame that is too long", masked(0x89, strings.Repeat("x", 126)), 1002, ErrInvalid},
		{"a continuation of nothing", frame(ws.OpContinuation, "x", true), 1002, ErrInvalid},
		{"a message within a message", slices.Concat(text("x", false), text("y", true)), 1002, ErrInvalid},
		{"a length with the highest bit", []byte{0x81, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}, 1002, ErrInvalid},
		{"a text that is not UTF-8", text("\xff", true), 1007, ErrInvalid},
		{"a text that is cut in a rune", text("\xe2\x82", true), 1007, ErrInvalid},
		{"a close frame of one byte", frame(ws.OpClose, "x", true), 1002, ErrInvalid},
		{"a close code that nobody may send", frame(ws.OpClose, "\x03\xed", true), 1002, ErrInvalid},
		{"a close reason that is not UTF-8", frame(ws.OpClose, "\x03\xe8\xff", true), 1002, ErrInvalid},
		{"too long", text(strings.Repeat("x", early+1), true), 1009, nil},
		{"too long by what it promises", []byte{0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4}, 1009, nil},
		{"too long in parts", slices.Concat(text(strings.Repeat("x", early), false), frame(ws.OpContinuation, "y", true)), 1009, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := startHost(t, ServerOptions{Token: "secret", Options: Options{MaxEarlyRecord: early}})
			socket := h.raw(t)
			conn := <-h.accepted
			_, err := socket.Write(c.sent)
			require.NoError(t, err)
			_, err = conn.Recv()
			var long *transport.TooLongError
			if c.is == nil {
				require.ErrorAs(t, err, &long)
				require.Equal(t, early, long.Limit)
			} else {
				require.ErrorIs(t, err, c.is)
			}
			require.NotEmpty(t, wantClose(t, socket, c.code))
			require.Equal(t, err, conn.Send([]byte("x")))
			n := h.Counts()
			require.EqualValues(t, 1, n.Invalid+n.TooLong)
		})
	}
}

func TestRecv_takesMoreOfWhoIsAuthenticated(t *testing.T) {
	h := startHost(t, ServerOptions{Token: "secret", Options: Options{MaxRecord: 4096, MaxEarlyRecord: 100}})
	c, peer := h.pair(t, DialOptions{})
	require.False(t, c.IsAuthenticated())
	require.Equal(t, 1, h.Counts().Early)
	c.Authenticated()
	c.Authenticated()
	require.Equal(t, 0, h.Counts().Early)
	long := bytes.Repeat([]byte{'x'}, 4096)
	require.NoError(t, peer.Send(long))
	record, err := c.Recv()
	require.NoError(t, err)
	require.Equal(t, long, record)
}

func TestRecv_tellsHowThePeerLeft(t *testing.T) {
	for _, c := range []struct {
		name string
		sent []byte
		want string
	}{
		{"in good order", frame(ws.OpClose, "\x03\xe8bye", true), "EOF"},
		{"going away", frame(ws.OpClose, "\x03\xe9", true), "EOF"},
		{"without a code", frame(ws.OpClose, "", true), "EOF"},
		{"amid a message", slices.Concat(text("x", false), frame(ws.OpClose, "\x03\xe8", true)), "EOF"},
		{"with another code", frame(ws.OpClose, "\x0f\xa0why not", true), `the websocket was closed with code 4000 ("why not")`},
		{"to restart", frame(ws.OpClose, "\x03\xf4", true), "the websocket was closed with code 1012"},
		{"without a word", nil, "the connection ended without a close frame: unexpected EOF"},
		{"in a header", []byte{0x81}, "the connection ended without a close frame: unexpected EOF"},
		{"in a frame", text("Hello", true)[:8], "the connection ended without a close frame: unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := startHost(t, ServerOptions{})
			socket := h.raw(t)
			conn := <-h.accepted
			_, err := socket.Write(c.sent)
			require.NoError(t, err)
			if c.sent == nil || c.sent[0]&0xf != 8 && !strings.Contains(c.name, "message") {
				require.NoError(t, socket.Close())
			}
			for range 2 {
				_, err = conn.Recv()
				require.EqualError(t, err, c.want)
			}
			<-conn.Done()
		})
	}
}

func TestReady_knowsWholeRecordsThatAreThere(t *testing.T) {
	long := text(strings.Repeat("x", 300), true)
	for _, c := range []struct {
		name string
		rest []byte
		want bool
	}{
		{"a text", text("Hello", true), true},
		{"a longer one", long, true},
		{"and more", append(text("Hello", true), 0x81), true},
		{"nothing", nil, false},
		{"a byte", long[:1], false},
		{"half a length", long[:3], false},
		{"not all of it", long[:len(long)-1], false},
		{"the first part of one", text("Hello", false), false},
		{"a ping", frame(ws.OpPing, "", true), false},
		{"what may be a control text", text("ping", true), false},
		{"a length of eight bytes", []byte{0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0}, false},
	} {
		s := source{rest: c.rest}
		require.Equal(t, c.want, s.ready(), c.name)
	}
}

// FuzzConn_readsAnyBytes looks that no bytes do more than end a connection.
func FuzzConn_readsAnyBytes(f *testing.F) {
	f.Add(slices.Concat(text("Hel", false), frame(ws.OpPing, "x", true), frame(ws.OpContinuation, "lo", true)))
	f.Add(frame(ws.OpClose, "\x03\xe8bye", true))
	f.Add([]byte{0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4})
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	const limit = 1 << 10
	f.Fuzz(func(t *testing.T, sent []byte) {
		near, far := net.Pipe()
		c := newConn(near, nil, new(Options{MaxRecord: limit, CloseTime: time.Millisecond}.resolved()), false, true)
		c.start()
		go func() {
			_, _ = far.Write(sent)
			_ = far.Close()
		}()
		for {
			record, err := c.Recv()
			if err != nil {
				break
			}
			require.LessOrEqual(t, len(record), limit)
		}
		_ = c.Close()
		<-c.Done()
	})
}
