package process

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MarkerVar is the environment variable by which a worker and its descendants are
// recognized. Its value names the owner, the host and the incarnation, none of
// which a stranger can guess. It comes on top of what Spec.Env says, and wins.
const MarkerVar = "AIRI_HOST_WORKER"

// The bounds of an owner's name, in bytes.
const (
	ownerLeast = 16
	ownerMost  = 128
)

// identity names a process of the operating system. Its number alone would not do:
// it is given away again. All zero where that cannot be known.
type identity struct {
	space uint64 // of which process numbers
	pid   int
	start uint64 // in clock ticks since the machine started
}

func (i identity) String() string { return fmt.Sprintf("%d.%d.%d", i.space, i.pid, i.start) }

// parseIdentity is the inverse of String.
func parseIdentity(text string) (identity, bool) {
	var i identity
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return i, false
	}
	var errs [3]error
	i.space, errs[0] = strconv.ParseUint(parts[0], 10, 64)
	i.pid, errs[1] = strconv.Atoi(parts[1])
	i.start, errs[2] = strconv.ParseUint(parts[2], 10, 64)
	return i, errs == [3]error{}
}

// marker is what the value of MarkerVar says.
type marker struct {
	owner       string // may be empty
	host        identity
	incarnation string // random
	plugin      string
}

func newMarker(spec Spec) marker {
	return marker{owner: spec.Owner, host: ownIdentity(), incarnation: rand.Text(), plugin: spec.Plugin}
}

func (m marker) String() string {
	return strings.Join([]string{m.owner, m.host.String(), m.incarnation, m.plugin}, ":")
}

// parseMarker is the inverse of String. Only the plugin's name may hold a colon.
func parseMarker(text string) (marker, bool) {
	parts := strings.SplitN(text, ":", 4)
	if len(parts) != 4 {
		return marker{}, false
	}
	host, ok := parseIdentity(parts[1])
	return marker{owner: parts[0], host: host, incarnation: parts[2], plugin: parts[3]}, ok
}

// entry is the marker as an environment has it.
func (m marker) entry() string { return MarkerVar + "=" + m.String() }

// within returns the environment with the marker, which is not said twice.
func (m marker) within(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(e string) bool { return strings.HasPrefix(e, MarkerVar+"=") })
	return append(env, m.entry())
}

// checkOwner refuses what could be guessed, or would not be found again in an
// environment. It does not show the owner.
func checkOwner(owner string) error {
	if len(owner) < ownerLeast || len(owner) > ownerMost {
		return fmt.Errorf("the owner has %d bytes: take %d to %d random letters and digits, and keep them", len(owner), ownerLeast, ownerMost)
	}
	for _, c := range []byte(owner) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' {
			return fmt.Errorf("the owner holds the byte %q: take letters, digits, \"-\" and \"_\"", c)
		}
	}
	return nil
}

func (s Spec) checkOwner() error {
	if s.Owner == "" {
		return nil
	}
	return checkOwner(s.Owner)
}
