package logs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"
)

// Record is one line of a plugin's log.
type Record struct {
	Time    time.Time  `json:"time"`
	Level   slog.Level `json:"level"`
	Plugin  string     `json:"plugin"`
	Session string     `json:"session,omitempty"`
	// Stream is where it came from: "log", "stdout" or "stderr"; "host" for what is said
	// of the file itself.
	Stream  string `json:"stream"`
	Message string `json:"message"`
	// Fields are what belongs to the message, a JSON object; nil for nothing.
	Fields json.RawMessage `json:"fields,omitempty"`
}

// The bounds of one record, in bytes.
const (
	maxMessage = 64 << 10
	maxFields  = 64 << 10
)

// encode makes a record a line.
func (r Record) encode() []byte {
	if len(r.Message) > maxMessage {
		r.Message = fmt.Sprintf("%s …(%d bytes cut)", strings.ToValidUTF8(r.Message[:maxMessage], ""), len(r.Message)-maxMessage)
	}
	if len(r.Fields) > maxFields || r.Fields != nil && !json.Valid(r.Fields) {
		r.Fields = fmt.Appendf(nil, `{"dropped_bytes":%d}`, len(r.Fields))
	}
	line, err := json.Marshal(r)
	if err != nil { // a time that no calendar has
		r.Time = time.Time{}
		line, _ = json.Marshal(r)
	}
	return append(line, '\n')
}

const (
	// ending ends the names of files.
	ending = ".log"
	// longestName is how long the name of a file may be without its ending, in bytes; a
	// longer one is cut, and told apart by a hash.
	longestName = 200
)

// baseName is the name of a plugin's file without its ending. No two plugins have the
// same, also where a file system takes capital letters for small ones.
func baseName(plugin string) string {
	var name strings.Builder
	for i := range len(plugin) {
		c := plugin[i]
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			name.WriteByte(c)
		default:
			fmt.Fprintf(&name, "%%%02X", c)
		}
	}
	if name.Len() > longestName {
		hash := sha256.Sum256([]byte(plugin))
		return name.String()[:longestName/2] + "%~" + hex.EncodeToString(hash[:16])
	}
	return name.String()
}

// aFile is what the names of files look like: of the plugin, and of how many files are
// newer.
var aFile = regexp.MustCompile(`^(.+)\.log(?:\.([1-9]\d*))?$`)
