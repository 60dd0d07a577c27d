package ndjson

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
)

// readAll returns copies of all lines and the error after them.
func readAll(r *Reader) ([]string, error) {
	var lines []string
	for {
		line, err := r.Read()
		if err != nil {
			return lines, err
		}
		lines = append(lines, string(line))
	}
}

func wantLines(t *testing.T, src io.Reader, want ...string) {
	t.Helper()
	lines, err := readAll(NewReader(src, ReaderOptions{}))
	require.Equal(t, io.EOF, err)
	require.Equal(t, want, lines)
}

// endless never ends a line. It counts what was taken from it.
type endless struct{ taken int }

func (e *endless) Read(p []byte) (int, error) {
	e.taken += len(p)
	return len(p), nil
}

func TestReader_endsLinesAtNewlineOnly(t *testing.T) {
	odd := "a\u2028b\u2029c\u0085d\ve\ff é € 𝄞 \x00\xff\xfe"
	wantLines(t, strings.NewReader(odd+"\n"), odd)
	wantLines(t, iotest.OneByteReader(strings.NewReader(odd+"\n")), odd)
}

func TestReader_takesOffOneCarriageReturn(t *testing.T) {
	wantLines(t, strings.NewReader("a\r\nb\r\r\n\r\n\rc\n"), "a", "b\r", "", "\rc")
}

func TestReader_returnsBlankLinesAndByteOrderMark(t *testing.T) {
	wantLines(t, strings.NewReader("\n  \n\ufeffa\n"), "", "  ", "\ufeffa")
}

func TestReader_isEmptyAtEOF(t *testing.T) {
	wantLines(t, strings.NewReader(""))
}

func TestReader_tellsThatTheLastLineHasNoEnd(t *testing.T) {
	r := NewReader(strings.NewReader("a\nb\r"), ReaderOptions{})
	lines, err := readAll(r)
	require.Equal(t, []string{"a", "b\r"}, lines)
	require.Equal(t, io.ErrUnexpectedEOF, err)
	_, err = r.Read()
	require.Equal(t, io.ErrUnexpectedEOF, err)
}

func TestReader_returnsWhatArrivedBeforeAnError(t *testing.T) {
	broken := errors.New("broken")
	lines, err := readAll(NewReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), ReaderOptions{}))
	require.Equal(t, []string{"a", "b"}, lines)
	require.Equal(t, broken, err)
}

func TestReader_givesUpOnASourceThatReturnsNothing(t *testing.T) {
	nothing := readerFunc(func([]byte) (int, error) { return 0, nil })
	_, err := NewReader(nothing, ReaderOptions{}).Read()
	require.Equal(t, io.ErrNoProgress, err)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestReader_limitHoldsAtTheEdge(t *testing.T) {
	const limit = 8
	for name, tc := range map[string]struct {
		in    string
		lines []string
		err   error
	}{
		"at the limit":                 {"12345678\n", []string{"12345678"}, io.EOF},
		"at the limit, CRLF":           {"12345678\r\n", []string{"12345678"}, io.EOF},
		"at the limit, no end":         {"12345678", []string{"12345678"}, io.ErrUnexpectedEOF},
		"above":                        {"123456789\n", nil, &transport.TooLongError{Limit: limit}},
		"above, CRLF":                  {"123456789\r\n", nil, &transport.TooLongError{Limit: limit}},
		"above, no end":                {"123456789", nil, &transport.TooLongError{Limit: limit}},
		"above by a carriage return":   {"12345678\r", nil, &transport.TooLongError{Limit: limit}},
		"carriage return in the line":  {"12345678\r9\n", nil, &transport.TooLongError{Limit: limit}},
		"only the sinner":              {"1\n12345678\n123456789\n1\n", []string{"1", "12345678"}, &transport.TooLongError{Limit: limit}},
		"two carriage returns, at end": {"1234567\r\r\n", []string{"1234567\r"}, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			for _, src := range []io.Reader{strings.NewReader(tc.in), iotest.OneByteReader(strings.NewReader(tc.in))} {
				lines, err := readAll(NewReader(src, ReaderOptions{MaxRecord: limit}))
				require.Equal(t, tc.lines, lines)
				require.Equal(t, tc.err, err)
			}
		})
	}
}

func TestReader_passesLargeLinesInOneStream(t *testing.T) {
	const limit = 3<<20 + 7
	var stream bytes.Buffer
	sizes := []int{smallBuffer - 1, smallBuffer, smallBuffer + 1, limit, 40, limit}
	for i, n := range sizes {
		stream.Write(bytes.Repeat([]byte{'a' + byte(i)}, n))
		stream.WriteByte('\n')
	}
	r := NewReader(&stream, ReaderOptions{MaxRecord: limit})
	for i, n := range sizes {
		line, err := r.Read()
		require.NoError(t, err)
		require.Len(t, line, n)
		require.Equal(t, n, bytes.Count(line, []byte{'a' + byte(i)}))
	}
}

