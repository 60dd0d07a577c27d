package admin

import "net/http"

// endpointRefusal says why a request to a plugin is refused. What is public is for
// everybody but web pages, which may only lead a browser there, as a link or the end of a
// sign-in elsewhere does; all else takes the token. Where there is none, and any user of
// the machine may ask, nobody can show that it is for him: what is there is refused then,
// and what is not there is said to be not there.
func (g Guard) endpointRefusal(r *http.Request, public, there bool) (f Failure, refused bool) {
	if !g.Loopback && !g.Open && g.Token == "" {
		return f, false
	}
	f, refused = g.stranger(r)
	if mayVisit := public && g.isVisit(r); refused && !mayVisit {
		return f, true
	}
	asks := r.Method == http.MethodOptions && r.Header.Get("Origin") != "" // a browser, which shows no token; see crossed
	switch {
	case public || asks:
		return Failure{}, false
	case !g.knows(r.Header.Get("Authorization")):
		return Failure{Code: codeUnauthorized, Message: "this is not for everybody: expected the header \"Authorization: Bearer TOKEN\", with the token of the host's --token-file"}, true
	case g.Token == "" && there:
		return Failure{Code: codeDenied, Message: "the plugin does not offer this to everybody, and every user of this machine may ask here: " +
			"give the host a --token-file, ask through the control socket, or use airi-host call"}, true
	}
	return Failure{}, false
}

// isVisit tells whether a browser opens the address as a page of its own, by a name that
// is this machine's. The page that led there can read nothing of it.
func (g Guard) isVisit(r *http.Request) bool {
	head := r.Header
	return (!g.Loopback || g.answersTo(r.Host)) && head.Get("Origin") == "" &&
		(r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		head.Get("Sec-Fetch-Mode") == "navigate" && head.Get("Sec-Fetch-Dest") == "document"
}

// proven tells whether a request is certainly the operator's: it came through the control
// socket, or has the token.
func (g Guard) proven(r *http.Request) bool {
	if g.Token == "" {
		return !g.Loopback && !g.Open
	}
	return g.knows(r.Header.Get("Authorization"))
}
