package services

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// What one connection may take beside the limits of [HTTP].
const (
	// connectTimeout is for each address of a host, and for a handshake of TLS.
	connectTimeout = 10 * time.Second
	// maxAttempts is how many addresses of one host are tried.
	maxAttempts = 4
)

// Resolver looks names up; *[net.Resolver] is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// errNoAnswer is why a look-up is given up.
var errNoAnswer = errors.New("no answer in time")

// hop is one request of a fetch while it is made.
type hop struct {
	// ctx ends with the fetch. The transport's own context does not: a transport
	// finishes dialing for whoever may come next.
	ctx  context.Context
	call protocol.Call
}

type hopKey struct{}

// dial connects to a host whose name is looked up once. What it connects to is the
// address that was checked, so that a second answer of the name server changes nothing.
// The connection ends with its fetch.
func (f *fetcher) dial(ctx context.Context, _, address string) (net.Conn, error) {
	h, ok := ctx.Value(hopKey{}).(hop)
	if !ok {
		return nil, errors.New("a connection that no fetch asked for")
	}
	host, port, err := splitAddress(address)
	if err != nil {
		return nil, err
	}
	addrs, err := f.resolve(h, host, port)
	if err != nil {
		return nil, err
	}
	conn, err := f.connectAny(h.ctx, addrs[:min(len(addrs), maxAttempts)])
	if err == nil {
		context.AfterFunc(h.ctx, func() { _ = conn.Close() })
	}
	return conn, err
}

func splitAddress(address string) (string, uint16, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return "", 0, fmt.Errorf("port %s: expected one from 1 to 65535", text)
	}
	return strings.ToLower(host), uint16(port), nil
}

// connectAny connects to the first address that answers; there is at least one.
func (f *fetcher) connectAny(ctx context.Context, addrs []netip.AddrPort) (conn net.Conn, err error) {
	for _, addr := range addrs {
		attempt, cancel := context.WithTimeout(ctx, connectTimeout)
		conn, err = f.connect(attempt, "tcp", addr.String())
		cancel()
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
	}
	return nil, err
}

// resolve returns the addresses of a host that a plugin may reach. A name that leads to
// public and private ones is reached by the public ones, as in the reference host.
func (f *fetcher) resolve(h hop, host string, port uint16) ([]netip.AddrPort, error) {
	found, err := f.lookUp(h, host)
	if err != nil {
		return nil, err
	}
	named := f.limits.Allowed.allowsName(host, port)
	var reachable []netip.AddrPort
	for _, addr := range found {
		at := netip.AddrPortFrom(addr.Unmap(), port)
		if addr.Zone() == "" && (named || f.limits.Allowed.allows(at)) {
			reachable = append(reachable, at)
		}
	}
	if len(reachable) == 0 {
		return nil, faultf(h.call, protocol.CodeDenied,
			"%s has no public address: whoever runs the host may add %q, or its network, to the allowed addresses of http.fetch",
			host, nameAt(host, port))
	}
	return reachable, nil
}

func (f *fetcher) lookUp(h hop, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	ctx, cancel := context.WithTimeoutCause(h.ctx, f.limits.DNSTimeout, errNoAnswer)
	defer cancel()
	found, err := f.limits.Resolver.LookupNetIP(ctx, "ip", host)
	switch {
	case len(found) > 0:
		return found, nil
	case err == nil:
		return nil, errors.New("the name server knows no address of it")
	case errors.Is(context.Cause(ctx), errNoAnswer):
		return nil, faultf(h.call, protocol.CodeTimeout, "%s: the name server gave no answer within %s, the limit of a look-up: try again later",
			host, f.limits.DNSTimeout)
	}
	if failed, ok := errors.AsType[*net.DNSError](err); ok { // which name server it was is nobody's concern
		err = errors.New("the look-up of its name: " + failed.Err)
	}
	return nil, err
}
