package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest"
)

// writeCertificate writes a certificate of 127.0.0.1 that is its own authority, and its key.
func writeCertificate(t *testing.T, name string) manifest.TLSFiles {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	files := manifest.TLSFiles{Cert: filepath.Join(dir, name+".pem"), Key: filepath.Join(dir, name+".key")}
	require.NoError(t, os.WriteFile(files.Cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o644))
	require.NoError(t, os.WriteFile(files.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return files
}

func TestListenOptions_byTLS(t *testing.T) {
	files := writeCertificate(t, "a")
	o := listenOptions{ListenSettings: manifest.ListenSettings{Address: "127.0.0.1:0", TLS: files}}
	require.NoError(t, o.check())
	l, _, err := o.listenHTTP(t.Context(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	served := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = c.Write([]byte("hello"))
			_ = c.Close()
		}
		served <- err
	}()
	authority := x509.NewCertPool()
	text, err := os.ReadFile(files.Cert)
	require.NoError(t, err)
	require.True(t, authority.AppendCertsFromPEM(text))
	c, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{RootCAs: authority})
	require.NoError(t, err)
	greeting := make([]byte, 5)
	_, err = c.Read(greeting)
	require.NoError(t, err)
	require.Equal(t, "hello", string(greeting))
	require.NoError(t, c.Close())
	require.NoError(t, <-served)
}

// Who speaks without TLS is told so, in words of HTTP; who speaks nothing known is not.
func TestListenOptions_tellsWhoSpeaksWithoutTLS(t *testing.T) {
	o := listenOptions{ListenSettings: manifest.ListenSettings{Address: "127.0.0.1:0", TLS: writeCertificate(t, "a")}}
	l, _, err := o.listenHTTP(t.Context(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	for begun, want := range map[string]string{
		"GET /ws HTTP/1.1\r\nHost: x\r\n\r\n": "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" +
			"this host answers by TLS (listen.tls in its settings): expected https:// or wss:// in place of http:// or ws://\n",
		"SSH-2.0-x\r\n": "",
	} {
		read := make(chan error, 1)
		go func() {
			c, err := l.Accept()
			if err == nil {
				_, err = c.Read(make([]byte, 1))
				_ = c.Close()
			}
			read <- err
		}()
		c, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		_, err = io.WriteString(c, begun)
		require.NoError(t, err)
		said := make([]byte, len(want))
		_, err = io.ReadFull(c, said)
		require.NoError(t, err)
		require.Equal(t, want, string(said))
		require.ErrorAs(t, <-read, &tls.RecordHeaderError{})
		require.NoError(t, c.Close())
	}
}

func TestListenOptions_saysWhatIsWrongWithTLS(t *testing.T) {
	a, b := writeCertificate(t, "a"), writeCertificate(t, "b")
	open := filepath.Join(t.TempDir(), "open.key")
	text, err := os.ReadFile(a.Key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(open, text, 0o644))
	dir := t.TempDir()
	for want, files := range map[string]manifest.TLSFiles{
		"listen.tls.cert /none.pem: no such file or directory":                                 {Cert: "/none.pem", Key: a.Key},
		"listen.tls.key /none.key: no such file or directory":                                  {Cert: a.Cert, Key: "/none.key"},
		"listen.tls.cert " + dir + ": expected a file in PEM":                                  {Cert: dir, Key: a.Key},
		"listen.tls.key " + open + ": it can be read by others (mode 0644): chmod 600 " + open: {Cert: a.Cert, Key: open},
		"listen.tls: " + a.Cert + " and " + b.Key + ": expected a certificate and its own private key, both in PEM: tls: private key does not match public key": {Cert: a.Cert, Key: b.Key},
		"listen.tls: " + a.Key + " and " + a.Key + ": expected a certificate and its own private key, both in PEM: tls: failed to find":                         {Cert: a.Key, Key: a.Key},
	} {
		o := listenOptions{ListenSettings: manifest.ListenSettings{Address: "127.0.0.1:0", TLS: files}}
		require.ErrorContains(t, o.check(), want)
		_, _, err := o.listenHTTP(t.Context(), slog.New(slog.DiscardHandler))
		require.ErrorContains(t, err, want)
	}
}
