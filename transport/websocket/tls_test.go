package websocket

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/transporttest"
)

// serve runs Server.Serve on loopback until the test ends, and returns its address.
func serve(t *testing.T, h *host) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
		for _, c := range h.dialled {
			<-c.Done()
		}
	})
	return l.Addr().String()
}

// certificate is one for 127.0.0.1 and example.com, and how a peer trusts it.
func certificate() (server, client *tls.Config) {
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	defer web.Close()
	pool := web.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	return &tls.Config{Certificates: web.TLS.Certificates}, &tls.Config{RootCAs: pool}
}

func TestServe_keepsTheContractOverTLS(t *testing.T) {
	limits := Options{MaxRecord: transporttest.MaxRecord, SlowPeer: RefuseSlow}
	server, client := certificate()
	transporttest.Run(t, func(t *testing.T) (a, b transport.Conn) {
		t.Helper()
		h := newHost(ServerOptions{Options: limits, TLS: server})
		h.url = "wss://" + serve(t, h) + "/ws"
		return h.pair(t, DialOptions{Options: limits, TLS: client})
	})
}

func TestServe_refusesWhatIsNotTLS(t *testing.T) {
	server, client := certificate()
	h := newHost(ServerOptions{TLS: server})
	address := serve(t, h)
	_, err := Dial(t.Context(), "ws://"+address, DialOptions{})
	require.Error(t, err)
	_, err = Dial(t.Context(), "wss://"+address, DialOptions{})
	require.ErrorContains(t, err, "certificate")
	h.url = "wss://" + address
	h.pair(t, DialOptions{TLS: client})
}

func TestServe_waitsForNobodyBeforeTheUpgrade(t *testing.T) {
	server, _ := certificate()
	for _, c := range []struct {
		name string
		tls  *tls.Config
		sent string
	}{
		{"who says nothing", nil, ""},
		{"who ends no header", nil, "GET /ws HTTP/1.1\r\nHost: localhost\r\n"},
		{"who begins no TLS", server, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(ServerOptions{TLS: c.tls, UpgradeTime: 100 * time.Millisecond})
			socket, err := net.Dial("tcp", serve(t, h))
			require.NoError(t, err)
			defer func() { _ = socket.Close() }()
			_, err = io.WriteString(socket, c.sent)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, socket)
			require.NoError(t, err, "the server closes the connection")
		})
	}
}

func TestServe_boundsThoseBeforeTheUpgrade(t *testing.T) {
	const most = 10
	h := newHost(ServerOptions{MaxEarly: most})
	address := serve(t, h)
	for range most {
		socket, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer func() { _ = socket.Close() }()
	}
	over, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer func() { _ = over.Close() }()
	n, _ := over.Read(make([]byte, 1))
	require.Zero(t, n)
	require.EqualValues(t, 1, h.Counts().Refused[TooManyEarly])
}

func TestDial_saysWhatIsWrong(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, nobody.Close())
	web := httptest.NewServer(nil)
	defer web.Close()
	for _, c := range []struct{ address, want string }{
		{"http://localhost/ws", "is no address of a websocket"},
		{"ws://", "is no address of a websocket"},
		{":", "is no address of a websocket"},
		{"ws://" + nobody.Addr().String(), "refused"},
		{"ws://" + silent.Addr().String(), "no answer in time"},
		{"ws://" + strings.TrimPrefix(web.URL, "http://"), "refused the websocket with status 404: 404 page not found"},
	} {
		_, err := Dial(t.Context(), c.address, DialOptions{Timeout: 200 * time.Millisecond})
		require.ErrorContains(t, err, c.want, c.address)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Dial(ctx, "ws://"+silent.Addr().String(), DialOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

// Of a server that refuses in endless words little is read.
func TestDial_readsLittleOfARefusal(t *testing.T) {
	words := strings.NewReader(strings.Repeat("A: b\r\n", maxHeader))
	require.Empty(t, excerpt(io.MultiReader(strings.NewReader("HTTP/1.1 503 No\r\n"), words)))
	require.LessOrEqual(t, int(words.Size())-words.Len(), maxHeader)
}

// TLS would wait five seconds for who does not read its farewell.
func TestClose_isOverWithinCloseTimeOverTLS(t *testing.T) {
	server, client := certificate()
	client.ServerName = "example.com"
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		secured, peer := tls.Server(near, server), tls.Client(far, client)
		shaken := make(chan error, 1)
		go func() { shaken <- peer.Handshake() }()
		require.NoError(t, secured.Handshake())
		require.NoError(t, <-shaken)
		c := newConn(secured, nil, new(Options{CloseTime: 2 * time.Second}.resolved()), false, true)
		c.start()
		require.NoError(t, c.Send([]byte("never read")))
		began := time.Now()
		require.NoError(t, c.Close())
		<-c.Done()
		require.Equal(t, 2*time.Second, time.Since(began))
		require.NoError(t, far.Close())
	})
}
