package peers

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
)

// The sets there are.
const (
	// Paperclip is release 2026.824.1 of Paperclip's SDK and worker manager.
	Paperclip = "paperclip"
	// Paperclip916 is release 2026.916.1, with duplex channels and shared logins.
	Paperclip916 = "paperclip-916"
	// EventaA14, EventaB11 and EventaB14 are releases of Eventa as AIRI modules bring
	// them: 1.0.0-alpha.14, which AIRI pinned in March 2026, beta.11, the last of the
	// older outer frame, and beta.14, the newest there is.
	EventaA14 = "eventa-a14"
	EventaB11 = "eventa-b11"
	EventaB14 = "eventa-b14"
	// AIRISDK is AIRI's published websocket client, 0.8.4, the superjson that it brings, and ws.
	AIRISDK = "airi-sdk"
	// BunRuntime is Bun 1.4.5, in which elizaOS runs its workers.
	BunRuntime = "bun"
)

//go:embed all:sets
var sets embed.FS

// set is what is installed together.
type set struct {
	name  string
	files fs.FS
	// hash is of all its files and their names.
	hash     string
	archives []archive
}

// archive is a package of which only some files are taken.
type archive struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Integrity is "sha512-" and the base64 of the archive's hash.
	Integrity string   `json:"integrity"`
	Files     []string `json:"files"`
}

// openSet reads what a set is made of.
func openSet(name string) (set, error) {
	files, err := fs.Sub(sets, path.Join("sets", name))
	if err != nil {
		return set{}, err
	}
	text, err := fs.ReadFile(files, "package.json")
	if err != nil {
		return set{}, fmt.Errorf("there is no set %q: expected a folder of peers/sets", name)
	}
	var described struct {
		Archives []archive `json:"archives"`
	}
	if err := json.Unmarshal(text, &described); err != nil {
		return set{}, fmt.Errorf("set %s: package.json: %w", name, err)
	}
	hash, err := hashOf(files)
	return set{name: name, files: files, hash: hash, archives: described.Archives}, err
}

// hashOf is a name for what a tree holds.
func hashOf(files fs.FS) (string, error) {
	h := sha256.New()
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n", name, len(text))
		_, err = h.Write(text)
		return err
	})
	return hex.EncodeToString(h.Sum(nil))[:20], err
}
