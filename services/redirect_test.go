package services

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func requestTo(t *testing.T, method, address string) request {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return request{method: method, url: u, body: "b", header: http.Header{
		"Authorization": {"secret"}, "Cookie": {"secret"}, "Content-Type": {"text/plain"}, "X-A": {"1"},
	}}
}

func TestRedirect_methodAndBodyAreThoseOfFetch(t *testing.T) {
	for _, row := range []struct {
		status        int
		method, after string
		keepsBody     bool
	}{
		{301, "POST", "GET", false},
		{301, "PUT", "PUT", true},
		{302, "POST", "GET", false},
		{302, "DELETE", "DELETE", true},
		{303, "POST", "GET", false},
		{303, "PUT", "GET", false},
		{303, "HEAD", "HEAD", true},
		{307, "POST", "POST", true},
		{308, "PUT", "PUT", true},
	} {
		before := requestTo(t, row.method, "https://a.example/x/y?q=1")
		next, ok, err := before.redirected(row.status, "../z")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, row.after, next.method)
		require.Equal(t, "https://a.example/z", next.url.String())
		require.Equal(t, row.keepsBody, next.body == "b", row)
		require.Equal(t, row.keepsBody, next.header.Get("Content-Type") != "", row)
		require.Equal(t, "secret", next.header.Get("Authorization"))
		require.Equal(t, "1", next.header.Get("X-A"))
		require.Len(t, before.header, 4, "the one before is as it was")
	}
}

func TestRedirect_otherAnswersAreAnswers(t *testing.T) {
	r := requestTo(t, "GET", "https://a.example/")
	for _, status := range []int{200, 204, 300, 304, 305, 306, 404} {
		_, ok, err := r.redirected(status, "/elsewhere")
		require.NoError(t, err)
		require.False(t, ok, status)
	}
	_, ok, err := r.redirected(302, "")
	require.NoError(t, err)
	require.False(t, ok, "it leads nowhere")
}

func TestRedirect_whatProvesWhoAsksStaysAtItsOrigin(t *testing.T) {
	for to, kept := range map[string]bool{
		"https://A.example:443/z": true,
		"http://a.example/z":      false,
		"https://a.example:444/z": false,
		"https://b.a.example/z":   false,
		"//b.example/z":           false,
	} {
		before := requestTo(t, "GET", "https://a.example/")
		next, _, err := before.redirected(302, to)
		require.NoError(t, err)
		require.Equal(t, kept, next.header.Get("Authorization") != "", to)
		require.Equal(t, kept, next.header.Get("Cookie") != "", to)
		require.Equal(t, "1", next.header.Get("X-A"))
		require.Equal(t, "secret", before.header.Get("Authorization"))
		back, _, err := next.redirected(302, "https://a.example/")
		require.NoError(t, err)
		require.Equal(t, kept, back.header.Get("Authorization") != "", "and does not come back")
	}
}

func TestRedirect_someLeadNowhere(t *testing.T) {
	for to, words := range map[string]string{
		"ftp://a.example/":                     "expected an absolute URL with http: or https:",
		"file:///etc/passwd":                   "expected an absolute URL with http: or https:",
		"https://user:pw@a.example/":           "expected none with a user or a password",
		"https:///x":                           "expected a host",
		"https://a.example:x/secret":           "no URL",
		"http://airi-host.invalid/invoke/k":    "which only a plugin itself may call",
		"http://AIRI-HOST.invalid.:80/invoke/": "which only a plugin itself may call",
	} {
		_, ok, err := requestTo(t, "POST", "https://a.example/").redirected(307, to)
		require.ErrorContains(t, err, words, to)
		require.NotContains(t, err.Error(), "secret")
		require.NotContains(t, err.Error(), "pw")
		require.False(t, ok)
	}
}
