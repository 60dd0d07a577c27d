package services

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// resolver is a name server that answers from a function.
type resolver func(ctx context.Context, host string) ([]netip.Addr, error)

func (r resolver) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if network != "ip" {
		return nil, errors.New("expected all addresses")
	}
	return r(ctx, host)
}

// names is a name server that knows these.
func names(known map[string][]string) resolver {
	return func(_ context.Context, host string) ([]netip.Addr, error) {
		var found []netip.Addr
		for _, text := range known[host] {
			found = append(found, netip.MustParseAddr(text))
		}
		return found, nil
	}
}

func allow(t *testing.T, entries ...string) Addresses {
	t.Helper()
	a, err := ParseAddresses(entries)
	require.NoError(t, err)
	return a
}

// dialer is a fetcher whose connections are refused, and to where they would go.
func dialer(limits HTTP) (*fetcher, *[]string) {
	f := newFetcher(invoker{}, limits)
	var dialed []string
	f.connect = func(_ context.Context, _, address string) (net.Conn, error) {
		dialed = append(dialed, address)
		return nil, errors.New("refused")
	}
	return f, &dialed
}

func try(t *testing.T, f *fetcher, url string) error {
	t.Helper()
	_, err := f.fetch(t.Context(), protocol.Call{Key: "http.fetch", Caller: "demo", Input: []byte(`{"url":"` + url + `"}`)})
	require.Error(t, err)
	return err
}

func TestDial_goesToPublicAddressesOnly(t *testing.T) {
	f, dialed := dialer(HTTP{Resolver: names(map[string][]string{
		"private.example": {"10.0.0.1", "::1", "::ffff:127.0.0.1", "2606::1%eth0"},
		"mapped.example":  {"::ffff:8.8.8.8"},
		"both.example":    {"192.168.0.1", "8.8.4.4", "127.0.0.1", "2606:4700::1"},
	})})
	for _, host := range []string{
		"private.example", "127.0.0.1", "127.0.0.1:8080", "[::1]", "[::ffff:169.254.169.254]", "[fe80::1%25eth0]", "[2606::1%25eth0]",
		"[64:ff9b::7f00:1]", "0.0.0.0", "10.0.0.1.",
	} {
		err := try(t, f, "http://"+host+"/?token=secret")
		if host != "10.0.0.1." { // a name, which nobody knows
			wantFault(t, err, protocol.CodeDenied, "has no public address: whoever runs the host may add")
		}
		require.NotContains(t, err.Error(), "secret")
	}
	require.Empty(t, *dialed)
	require.EqualError(t, try(t, f, "http://mapped.example/a"), "http.fetch: mapped.example: refused")
	require.ErrorContains(t, try(t, f, "https://both.example/a"), "refused")
	require.Equal(t, []string{"8.8.8.8:80", "8.8.4.4:443", "[2606:4700::1]:443"}, *dialed)
}

func TestDial_goesWhereTheOperatorAllows(t *testing.T) {
	f, dialed := dialer(HTTP{
		Allowed:  allow(t, "10.1.0.0/16", "127.0.0.1:8080", "local.example:11434"),
		Resolver: names(map[string][]string{"local.example": {"192.168.0.9"}, "ten.example": {"10.1.2.3", "10.2.2.3"}}),
	})
	for _, url := range []string{"http://ten.example:99", "http://127.0.0.1:8080", "http://LOCAL.example:11434", "http://[::ffff:10.1.0.1]"} {
		require.ErrorContains(t, try(t, f, url), ": refused")
	}
	require.Equal(t, []string{"10.1.2.3:99", "127.0.0.1:8080", "192.168.0.9:11434", "10.1.0.1:80"}, *dialed)
	wantFault(t, try(t, f, "http://local.example:11435"), protocol.CodeDenied, `may add "local.example:11435", or its network`)
	wantFault(t, try(t, f, "http://127.0.0.1"), protocol.CodeDenied, `may add "127.0.0.1:80", or its network`)
}

func TestDial_aZoneIsNeverReached(t *testing.T) {
	f, dialed := dialer(HTTP{Allowed: allow(t, "n:80", "fe80::/10"), Resolver: names(map[string][]string{"n": {"fe80::1%eth0"}})})
	wantFault(t, try(t, f, "http://n"), protocol.CodeDenied, "n has no public address")
	require.Empty(t, *dialed)
}

func TestDial_triesABoundedNumberOfAddresses(t *testing.T) {
	f, dialed := dialer(HTTP{Resolver: names(map[string][]string{"many": {"8.0.0.1", "8.0.0.2", "8.0.0.3", "8.0.0.4", "8.0.0.5"}})})
	require.ErrorContains(t, try(t, f, "http://many"), "refused")
	require.Len(t, *dialed, maxAttempts)
}

// What the name server says after the check changes nothing.
func TestDial_looksANameUpOnce(t *testing.T) {
	var asked atomic.Int32
	f, dialed := dialer(HTTP{Resolver: resolver(func(context.Context, string) ([]netip.Addr, error) {
		if asked.Add(1) > 1 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
	})})
	require.ErrorContains(t, try(t, f, "http://rebind.example"), "refused")
	require.EqualValues(t, 1, asked.Load())
	require.Equal(t, []string{"8.8.8.8:80"}, *dialed)
	wantFault(t, try(t, f, "http://rebind.example"), protocol.CodeDenied, "no public address")
}

func TestDial_aNameServerMayFail(t *testing.T) {
	broken := errors.New("no such host")
	f, _ := dialer(HTTP{Resolver: resolver(func(context.Context, string) ([]netip.Addr, error) { return nil, broken })})
	err := try(t, f, "http://nobody.example/?secret")
	require.ErrorIs(t, err, broken)
	require.EqualError(t, err, "http.fetch: nobody.example: no such host")
	f, _ = dialer(HTTP{Resolver: names(nil)})
	require.EqualError(t, try(t, f, "http://nobody.example"), "http.fetch: nobody.example: the name server knows no address of it")
}

func TestDial_aNameServerHasFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := dialer(HTTP{Resolver: resolver(func(ctx context.Context, _ string) ([]netip.Addr, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})})
		began := time.Now()
		wantFault(t, try(t, f, "http://slow.example"), protocol.CodeTimeout,
			"slow.example: the name server gave no answer within 5s, the limit of a look-up")
		require.Equal(t, 5*time.Second, time.Since(began))
	})
}

func TestDial_eachAddressHasItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFetcher(invoker{}, HTTP{Resolver: names(map[string][]string{"half.example": {"8.0.0.1", "8.0.0.2"}})})
		f.connect = func(ctx context.Context, _, address string) (net.Conn, error) {
			if address == "8.0.0.2:80" {
				return nil, errors.New("the second is tried")
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		began := time.Now()
		require.ErrorContains(t, try(t, f, "http://half.example"), "the second is tried")
		require.Equal(t, connectTimeout, time.Since(began))
	})
}

func TestDial_portsAreNumbers(t *testing.T) {
	f, _ := dialer(HTTP{})
	require.ErrorContains(t, try(t, f, "http://1.1.1.1:0"), "port 0: expected one from 1 to 65535")
	require.ErrorContains(t, try(t, f, "http://1.1.1.1:65536"), "port 65536: expected one")
}

func TestDial_needsAFetch(t *testing.T) {
	f, dialed := dialer(HTTP{})
	_, err := (&http.Client{Transport: f.transport}).Get("http://1.1.1.1")
	require.ErrorContains(t, err, "a connection that no fetch asked for")
	require.Empty(t, *dialed)
}
