package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Guard says who may ask through one listener. The zero value lets everybody in who
// can connect: that is for a Unix socket that only its owner may open.
type Guard struct {
	// Loopback lets only those in who call the host by a name or an address of this
	// machine's loopback, and no web page that is not among Origins. Without a Token
	// any user of the machine is one of them, who is told no configuration, since it may
	// hold secrets, and removes nothing.
	Loopback bool
	// Token, where it is not empty, must be in the request's Authorization, as
	// "Bearer TOKEN"; only /healthz is answered without.
	Token string
	// Origins are the web pages that may ask, e.g. "http://localhost:5173".
	Origins []string
	// Hosts are the names by which the host may be called beside those of this machine's
	// loopback, without a port.
	Hosts []string
	// Current, if set, is asked at each request for the guard to go by in place of this
	// one: a token may change. It may be called concurrently.
	Current func() Guard
	// Open marks a listener as beyond loopback: names are not looked at, origins are.
	// It takes a Token.
	Open bool
}

// around puts the guard before a handler.
func (g Guard) around(next http.Handler) http.Handler {
	if g.isOpenToAll() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g := g.now()
		if f, ok := g.refusal(r); ok {
			refuse(w, r, f)
			return
		}
		if g.crossed(w, r, "GET, POST, PUT, DELETE") {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse answers who may not ask. The server would wait for the body first, were the
// connection to go on.
func refuse(w http.ResponseWriter, r *http.Request, f Failure) {
	if f.Code == codeUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
	answerFailure(w, f)
}

// now is the guard to go by.
func (g Guard) now() Guard {
	if g.Current == nil {
		return g
	}
	return g.Current()
}

func (g Guard) refusal(r *http.Request) (f Failure, refused bool) {
	f, refused = g.stranger(r)
	switch {
	case refused:
	case r.URL.Path != pathHealth && r.Method != http.MethodOptions && !g.knows(r.Header.Get("Authorization")):
		f = Failure{Code: codeUnauthorized, Message: "expected the header \"Authorization: Bearer TOKEN\", with the token of the host's --token-file"}
	case g.Loopback && g.Token == "" && isConfiguration(r.URL.Path):
		f = Failure{Code: codeDenied, Message: "a configuration may hold secrets, and every user of this machine may ask here: use airi-host config, which asks through the control socket, or give the host a --token-file"}
	case g.Loopback && g.Token == "" && r.Method == http.MethodDelete:
		f = Failure{Code: codeDenied, Message: "what is removed is gone, and every user of this machine may ask here: use airi-host forget, which asks through the control socket, or give the host a --token-file"}
	case g.Loopback && g.Token == "" && isOperators(r.URL.Path):
		f = Failure{Code: codeDenied, Message: "every user of this machine may ask here, and its plugins may: use airi-host approve and airi-host audit, which ask through the control socket, or give the host a --token-file"}
	case g.Loopback && g.Token == "" && isTraffic(r):
		f = Failure{Code: codeDenied, Message: "what plugins tell each other may hold secrets, and every user of this machine may ask here: use airi-host events, which asks through the control socket, or give the host a --token-file"}
	case g.Loopback && g.Token == "" && isRoute(r.URL.Path):
		f = Failure{Code: codeDenied, Message: "a terminal may hold secrets, and every user of this machine may ask here: use airi-host pty, which asks through the control socket, or give the host a --token-file"}
	default:
		return f, false
	}
	return f, true
}

// stranger refuses who calls this machine by another name, and web pages.
func (g Guard) stranger(r *http.Request) (f Failure, refused bool) {
	origin := r.Header.Get("Origin")
	switch {
	case g.Loopback && !g.answersTo(r.Host):
		f = Failure{Code: codeDenied, Message: "the request is for the host " + quoted(r.Host) + ": only localhost and loopback addresses are answered here"}
	case origin != "" && !slices.Contains(g.Origins, origin):
		f = Failure{Code: codeDenied, Message: "the request comes from the web page " + quoted(origin) + ", which may not ask this host: list it with --allow-origin"}
	case origin == "" && isForeign(r.Header.Get("Sec-Fetch-Site")):
		f = Failure{Code: codeDenied, Message: "the request comes from a web page, which may not ask this host"}
	default:
		return f, false
	}
	return f, true
}

// isConfiguration tells whether a path is below the configuration of a plugin.
func isConfiguration(path string) bool {
	rest, ok := strings.CutPrefix(path, pathAPI+"/plugins/")
	return ok && slices.Contains(strings.Split(rest, "/")[1:], "config")
}

// answersTo tells whether the Host of a request is one of those that are answered.
func (g Guard) answersTo(host string) bool {
	name := host
	if at := strings.LastIndexByte(host, ':'); at >= 0 && isPort(host[at+1:]) {
		name = host[:at]
	}
	return isLoopbackHost(host) || slices.ContainsFunc(g.Hosts, func(known string) bool { return strings.EqualFold(known, name) })
}

func quoted(s string) string {
	if len(s) > 100 {
		s = s[:100] + "…"
	}
	return strings.ToValidUTF8("\""+s+"\"", "?")
}

// isForeign reads a browser's own word of where a request comes from; "none" is one
// that its user typed.
func isForeign(site string) bool { return site != "" && site != "none" && site != "same-origin" }

// knows compares tokens in a time that says nothing of them. The name of the scheme is of
// any case, as everywhere in HTTP.
func (g Guard) knows(authorization string) bool {
	if g.Token == "" {
		return true
	}
	token := authorization
	if scheme, rest, ok := strings.Cut(authorization, " "); ok && strings.EqualFold(scheme, "Bearer") {
		token = rest
	}
	given, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(g.Token))
	return subtle.ConstantTimeCompare(given[:], want[:]) == 1
}

// crossed lets the pages of listed origins read what they asked for by one of the
// methods; it tells whether the request was only the browser's question whether it may.
func (g Guard) crossed(w http.ResponseWriter, r *http.Request, methods string) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || !slices.Contains(g.Origins, origin) {
		return false
	}
	head := w.Header()
	head.Add("Vary", "Origin")
	head.Set("Access-Control-Allow-Origin", origin)
	if r.Method != http.MethodOptions {
		return false
	}
	head.Set("Access-Control-Allow-Methods", methods)
	head.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// isLoopbackHost tells whether the Host of a request names this machine's loopback, as RFC
// 9110 has it written. A page that was brought here by a name of its own, which it has let
// point to 127.0.0.1, has that name there.
func isLoopbackHost(host string) bool {
	name, port, hasPort := strings.Cut(host, ":")
	inner, bracketed := strings.CutPrefix(host, "[")
	if bracketed {
		var closed bool
		if name, port, closed = strings.Cut(inner, "]"); !closed {
			return false
		}
		if port, hasPort = strings.CutPrefix(port, ":"); !hasPort && port != "" {
			return false
		}
	}
	if hasPort && !isPort(port) {
		return false
	}
	if !bracketed && strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Is6() == bracketed && addr.Zone() == "" && addr.Unmap().IsLoopback()
}

// isPort tells whether a text may stand behind a host's colon; that may be nothing.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && text[0] != '+'
}
