package services

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Addresses are what http.fetch may reach although it is private or reserved. The zero
// value is none.
type Addresses struct {
	networks []netip.Prefix
	exact    map[netip.AddrPort]bool
	names    map[string]bool // "host:port", lower case
}

// ParseAddresses reads a list of them and reports all that is wrong with it. Each is
// one of:
//
//	10.1.0.0/16, fd00::/8           a network, at any port
//	10.1.2.3, ::1                   an address, at any port
//	127.0.0.1:8080, [::1]:8080      an address at one port
//	ollama.local:11434              a name at one port, wherever it leads
func ParseAddresses(entries []string) (Addresses, error) {
	a := Addresses{exact: map[netip.AddrPort]bool{}, names: map[string]bool{}}
	var wrong []error
	for _, entry := range entries {
		if !a.add(entry) {
			wrong = append(wrong, fmt.Errorf(
				"allowed address %q: expected a network (10.1.0.0/16), an address (10.1.2.3, 127.0.0.1:8080) or a name with its port (ollama.local:11434)",
				entry))
		}
	}
	return a, errors.Join(wrong...)
}

func (a *Addresses) add(entry string) bool {
	if network, err := netip.ParsePrefix(entry); err == nil {
		a.networks = append(a.networks, network.Masked())
		return !network.Addr().Is4In6()
	}
	if addr, err := netip.ParseAddr(entry); err == nil {
		addr = addr.Unmap()
		a.networks = append(a.networks, netip.PrefixFrom(addr, addr.BitLen()))
		return addr.Zone() == ""
	}
	if at, err := netip.ParseAddrPort(entry); err == nil {
		a.exact[netip.AddrPortFrom(at.Addr().Unmap(), at.Port())] = true
		return at.Addr().Zone() == "" && at.Port() > 0
	}
	host, port, err := net.SplitHostPort(entry)
	if err != nil || !isHostName(host) {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	a.names[nameAt(host, uint16(n))] = true
	return err == nil && n > 0
}

func isHostName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !plain && r != '-' && r != '.' && r != '_'
	})
}

// nameAt is a name and a port as they are compared.
func nameAt(host string, port uint16) string {
	return net.JoinHostPort(strings.ToLower(strings.TrimSuffix(host, ".")), strconv.Itoa(int(port)))
}

// allowsName tells whether a name at a port is allowed, wherever it leads.
func (a Addresses) allowsName(host string, port uint16) bool { return a.names[nameAt(host, port)] }

// allows tells whether an address is public or allowed.
func (a Addresses) allows(at netip.AddrPort) bool {
	if isPublic(at.Addr()) || a.exact[at] {
		return true
	}
	for _, network := range a.networks {
		if network.Contains(at.Addr()) {
			return true
		}
	}
	return false
}

// globalUnicast is all of IPv6 that is given out (RFC 4291); what is not in it is
// loopback, link-local, unique-local, multicast, mapped, NAT64 or unassigned.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// special are the networks of IPv4, and of globalUnicast, that lead to no public host:
// the registries of special-purpose addresses (RFC 6890), which IANA keeps.
var special = prefixes(
	"0.0.0.0/8",       // this network
	"10.0.0.0/8",      // private
	"100.64.0.0/10",   // shared by carriers (CGNAT)
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link-local; cloud metadata
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // 6to4 relays
	"192.168.0.0/16",  // private
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved; broadcast

	"2001::/23",     // protocol assignments; Teredo
	"2001:db8::/32", // documentation
	"2002::/16",     // 6to4, which carries any address of IPv4
	"3fff::/20",     // documentation
)

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// isPublic tells whether an address is one of the public internet. The address has been
// unmapped; one with a zone is of a link, and no prefix contains it.
func isPublic(addr netip.Addr) bool {
	if !addr.IsValid() || !addr.Is4() && !globalUnicast.Contains(addr) {
		return false
	}
	for _, network := range special {
		if network.Contains(addr) {
			return false
		}
	}
	return true
}
