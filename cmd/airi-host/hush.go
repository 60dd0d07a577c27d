package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/airi-host/airi-host/protocol"
)

// hush hides from logged frames what no name gives away: the secrets that were given
// out, and the configurations. It is there only while frames are logged, since nothing
// else keeps a secret.
type hush struct {
	mu    sync.Mutex
	texts map[string]struct{}
}

// newHush hides the configurations of the settings.
func newHush(s *settings) *hush {
	h := &hush{texts: map[string]struct{}{}}
	for _, plugin := range s.Plugins {
		h.config(plugin.Config)
		for _, config := range plugin.Companies {
			h.config(config)
		}
	}
	return h
}

// config hides a configuration, unless there is nothing in it.
func (h *hush) config(config json.RawMessage) {
	var compact bytes.Buffer
	if json.Compact(&compact, config) == nil && compact.Len() > len(`{}`) {
		h.hide(compact.String())
	}
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

// secret hides a text as Go writes it into JSON, and as others do.
func (h *hush) secret(text string) {
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always encodes
	escaped, _ := json.Marshal(text)
	for _, quoted := range []string{strings.TrimSuffix(plain.String(), "\n"), string(escaped)} {
		h.hide(quoted[1 : len(quoted)-1])
	}
}

func (h *hush) hide(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if text != "" {
		h.texts[text] = struct{}{}
	}
}

// over returns a frame's text without what is hidden. A nil hush hides nothing.
func (h *hush) over(text string) string {
	if h == nil {
		return text
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for hidden := range h.texts {
		text = strings.ReplaceAll(text, hidden, "[masked]")
	}
	return text
}
