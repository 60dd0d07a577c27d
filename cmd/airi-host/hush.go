package main

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/airi-host/airi-host/protocol"
)

// hush hides from logged frames, and from what is kept of plugins' logs, what no name
// gives away: the secrets that were given out, and in frames the configurations. It is
// there only while one of both is done, since nothing else keeps a secret.
type hush struct {
	mu sync.Mutex
	// configs are whole values, as compact JSON; secrets are texts within strings.
	configs, secrets hidden
	// textOnly is for one that hides nothing in frames.
	textOnly bool
	// given are the secrets in the order in which they came, at most mostSecrets, each as it
	// may be written.
	given [][]string
	// peers are the configs that came from peers, the oldest first: as many as bounds has.
	peers  []string
	bounds guestConfigBounds
}

// mostSecrets is how many secrets are hidden: those that were given out last.
const mostSecrets = 1000

// hidden are texts, the longest first, so that one that begins another one hides no
// part of it alone.
type hidden []string

func (h *hidden) add(text string) {
	if text == "" || slices.Contains(*h, text) {
		return
	}
	*h = append(*h, text)
	slices.SortFunc(*h, func(a, b string) int { return len(b) - len(a) })
}

func (h hidden) over(text, with string) string {
	for _, one := range h {
		text = strings.ReplaceAll(text, one, with)
	}
	return text
}

// newHush hides the configurations of the settings.
func newHush(s *settings) *hush {
	h := &hush{bounds: s.guestConfigs()}
	for _, plugin := range s.Plugins {
		h.config(plugin.Config)
		for _, config := range plugin.Companies {
			h.config(config)
		}
	}
	return h
}

// config hides a configuration of the host's own plugins, unless there is nothing in it.
func (h *hush) config(config json.RawMessage) {
	text := h.compact(config)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.configs.add(text)
	h.peers = slices.DeleteFunc(h.peers, func(s string) bool { return s == text })
}

// peerConfig hides a configuration that a peer gave, or gave once, and forgets the oldest of
// peers where there are more than are kept.
func (h *hush) peerConfig(config json.RawMessage) {
	text := h.compact(config)
	h.mu.Lock()
	defer h.mu.Unlock()
	at := slices.Index(h.peers, text)
	switch {
	case at >= 0:
		h.peers = slices.Delete(h.peers, at, at+1)
	case text == "" || slices.Contains(h.configs, text):
		return
	}
	h.configs.add(text)
	h.peers = append(h.peers, text)
	for len(h.peers) > h.bounds.Plugins || totalLen(h.peers) > h.bounds.Bytes {
		oldest := h.peers[0]
		h.peers = slices.Delete(h.peers, 0, 1)
		h.configs = slices.DeleteFunc(h.configs, func(s string) bool { return s == oldest })
	}
}

func totalLen(texts []string) (total int) {
	for _, one := range texts {
		total += len(one)
	}
	return total
}

// compact is a configuration as it is hidden, "" where nothing is.
func (h *hush) compact(config json.RawMessage) string {
	var compact bytes.Buffer
	if h.textOnly || json.Compact(&compact, config) != nil || compact.Len() <= len(`{}`) {
		return ""
	}
	return compact.String()
}

// listen hides the secrets that a service gives out, before their frames are logged.
func (h *hush) listen(s protocol.Service) protocol.Service {
	return protocol.ServiceFunc(func(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
		result, err := s.Serve(ctx, c)
		var secret string
		if err == nil && json.Unmarshal(result, &secret) == nil {
			h.secret(secret)
		}
		return result, err
	})
}

// secret hides a text as it is, as Go writes it into JSON, and as others do.
func (h *hush) secret(text string) {
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always encodes
	escaped, _ := json.Marshal(text)
	forms := append(linesOf(text), text)
	for _, quoted := range []string{strings.TrimSuffix(plain.String(), "\n"), string(escaped)} {
		forms = append(forms, quoted[1:len(quoted)-1])
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remember(forms)
}

// The lines of a secret that are hidden by themselves: those that are long enough, in bytes, to
// be nobody else's words.
const (
	leastLine       = 12
	mostSecretLines = 64
)

// linesOf are the lines of a secret that has several, such as a key: a log has each in a
// record of its own.
func linesOf(text string) (lines []string) {
	if !strings.Contains(strings.TrimSpace(text), "\n") {
		return nil
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) >= leastLine && len(lines) < mostSecretLines {
			lines = append(lines, line)
		}
	}
	return lines
}

// remember hides a secret, and forgets the oldest where there are too many.
func (h *hush) remember(forms []string) {
	forms = slices.DeleteFunc(forms, func(s string) bool { return s == "" || slices.Contains(h.secrets, s) })
	if len(forms) == 0 {
		return
	}
	for _, one := range forms {
		h.secrets.add(one)
	}
	h.given = append(h.given, forms)
	if len(h.given) > mostSecrets {
		oldest := h.given[0]
		h.given = slices.Delete(h.given, 0, 1)
		h.secrets = slices.DeleteFunc(h.secrets, func(s string) bool { return slices.Contains(oldest, s) })
	}
}

// leastSecret is how long a secret is that is hidden in any text, in bytes: a shorter one
// would take others' words with it.
const leastSecret = 4

// cover hides secrets in a text. A nil hush hides none.
func (h *hush) cover(text string) string {
	if h == nil {
		return text
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	long := h.secrets
	for len(long) > 0 && len(long[len(long)-1]) < leastSecret {
		long = long[:len(long)-1]
	}
	return long.over(text, "[masked]")
}

// show returns a frame as it may be logged. A nil hush hides what the names of members
// give away, and nothing else.
func (h *hush) show(frame []byte) string {
	if h == nil {
		return mask(frame)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var compact bytes.Buffer
	if json.Compact(&compact, frame) == nil { // else it is not shown
		frame = []byte(h.configs.over(compact.String(), masked))
	}
	return h.secrets.over(mask(frame), "[masked]")
}
