package plugin_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
)

// echoed is the input and the result of the benchmarks' handler, 200 bytes as JSON.
type echoed struct {
	Text string `json:"text"`
}

// BenchmarkServe is calls of a data handler with 200 bytes each way over two pipes of
// the system, from a host's end that does nothing but count. "bare" is the same with
// a loop in the worker's place that knows this one call alone.
func BenchmarkServe(b *testing.B) {
	for _, inFlight := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("worker/%d", inFlight), func(b *testing.B) { benchServe(b, inFlight, serveEcho) })
		b.Run(fmt.Sprintf("bare/%d", inFlight), func(b *testing.B) { benchServe(b, inFlight, bareEcho) })
	}
}

func serveEcho(in io.ReadCloser, out io.WriteCloser) error {
	p := plugin.Define("bench")
	plugin.Data(p, "echo", func(_ context.Context, in echoed) (echoed, error) { return in, nil })
	return plugin.ServePaperclip(context.Background(), p, plugin.PaperclipOptions{In: in, Out: out})
}

// bareEcho is the least that a worker in Go does.
func bareEcho(in io.ReadCloser, out io.WriteCloser) error {
	defer in.Close()  //nolint:errcheck // a pipe
	defer out.Close() //nolint:errcheck // a pipe
	r, w := bufio.NewReaderSize(in, 64<<10), bufio.NewWriterSize(out, 64<<10)
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return nil
		}
		var request struct {
			ID     json.RawMessage
			Params struct{ Params json.RawMessage }
		}
		var value echoed
		if err := json.Unmarshal(line, &request); err != nil {
			return err
		}
		if err := json.Unmarshal(request.Params.Params, &value); err != nil {
			return err
		}
		result, err := json.Marshal(value)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", request.ID, result)
		if r.Buffered() == 0 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
}

func benchServe(b *testing.B, inFlight int, serve func(io.ReadCloser, io.WriteCloser) error) {
	b.Helper()
	in, toWorker, err := os.Pipe()
	require.NoError(b, err)
	fromWorker, out, err := os.Pipe()
	require.NoError(b, err)
	served := make(chan error, 1)
	go func() { served <- serve(in, out) }()
	benchCalls(b, inFlight, toWorker, fromWorker)
	require.NoError(b, toWorker.Close())
	require.NoError(b, <-served)
	require.NoError(b, fromWorker.Close())
}

// BenchmarkMain is BenchmarkServe with the worker in a process of its own. What that
// allocates is not counted.
func BenchmarkMain(b *testing.B) {
	for _, inFlight := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("worker/%d", inFlight), func(b *testing.B) {
			p := start(b, "")
			benchCalls(b, inFlight, p.in, p.out)
			require.NoError(b, p.in.Close())
			_, err := io.Copy(io.Discard, p.out)
			require.NoError(b, err)
			require.NoError(b, p.Wait())
		})
	}
}

// benchCalls keeps so many calls in flight.
func benchCalls(b *testing.B, inFlight int, toWorker io.Writer, fromWorker io.Reader) {
	b.Helper()
	request := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"getData","params":{"key":"echo","companyId":"c",`+
		`"params":{"text":"%s"}},"paperclipInvocation":{"id":"00000000-0000-4000-8000-000000000000","scope":{"companyId":"c"}}}`+"\n",
		strings.Repeat("x", 189))
	requests := []byte(strings.Repeat(request, inFlight))
	answers := make([]byte, 64<<10)
	sent, done := 0, 0
	send := func(calls int) {
		sent += calls
		_, err := toWorker.Write(requests[:len(request)*calls])
		require.NoError(b, err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for send(min(inFlight, b.N)); done < b.N; {
		n, err := fromWorker.Read(answers)
		require.NoError(b, err)
		got := bytes.Count(answers[:n], []byte{'\n'})
		done += got
		if more := min(got, b.N-sent); more > 0 {
			send(more)
		}
	}
	b.StopTimer()
}
