package lifecycle

import (
	"slices"
	"strings"
	"unicode"
)

// The modes of an [Agreement], as they are on the wire.
const (
	// ModeExact: both sides speak the versions that were asked for.
	ModeExact = "exact"
	// ModeDowngraded: at least one version is not the one that was asked for.
	ModeDowngraded = "downgraded"
	// ModeRejected: for the protocol, the API or both there is no version that
	// both sides speak. The session fails with the agreement's reason.
	ModeRejected = "rejected"
)

// Versions is what one side speaks of one thing. Versions are opaque: they are
// compared letter by letter, once the blanks around them are gone. Blank ones and
// repetitions do not count.
type Versions struct {
	// Preferred is the one it asks for.
	Preferred string
	// Supported are those it can speak, the best first. The host speaks its
	// preferred one as well, listed or not; of a peer that lists some, only the
	// listed ones count, and one that lists none takes what it asks for.
	Supported []string
}

// Proposal is what one side brings to a negotiation. The peer's is the content of
// its module:compatibility:request; a plugin that sends none asks for what the host
// prefers.
type Proposal struct {
	Protocol Versions
	API      Versions
}

// Agreement is what a negotiation came to: the content of the host's
// module:compatibility:result.
type Agreement struct {
	// Protocol and API are the versions to speak from now on. When rejected, they
	// are the ones that the peer asked for, exactly as it wrote them.
	Protocol, API string
	// Mode is [ModeExact], [ModeDowngraded] or [ModeRejected].
	Mode string
	// Reason says why, in the reference host's words, when rejected; else "".
	Reason string
}

// Negotiate settles the versions of protocol and API, each for itself. A version
// that was asked for and that both sides speak is exact; otherwise it is the first
// one in the host's order that the peer speaks. Results and texts are those of the
// reference host. The cost is linear in the peer's lists, which nothing bounds but
// the wire's limit on frames.
func Negotiate(host, peer Proposal) Agreement {
	protocol := choose(host.Protocol, peer.Protocol)
	api := choose(host.API, peer.API)
	if reasons := refusals(protocol, api); len(reasons) > 0 {
		return Agreement{
			Protocol: peer.Protocol.Preferred,
			API:      peer.API.Preferred,
			Mode:     ModeRejected,
			Reason:   "Negotiation rejected: " + strings.Join(reasons, "; "),
		}
	}
	agreed := Agreement{Protocol: protocol.version, API: api.version, Mode: ModeExact}
	if !protocol.exact || !api.exact {
		agreed.Mode = ModeDowngraded
	}
	return agreed
}

// choice is the outcome for one of the two things that are negotiated.
type choice struct {
	// version is the one to speak; "" if there is none.
	version string
	// exact tells that it is the one asked for.
	exact bool
	// refusal says why there is none.
	refusal string
}

// refusals names the parts without a version, and why.
func refusals(protocol, api choice) []string {
	var reasons []string
	if protocol.version == "" {
		reasons = append(reasons, "protocol: "+protocol.refusal)
	}
	if api.version == "" {
		reasons = append(reasons, "api: "+api.refusal)
	}
	return reasons
}

// choose finds the version that both speak.
func choose(host, peer Versions) choice {
	wanted := trim(peer.Preferred)
	hosts := normalize(append([]string{host.Preferred}, host.Supported...))
	peers := normalize(peer.Supported)

	hostSpeaks := slices.Contains(hosts, wanted)
	if len(peers) == 0 && !hostSpeaks {
		return choice{refusal: `Host does not support preferred version "` + wanted + `".`}
	}
	if hostSpeaks && (len(peers) == 0 || slices.Contains(peers, wanted)) {
		return choice{version: wanted, exact: true}
	}
	for _, version := range hosts {
		if slices.Contains(peers, version) {
			return choice{version: version}
		}
	}
	return choice{refusal: "No overlapping supported versions. host=[" + strings.Join(hosts, ", ") +
		"]; peer=[" + strings.Join(peers, ", ") + "]."}
}

// normalize trims versions and drops the blank and the repeated ones, in order.
func normalize(versions []string) []string {
	var kept []string
	seen := make(map[string]bool, len(versions))
	for _, version := range versions {
		version = trim(version)
		if version == "" || seen[version] {
			continue
		}
		seen[version] = true
		kept = append(kept, version)
	}
	return kept
}

// trim drops what JavaScript's trim drops, which is not quite what Unicode calls a
// space: a byte order mark goes, a NEL (U+0085) stays.
func trim(version string) string {
	return strings.TrimFunc(version, func(r rune) bool {
		return r == '\uFEFF' || r != '\u0085' && unicode.IsSpace(r)
	})
}
