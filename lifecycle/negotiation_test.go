package lifecycle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the reference host sent and answered, and with which options, in recordings
// of its event channel.
func TestNegotiate_likeTheReference(t *testing.T) {
	recordings, err := filepath.Glob("testdata/negotiation/*.ndjson")
	require.NoError(t, err)
	require.Len(t, recordings, 11)
	for _, path := range recordings {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".ndjson"), func(t *testing.T) {
			host := readHost(t, strings.TrimSuffix(path, ".ndjson")+".meta.json")
			asked, answered := readExchange(t, path)
			require.Equal(t, answered, Negotiate(host, asked))
		})
	}
}

// versionLists are the members that a request and the host's options share.
type versionLists struct {
	ProtocolVersion           *string  `json:"protocolVersion"`
	APIVersion                *string  `json:"apiVersion"`
	SupportedProtocolVersions []string `json:"supportedProtocolVersions"`
	SupportedAPIVersions      []string `json:"supportedApiVersions"`
}

// proposal fills in what is absent as the reference host does.
func (v versionLists) proposal() Proposal {
	p := Proposal{
		Protocol: Versions{Preferred: "v1", Supported: v.SupportedProtocolVersions},
		API:      Versions{Preferred: "v1", Supported: v.SupportedAPIVersions},
	}
	if v.ProtocolVersion != nil {
		p.Protocol.Preferred = *v.ProtocolVersion
	}
	if v.APIVersion != nil {
		p.API.Preferred = *v.APIVersion
	}
	return p
}

// readHost reads what the recorded host was told to speak.
func readHost(t *testing.T, path string) Proposal {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var meta struct {
		HostOptions versionLists `json:"hostOptions"`
	}
	require.NoError(t, json.Unmarshal(text, &meta))
	return meta.HostOptions.proposal()
}

// readExchange reads the request and the result out of a recording.
func readExchange(t *testing.T, path string) (Proposal, Agreement) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	payloads := make(map[string]json.RawMessage)
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var event struct {
			Type    string          `json:"type"`
			Payload json.RawMessage `json:"payload"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &event))
		payloads[event.Type] = event.Payload
	}

	var request versionLists
	require.NoError(t, json.Unmarshal(payloads["module:compatibility:request"], &request))
	var result struct{ ProtocolVersion, APIVersion, Mode, Reason string }
	require.NoError(t, json.Unmarshal(payloads["module:compatibility:result"], &result))
	return request.proposal(), Agreement{
		Protocol: result.ProtocolVersion, API: result.APIVersion, Mode: result.Mode, Reason: result.Reason,
	}
}

// The protocol's versions differ from row to row; the API's are always agreed.
func TestNegotiate_versions(t *testing.T) {
	tests := []struct {
		name       string
		host, peer Versions
		want       Agreement
	}{
		{
			"peer prefers what the host only supports",
			Versions{"v2", []string{"v1"}},
			Versions{"v1", nil},
			Agreement{Protocol: "v1", Mode: ModeExact},
		},
		{
			"peer without a list prefers what the host has not got",
			Versions{"v1", nil},
			Versions{"v2", nil},
			Agreement{Protocol: "v2", Mode: ModeRejected, Reason: `Negotiation rejected: protocol: Host does not support preferred version "v2".`},
		},
		{
			"peer's list lacks what it prefers itself",
			Versions{"v1", []string{"v2"}},
			Versions{"v1", []string{"v2"}},
			Agreement{Protocol: "v2", Mode: ModeDowngraded},
		},
		{
			"the host's order decides, not the peer's",
			Versions{"v3", []string{"v2", "v1"}},
			Versions{"v4", []string{"v1", "v2"}},
			Agreement{Protocol: "v2", Mode: ModeDowngraded},
		},
		{
			"blanks around versions do not count",
			Versions{" v1\t", nil},
			Versions{"\u00a0v1\ufeff", []string{"\nv1 "}},
			Agreement{Protocol: "v1", Mode: ModeExact},
		},
		{
			"a list of blanks is no list",
			Versions{"v1", []string{"", " "}},
			Versions{"v1", []string{"", "\ufeff"}},
			Agreement{Protocol: "v1", Mode: ModeExact},
		},
		{
			"lists are shown without blanks and repetitions",
			Versions{"v1", []string{" v1", "v2", "v2 ", ""}},
			Versions{" v9", []string{"v9", "", " v9", "v8"}},
			Agreement{Protocol: " v9", Mode: ModeRejected, Reason: "Negotiation rejected: protocol: No overlapping supported versions. host=[v1, v2]; peer=[v9, v8]."},
		},
		{
			"a host that prefers nothing speaks what it supports",
			Versions{" ", []string{"v1"}},
			Versions{" ", []string{"v1"}},
			Agreement{Protocol: "v1", Mode: ModeDowngraded},
		},
		{
			"a host that speaks nothing",
			Versions{},
			Versions{"v1", []string{"v1"}},
			Agreement{Protocol: "v1", Mode: ModeRejected, Reason: "Negotiation rejected: protocol: No overlapping supported versions. host=[]; peer=[v1]."},
		},
		{
			"quotes and backslashes are not escaped",
			Versions{"v1", nil},
			Versions{`v"1\`, nil},
			Agreement{Protocol: `v"1\`, Mode: ModeRejected, Reason: `Negotiation rejected: protocol: Host does not support preferred version "v"1\".`},
		},
		{
			"what Unicode calls a space and JavaScript does not",
			Versions{"v1", nil},
			Versions{"v1\u0085", nil},
			Agreement{Protocol: "v1\u0085", Mode: ModeRejected, Reason: "Negotiation rejected: protocol: Host does not support preferred version \"v1\u0085\"."},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			api := Versions{Preferred: "v1"}
			tt.want.API = "v1"
			require.Equal(t, tt.want, Negotiate(Proposal{tt.host, api}, Proposal{tt.peer, api}))
		})
	}
}

func TestNegotiate_protocolAndAPIEachForItself(t *testing.T) {
	host := Proposal{Protocol: Versions{Preferred: "p1"}, API: Versions{"a2", []string{"a1"}}}
	require.Equal(t,
		Agreement{Protocol: "p1", API: "a1", Mode: ModeDowngraded},
		Negotiate(host, Proposal{Protocol: Versions{Preferred: "p1"}, API: Versions{"a2", []string{"a1"}}}))
	require.Equal(t,
		Agreement{
			Protocol: "p9", API: "a9", Mode: ModeRejected,
			Reason: `Negotiation rejected: protocol: Host does not support preferred version "p9".; api: Host does not support preferred version "a9".`,
		},
		Negotiate(host, Proposal{Protocol: Versions{Preferred: "p9"}, API: Versions{Preferred: "a9"}}))
}

func TestNegotiate_leavesListsAlone(t *testing.T) {
	supported := make([]string, 1, 4)
	supported[0] = " v1 "
	host := Proposal{Protocol: Versions{"v2", supported}, API: Versions{"v2", supported}}
	require.Equal(t, Agreement{Protocol: "v1", API: "v1", Mode: ModeDowngraded}, Negotiate(host, host))
	require.Equal(t, []string{" v1 ", "", "", ""}, supported[:4])
}