func TestReader_refusesWhileTheLineStillArrives(t *testing.T) {
	const limit = 5<<20 + 11
	src := &endless{}
	r := NewReader(src, ReaderOptions{MaxRecord: limit})
	_, err := r.Read()
	var long *transport.TooLongError
	require.ErrorAs(t, err, &long)
	require.Equal(t, limit, long.Limit)
	require.LessOrEqual(t, src.taken, limit+2, "the buffer never holds more than the limit and a line end")
	require.Nil(t, r.buf, "nothing of the line is kept")
	_, again := r.Read()
	require.Equal(t, err, again)
	require.LessOrEqual(t, src.taken, limit+2, "it is not read on")
}

func TestReader_growsOnlyAsTheLineDoes(t *testing.T) {
	r := NewReader(iotest.HalfReader(strings.NewReader(strings.Repeat("x", 100)+"\n")), ReaderOptions{})
	_, err := r.Read()
	require.NoError(t, err)
	require.Len(t, r.buf, smallBuffer)
}

func TestReader_letsALargeBufferGo(t *testing.T) {
	src, feed := io.Pipe()
	r := NewReader(src, ReaderOptions{})
	go func() {
		_, _ = feed.Write(append(bytes.Repeat([]byte{'x'}, 2*keptBuffer), '\n'))
		_, _ = feed.Write([]byte("small\n"))
		_ = feed.Close()
	}()
	_, err := r.Read()
	require.NoError(t, err)
	require.Greater(t, len(r.buf), keptBuffer)
	_, err = r.Read()
	require.NoError(t, err)
	require.Len(t, r.buf, smallBuffer)
	_, err = r.Read()
	require.Equal(t, io.EOF, err)
}

func TestReader_defaultsToTheLimitOfTransport(t *testing.T) {
	for _, n := range []int{0, -1} {
		require.Equal(t, transport.DefaultMaxRecord, NewReader(nil, ReaderOptions{MaxRecord: n}).max)
	}
}

// chunked returns the stream in the pieces that a fuzzer chose.
type chunked struct {
	data, cuts []byte
	at         int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := len(c.data)
	if len(c.cuts) > 0 {
		n = min(n, 1+int(c.cuts[c.at%len(c.cuts)]))
		c.at++
	}
	n = copy(p, c.data[:n])
	c.data = c.data[n:]
	return n, nil
}

// plainSplit says in the simplest way what a Reader must return.
func plainSplit(data []byte, limit int) (lines []string, err error) {
	parts := strings.Split(string(data), "\n")
	last := len(parts) - 1
	for _, part := range parts[:last] {
		part = strings.TrimSuffix(part, "\r")
		if len(part) > limit {
			return lines, &transport.TooLongError{Limit: limit}
		}
		lines = append(lines, part)
	}
	switch rest := parts[last]; {
	case rest == "":
		return lines, io.EOF
	case len(rest) > limit:
		return lines, &transport.TooLongError{Limit: limit}
	default:
		return append(lines, rest), io.ErrUnexpectedEOF
	}
}

func FuzzReader_anyChunkingGivesTheLinesOfAPlainSplit(f *testing.F) {
	f.Add([]byte("a\nbb\r\n\n\r\nc"), []byte{0}, uint8(4))
	f.Add([]byte("12345678\r\n123456789\n"), []byte{3, 0, 7}, uint8(8))
	f.Add([]byte("\u2028\u2029\u0085\v\f\n\ufeff\xff\xfe\n"), []byte{1}, uint8(200))
	f.Add(bytes.Repeat([]byte("0123456789\r"), 40), []byte{255, 2}, uint8(255))
	f.Add([]byte("12345\r"), []byte{}, uint8(5))
	f.Fuzz(func(t *testing.T, data, cuts []byte, limit uint8) {
		if limit == 0 {
			limit = 1
		}
		want, wantErr := plainSplit(data, int(limit))
		got, err := readAll(NewReader(&chunked{data: data, cuts: cuts}, ReaderOptions{MaxRecord: int(limit)}))
		require.Equal(t, wantErr, err)
		require.True(t, slices.Equal(want, got), "want %q, got %q", want, got)
	})
}

func BenchmarkReader(b *testing.B) {
	for name, size := range map[string]int{"212B": 212, "64KiB": 64 << 10} {
		line := append(bytes.Repeat([]byte{'x'}, size), '\n')
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			r := NewReader(&repeat{piece: line}, ReaderOptions{})
			for b.Loop() {
				if _, err := r.Read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// repeat returns the same piece for ever.
type repeat struct {
	piece []byte
	at    int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], r.piece[r.at:])
		n += c
		r.at = (r.at + c) % len(r.piece)
	}
	return n, nil
}
