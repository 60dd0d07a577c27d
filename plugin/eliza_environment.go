package plugin

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What an elizaOS host sets in the environment of a worker in a process of its own.
const (
	// elizaChannel is elizaStdio, or something else for a worker in a thread of Bun's.
	elizaChannel  = "ELIZA_REMOTE_PLUGIN_CHANNEL"
	elizaStdio    = "stdio"
	elizaID       = "ELIZA_REMOTE_PLUGIN_ID"
	elizaStateDir = "ELIZA_REMOTE_PLUGIN_STATE_DIR"
)

// elizaKeyFile is where a host of this project leaves the key of its calls.
const elizaKeyFile = "rpc.key"

// fromEnvironment adds what the host tells by the environment.
func (o ElizaOptions) fromEnvironment() (ElizaOptions, error) {
	o.Name = cmp.Or(o.Name, os.Getenv(elizaID))
	dir := os.Getenv(elizaStateDir)
	if o.Key != nil || dir == "" {
		return o, nil
	}
	key, err := readKey(filepath.Join(dir, elizaKeyFile))
	o.Key = key
	return o, err
}

// readKey reads a key; where there is no such file the host signs nothing.
func readKey(file string) ([]byte, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the host names it
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the key of the host's calls: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != sha256.Size {
		return nil, fmt.Errorf("the key of the host's calls: %s: expected %d hexadecimal digits, got %d bytes that are not", file, 2*sha256.Size, len(text))
	}
	return key, nil
}
