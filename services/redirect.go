package services

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// redirected returns the request that an answer leads to, by the rules of JavaScript's
// fetch; ok is false where the answer is no redirect.
func (r request) redirected(status int, location string) (next request, ok bool, err error) {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound:
		if r.method == http.MethodPost {
			r = r.asGet()
		}
	case http.StatusSeeOther:
		if r.method != http.MethodHead {
			r = r.asGet()
		}
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return r, false, nil
	}
	if location == "" {
		return r, false, nil
	}
	to, err := r.url.Parse(location)
	if err != nil {
		return r, false, errors.New("it redirects to what is no URL")
	}
	if why := unfetchable(to); why != "" {
		return r, false, errors.New("it redirects to a URL that is not followed: " + why)
	}
	if isReserved(to) {
		return r, false, errors.New("it redirects to " + reservedHost + ", which only a plugin itself may call")
	}
	return r.to(to), true, nil
}

// asGet drops the body, and the headers that tell about it.
func (r request) asGet() request {
	r.method, r.body = http.MethodGet, ""
	r.header = r.header.Clone()
	for _, name := range []string{"Content-Encoding", "Content-Language", "Content-Location", "Content-Type"} {
		r.header.Del(name)
	}
	return r
}

// to is the same request at another URL. What proves who asks does not go to another
// origin, nor back from there.
func (r request) to(u *url.URL) request {
	if origin(u) != origin(r.url) {
		r.header = r.header.Clone()
		r.header.Del("Authorization")
		r.header.Del("Cookie")
	}
	r.url = u
	return r
}

// origin is a URL's scheme, host and port.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// unfetchable says why a URL is not fetched, or "". It quotes nothing of it but the
// scheme: the rest may hold secrets.
func unfetchable(u *url.URL) string {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "expected an absolute URL with http: or https:"
	case u.Hostname() == "":
		return "expected a host"
	case u.User != nil:
		return "expected none with a user or a password: send an authorization header"
	}
	return ""
}
