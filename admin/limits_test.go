package admin

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tell sends text on a connection of its own and returns all that is answered until the
// server closes it.
func tell(t *testing.T, address, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second))) // the usual times are longer
	_, err = io.WriteString(c, text)
	require.NoError(t, err)
	answer, err := io.ReadAll(c)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "it is not closed in time") // it may be reset
	return string(answer)
}

func TestLimits_ofOneConnection(t *testing.T) {
	const soon = 50 * time.Millisecond
	health := "GET " + pathHealth + " HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	long := health + "X-Long: " + strings.Repeat("x", 8<<10) + "\r\nConnection: close\r\n\r\n"
	for name, c := range map[string]struct {
		limits     Limits
		text, want string
	}{
		"a long header":           {Limits{}, long, "200 OK"},
		"a header that is long":   {Limits{HeaderBytes: 1 << 10}, long, "431 Request Header Fields Too Large"},
		"a header that is slow":   {Limits{HeaderTime: soon}, health, ""},
		"a body that is slow":     {Limits{BodyTime: soon}, "POST " + pathAPI + "/call HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{", "400 Bad Request"},
		"a connection that idles": {Limits{IdleTime: soon}, health + "\r\n", "200 OK"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, tell(t, start(t, Options{Limits: c.limits}).address, c.text), c.want)
		})
	}
}

func TestLimits_whoReadsNoAnswerIsLetGoOf(t *testing.T) {
	s := Starting(Limits{AnswerTime: 50 * time.Millisecond}, nil)
	outcome := make(chan error, 1)
	server := httptest.NewServer(s.contained(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		outcome <- answerRaw(&answered{ResponseWriter: w}, http.StatusOK, "text/plain", make([]byte, 256<<20)) // more than a connection holds
	})))
	defer server.Close()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	_, err = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	select {
	case err := <-outcome:
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	case <-time.After(20 * time.Second): // the usual time is longer
		require.FailNow(t, "it is waited for")
	}
}
