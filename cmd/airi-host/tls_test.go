package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
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
