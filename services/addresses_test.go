package services

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddresses_whatIsPublic(t *testing.T) {
	for addr, public := range map[string]bool{
		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "10.255.255.255": false, "11.0.0.1": true,
		"100.63.255.255": true, "100.64.0.1": false, "100.127.255.255": false, "100.128.0.1": true,
		"127.0.0.1": false, "127.255.0.1": false, "169.254.169.254": false, "172.15.0.1": true, "172.16.0.1": false,
		"172.31.255.255": false, "172.32.0.1": true, "192.0.0.8": false, "192.0.2.1": false, "192.88.99.1": false,
		"192.168.0.1": false, "198.18.0.1": false, "198.19.255.255": false, "198.51.100.7": false, "203.0.113.7": false,
		"224.0.0.1": false, "239.1.1.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"1.1.1.1": true, "8.8.8.8": true, "93.184.216.34": true,

		"::": false, "::1": false, "::7f00:1": false, "::ffff:127.0.0.1": false, "::ffff:8.8.8.8": false, // mapped: unmapped before
		"64:ff9b::a00:1": false, "64:ff9b:1::1": false, "100::1": false, "fc00::1": false, "fd12::1": false,
		"fe80::1": false, "fec0::1": false, "ff02::1": false, "2001::1": false, "2001:1ff::1": false, "2001:200::1": true,
		"2001:db8::1": false, "2002:7f00:1::1": false, "3fff::1": false, "3fff:1000::1": true, "4000::1": false,
		"2606:4700:4700::1111": true, "2001:4860:4860::8888": true, "2606::1%eth0": false,
	} {
		require.Equal(t, public, isPublic(netip.MustParseAddr(addr)), addr)
	}
	require.False(t, isPublic(netip.Addr{}))
}

func TestAddresses_allowWhatIsListed(t *testing.T) {
	a, err := ParseAddresses([]string{
		"10.1.2.3/16", "fd00::/8", "192.168.0.7", "::1", "127.0.0.1:8080", "[fe80::1]:90", "::ffff:172.16.0.1", "Ollama.local.:11434",
	})
	require.NoError(t, err)
	for at, allowed := range map[string]bool{
		"10.1.255.1:1": true, "10.2.0.1:1": false, "[fd12::3]:1": true, "[fc00::1]:1": false,
		"192.168.0.7:9": true, "192.168.0.8:9": false, "[::1]:80": true, "127.0.0.1:8080": true, "127.0.0.1:8081": false,
		"[fe80::1]:90": true, "[fe80::1]:91": false, "172.16.0.1:1": true, "8.8.8.8:1": true,
	} {
		require.Equal(t, allowed, a.allows(netip.MustParseAddrPort(at)), at)
	}
	require.True(t, a.allowsName("OLLAMA.local", 11434))
	require.False(t, a.allowsName("ollama.local", 11435))
	require.False(t, a.allowsName("x.ollama.local", 11434))
}

func TestAddresses_noneIsAllowedByDefault(t *testing.T) {
	var a Addresses
	require.False(t, a.allows(netip.MustParseAddrPort("10.0.0.1:80")))
	require.False(t, a.allowsName("localhost", 80))
	require.True(t, a.allows(netip.MustParseAddrPort("1.1.1.1:80")))
}

func TestAddresses_everythingThatIsWrongIsReported(t *testing.T) {
	wrong := []string{
		"", "localhost", "10.0.0.0/33", "10.0.0.1:", "10.0.0.1:0", "host:0", "host:65536", "host:http", "fe80::1%eth0",
		"[fe80::1%eth0]:80", "::ffff:10.0.0.0/104", "http://host:80", "*.local:80", ":80",
	}
	_, err := ParseAddresses(append(wrong, "10.0.0.0/8", "ok:1"))
	for _, entry := range wrong {
		require.ErrorContains(t, err, `allowed address "`+entry+`": expected a network (10.1.0.0/16), an address`)
		_, alone := ParseAddresses([]string{entry})
		require.Error(t, alone, entry)
	}
	require.NotContains(t, err.Error(), `"ok:1"`)
}
