package services

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxHeaders is how long the names and values of all headers of a request may be, in
// bytes.
const maxHeaders = 64 << 10

// request is one HTTP request as a plugin wants it.
type request struct {
	method string
	url    *url.URL
	header http.Header
	body   string
}

// request reads {url, init?: {method?, headers?, body?}}.
func (p *params) request(maxBody int) request {
	address, init := p.text("url"), p.object("init")
	r := request{method: method(init.optional("method")), body: init.optional("body"), header: init.headers()}
	if p.err != nil {
		return r
	}
	u, err := url.Parse(trim(address))
	switch {
	case err != nil:
		p.failf("url: expected an absolute URL with http: or https:")
	case unfetchable(u) != "":
		p.failf("url: %s", unfetchable(u))
	case len(r.body) > maxBody:
		p.failf("init.body: %d bytes are sent, and %d are the limit of a request", len(r.body), maxBody)
	case slices.Contains([]string{http.MethodConnect, http.MethodTrace, "TRACK"}, r.method):
		p.failf("init.method: expected any but CONNECT, TRACE and TRACK")
	}
	if err == nil {
		u.RawQuery = strings.ReplaceAll(u.RawQuery, " ", "%20") // as JavaScript's fetch sends it
	}
	r.url = u
	return r
}

// method is in upper case, as Node sends it; none is GET.
func method(s string) string {
	if s == "" {
		return http.MethodGet
	}
	return strings.ToUpper(s)
}

// hostsOwn are headers that the host sets by itself, from the URL and the body, or
// leaves out. A browser does not let them be set either.
var hostsOwn = map[string]bool{
	"Host": true, "Content-Length": true, "Transfer-Encoding": true, "Connection": true, "Keep-Alive": true,
	"Te": true, "Trailer": true, "Upgrade": true, "Expect": true, "Accept-Encoding": true,
	"Proxy-Authorization": true, "Proxy-Connection": true,
}

// headers reads {headers?: {NAME: VALUE}}. Which characters a name and a value may have
// is checked when they are sent.
func (p *params) headers() http.Header {
	header, size := http.Header{"User-Agent": {"airi-host"}}, 0
	if p.raw("headers") == nil {
		return header
	}
	in := p.object("headers")
	for _, name := range slices.Sorted(maps.Keys(in.members)) {
		value, ok := scalarText(in.members[name])
		if !ok {
			in.expected(cutBytes(name, 100), "a string, a number or a boolean")
		}
		if value, ok = toLatin1(value); !ok {
			in.expected(cutBytes(name, 100), "characters up to U+00FF, which are bytes in a header")
		}
		size += len(name) + len(value)
		switch canonical := http.CanonicalHeaderKey(trim(name)); {
		case hostsOwn[canonical]:
		case canonical == "User-Agent":
			header.Set(canonical, value)
		default:
			header.Add(name, value)
		}
	}
	if size > maxHeaders {
		p.failf("init.headers: %d bytes are sent, and %d are the limit", size, maxHeaders)
	}
	return header
}
