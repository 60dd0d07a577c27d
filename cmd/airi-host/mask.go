package main

import (
	"bytes"
	"encoding/json"
	"strings"
)

// masked stands where a secret was.
const masked = `"[masked]"`

// unmaskable stands where a frame was that cannot be looked through.
const unmaskable = "[not JSON: not shown]"

// secretNames are what the names of members that may hold secrets contain, in small
// letters without signs.
var secretNames = []string{
	"token", "secret", "password", "passwd", "passphrase", "authorization", "apikey", "accesskey", "privatekey",
	"credential", "cookie",
}

// configNames are the members that carry a configuration, which may hold anything.
var configNames = []string{"full", "patch", "config"}

// isSecret tells whether the value of a member of that name is to be masked.
func isSecret(name string) bool {
	plain := strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_. ", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
	for _, config := range configNames {
		if plain == config {
			return true
		}
	}
	for _, secret := range secretNames {
		if strings.Contains(plain, secret) {
			return true
		}
	}
	return false
}

// mask returns a JSON frame in which the values of members that may be secret are
// replaced, whatever they are, at every depth. All else stays as it was written, but
// for blanks. What is not JSON is not shown.
func mask(frame []byte) string {
	m := masker{frame: frame, dec: json.NewDecoder(bytes.NewReader(frame))}
	m.dec.UseNumber() // no number is too large
	if err := m.value(); err != nil {
		return unmaskable
	}
	return m.out.String()
}

// masker copies one JSON value token by token.
type masker struct {
	frame []byte
	dec   *json.Decoder
	out   bytes.Buffer
}

func (m *masker) value() error {
	token, err := m.token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		return m.items(m.member)
	case json.Delim('['):
		return m.items(m.value)
	}
	return nil
}

// token copies the next token as it is written.
func (m *masker) token() (json.Token, error) {
	from := m.dec.InputOffset()
	token, err := m.dec.Token()
	if err == nil {
		m.out.Write(bytes.TrimLeft(m.frame[from:m.dec.InputOffset()], " \t\r\n,:"))
	}
	return token, err
}

// items copies what an object or array holds, each item by one, and its end.
func (m *masker) items(one func() error) error {
	for first := true; m.dec.More(); first = false {
		if !first {
			m.out.WriteByte(',')
		}
		if err := one(); err != nil {
			return err
		}
	}
	_, err := m.token()
	return err
}

func (m *masker) member() error {
	name, err := m.token()
	if err != nil {
		return err
	}
	m.out.WriteByte(':')
	if text, ok := name.(string); !ok || !isSecret(text) {
		return m.value()
	}
	m.out.WriteString(masked)
	var secret json.RawMessage
	return m.dec.Decode(&secret)
}
