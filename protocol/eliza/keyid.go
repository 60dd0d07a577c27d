package eliza

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// KeyID names a key: whose it is, what it is for, and which version of it.
type KeyID struct {
	// Scope is "system", "org" or "user"; Owner is the organization or the user.
	Scope, Owner string
	Purpose      string
	// Version counts from 1.
	Version int
}

// RPCKeyID returns the id of the key that signs the calls of a plugin,
// "system:plugin-rpc-NAME/v1". Different plugins can come to one id (a.b and a-b), so
// that it must not be the only thing that tells their keys apart.
func RPCKeyID(plugin string) (string, error) {
	var safe strings.Builder
	for _, r := range strings.Map(unicode.ToLower, plugin) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			safe.WriteRune(r)
		case safe.Len() > 0 && !strings.HasSuffix(safe.String(), "-"):
			safe.WriteByte('-')
		}
	}
	name := strings.TrimSuffix(safe.String(), "-")
	if name == "" {
		return "", errors.New("Remote plugin id must contain at least one letter or digit.") //nolint:revive,staticcheck // the reference's words
	}
	return "system:plugin-rpc-" + name + "/v1", nil
}

var keyForm = regexp.MustCompile(`^([a-z]+):([^/]+)/(?:(.+)/)?v(\d+)$`)

// purposes are what keys of an organization or a user are for.
var purposes = map[string]string{"org": "dek", "user": "connector"}

// ParseKeyID reads the id of a key. Errors are in the reference's words.
func ParseKeyID(id string) (KeyID, error) {
	m := keyForm.FindStringSubmatch(id)
	if m == nil {
		return KeyID{}, fmt.Errorf("malformed key id: %s", id)
	}
	k := KeyID{Scope: m[1]}
	switch k.Scope {
	case "system":
		k.Purpose = m[2]
	case "org", "user":
		k.Owner, k.Purpose = m[2], m[3]
		if k.Purpose != purposes[k.Scope] {
			return KeyID{}, fmt.Errorf("malformed %s key id: %s", k.Scope, id)
		}
	default:
		return KeyID{}, fmt.Errorf("malformed key id: %s", id)
	}
	version, err := strconv.Atoi(m[4])
	if err != nil || version < 1 {
		return KeyID{}, fmt.Errorf("invalid key version: %s", m[4])
	}
	k.Version = version
	return k, nil
}
