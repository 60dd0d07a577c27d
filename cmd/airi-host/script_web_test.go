package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// What scripts say over HTTP, and hear.

// listening is how a host says where it does.
var listening = regexp.MustCompile(`listening on (http://\S+)\n`)

// ask asks the host whose standard output is in a file over HTTP, and prints the answer:
// its status, its headers, an empty line, its body.
func ask(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: http OUT METHOD PATH [NAME:VALUE …]")
	}
	var base string
	eventually(ts, args[0]+" says where the host listens", func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		if m := listening.FindSubmatch(text); err == nil && m != nil {
			base = string(m[1])
		}
		return base != ""
	})
	var body io.Reader
	if args[1] == http.MethodPost {
		body = strings.NewReader(`{"n":1}`)
	}
	r, err := http.NewRequest(args[1], base+args[2], body)
	ts.Check(err)
	for _, header := range args[3:] {
		name, value, _ := strings.Cut(header, ":")
		r.Header.Set(name, strings.TrimSpace(value))
	}
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	ts.Check(err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	ts.Check(err)
	out := ts.Stdout()
	_, _ = fmt.Fprintln(out, answer.StatusCode)
	for _, name := range slices.Sorted(maps.Keys(answer.Header)) {
		_, _ = fmt.Fprintf(out, "%s: %s\n", name, strings.Join(answer.Header[name], ", "))
	}
	_, _ = fmt.Fprintf(out, "\n%s\n", text)
}

// collector is an OpenTelemetry collector that keeps what it is sent.
type collector struct {
	mu   sync.Mutex
	sent []string
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(body))
}

// collects starts a collector whose URL takes the place of COLLECTOR in files.
func (c *collector) collects(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: collector FILE …")
	}
	server := httptest.NewServer(c)
	ts.Defer(server.Close)
	for _, file := range args {
		text := strings.ReplaceAll(ts.ReadFile(file), "COLLECTOR", server.URL)
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o600))
	}
}

// collected waits until the collector was sent something that matches.
func (c *collector) collected(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: collected TEXT")
	}
	want, err := regexp.Compile("(?s)" + args[0])
	ts.Check(err)
	eventually(ts, "the collector was sent "+args[0], func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.ContainsFunc(c.sent, want.MatchString)
	})
}

// eventually waits until something is so.
func eventually(ts *testscript.TestScript, what string, is func() bool) {
	again, late := time.NewTicker(5*time.Millisecond), time.After(patience)
	defer again.Stop()
	for !is() {
		select {
		case <-again.C:
		case <-late:
			ts.Fatalf("it is not so: %s", what)
		}
	}
}
