package websocket

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Refusal tells why a request was not upgraded.
type Refusal string

// The refusals there are.
const (
	// ForeignHost is a Host that is not known: a page that was brought here by a name of
	// its own has that name there.
	ForeignHost Refusal = "host"
	// ForeignPage is an Origin, or a browser's own word, that is not allowed.
	ForeignPage Refusal = "origin"
	// WrongToken is an Authorization with another token.
	WrongToken Refusal = "token"
	// TooMany, TooManyOfAddress and TooManyEarly are limits.
	TooMany          Refusal = "connections"
	TooManyOfAddress Refusal = "connections of the address"
	TooManyEarly     Refusal = "connections that are not authenticated"
	// NotUpgraded is a request that is no websocket handshake.
	NotUpgraded Refusal = "handshake"
	// WithBody is a handshake with a body, which would be taken for the first frames.
	WithBody Refusal = "body"
	// ShuttingDown is a server that has ended.
	ShuttingDown Refusal = "shutdown"
)

// said is the status and the text with which a request is refused. A %q stands for what
// the request says of itself.
var said = map[Refusal]struct {
	status int
	text   string
}{
	ForeignHost:      {http.StatusForbidden, "the request is for the host %q: only localhost, addresses and the names that are listed (listen.hosts) are answered here"},
	ForeignPage:      {http.StatusForbidden, "the request comes from the web page %q, which may not connect: list its origin (--allow-origin, listen.origins)"},
	NotUpgraded:      {http.StatusUpgradeRequired, "peers connect here, at %s, by websocket: expected a request with \"Connection: Upgrade\" and \"Upgrade: websocket\""},
	WithBody:         {http.StatusBadRequest, "expected a handshake without a body: frames come behind the answer"},
	WrongToken:       {http.StatusUnauthorized, "expected the header \"Authorization: Bearer TOKEN\" with the token of this host, or none"},
	TooMany:          {http.StatusServiceUnavailable, "there are too many connections"},
	TooManyOfAddress: {http.StatusTooManyRequests, "there are too many connections from this address"},
	TooManyEarly:     {http.StatusServiceUnavailable, "there are too many connections that have not been authenticated"},
	ShuttingDown:     {http.StatusServiceUnavailable, shuttingDown},
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, why Refusal) {
	s.count(func(n *Counts) { n.Refused[why]++ })
	text := said[why].text
	switch why {
	case ForeignHost:
		text = fmt.Sprintf(text, clip(r.Host))
	case ForeignPage:
		text = fmt.Sprintf(text, clip(pageOf(r.Header)))
	case NotUpgraded:
		w.Header().Set("Upgrade", "websocket")
		text = fmt.Sprintf(text, clip(r.Host+r.URL.Path))
	case WithBody, WrongToken, TooMany, TooManyOfAddress, TooManyEarly, ShuttingDown: // said as it is
	}
	w.Header().Set("Connection", "close")
	http.Error(w, text, said[why].status)
}

// pageOf is where a page says that it is from.
func pageOf(head http.Header) string {
	if origins := head.Values("Origin"); len(origins) > 0 {
		return strings.Join(origins, ", ")
	}
	return head.Get("Sec-Fetch-Site")
}

// clip keeps what a stranger has written short.
func clip(text string) string {
	const most = 100
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.ToValidUTF8(text, "?")
}

// isHandshake tells whether a request means to become a websocket, however well.
func isHandshake(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// examine tells whether a request may become a connection, whether its peer is authenticated
// then, and by which token, "" where none is asked for.
func (s *Server) examine(r *http.Request) (known bool, token string, why Refusal) {
	access, shown := s.o.Now(), r.Header.Values("Authorization")
	switch {
	case !access.answersTo(r.Host):
		return false, "", ForeignHost
	case !access.letsIn(r.Header):
		return false, "", ForeignPage
	case access.Token == "":
		return true, "", ""
	case len(shown) == 0:
		return false, "", ""
	case len(shown) > 1 || !access.knows(shown[0]):
		return false, "", WrongToken
	}
	return true, access.Token, ""
}

// answersTo tells whether a Host is one of this server's. An address is: whoever wrote it
// knew where the request would go.
func (a Access) answersTo(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	return isLocalName(name) || slices.ContainsFunc(a.Hosts, func(known string) bool { return strings.EqualFold(known, name) })
}

func isLocalName(name string) bool {
	_, err := parseAddr(name)
	return err == nil || strings.EqualFold(name, "localhost")
}

// letsIn tells whether who asks is a program, or a page that may. Programs send no Origin;
// a browser always does, and cannot be made to leave it out or to change it.
func (a Access) letsIn(head http.Header) bool {
	origins := head.Values("Origin")
	switch {
	case len(origins) == 0:
		site := head.Get("Sec-Fetch-Site")
		return site == "" || site == "none" || site == "same-origin"
	case len(origins) > 1:
		return false
	}
	return slices.Contains(a.Origins, "*") || slices.Contains(a.Origins, origins[0]) || isLoopbackPage(origins[0])
}

// isLoopbackPage tells whether an origin is served by this machine to itself.
func isLoopbackPage(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	addr, err := parseAddr(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || err == nil && addr.IsLoopback()
}

// parseAddr reads an address as a Host or an Origin has it, with brackets or without.
func parseAddr(text string) (netip.Addr, error) {
	if inner, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimSuffix(inner, "]")
	}
	addr, err := netip.ParseAddr(text)
	return addr.Unmap(), err
}

// knows compares what an Authorization says with the token, in a time that says nothing of
// it. The name of the scheme is of any case.
func (a Access) knows(authorization string) bool {
	scheme, given, _ := strings.Cut(authorization, " ")
	shown, want := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(a.Token))
	return subtle.ConstantTimeCompare(shown[:], want[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}
