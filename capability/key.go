package capability

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxKey is how long a key may be, in bytes.
const MaxKey = 512

// Kind is the part of a key that says what goes in, what comes out, and what it
// means when several owners offer the same key.
type Kind string

// The kinds. Any other key, such as AIRI's "proj-airi:plugin-sdk:…", is taken as it
// is and has the kind "".
const (
	// KindTool takes a parameters object and gives content, data, or both.
	KindTool Kind = "tool"
	// KindModel takes a model's params and gives anything, in chunks perhaps.
	KindModel Kind = "model"
	// KindService takes an array of arguments and gives anything.
	KindService Kind = "service"
	// KindAction takes a message, a state and options; callbacks come meanwhile.
	KindAction Kind = "action"
	// KindProvider takes a message and a state and gives text, values and data.
	KindProvider Kind = "provider"
	// KindEvaluator takes a message and a state and gives anything.
	KindEvaluator Kind = "evaluator"
	// KindData takes a params object and gives anything. One owner at a time.
	KindData Kind = "data"
	// KindJob runs when it is triggered and gives nothing. One owner at a time.
	KindJob Kind = "job"
	// KindWebhook takes a received HTTP request. One owner at a time.
	KindWebhook Kind = "webhook"
	// KindHTTP answers "METHOD /path" below the path of its plugin, so that an
	// owner is always named. Its name is e.g. "GET /hello".
	KindHTTP Kind = "http"
	// KindEvent is a subscription: all owners hear the event, none answers.
	KindEvent Kind = "event"
	// KindEnvironment is a hook of an environment driver. One owner at a time.
	KindEnvironment Kind = "environment"
)

// Kinds lists the kinds, in the order of their constants.
func Kinds() []Kind {
	return []Kind{
		KindTool, KindModel, KindService, KindAction, KindProvider, KindEvaluator,
		KindData, KindJob, KindWebhook, KindHTTP, KindEvent, KindEnvironment,
	}
}

// Key names a capability: "<kind>:<name>", e.g. "tool:greet" or "http:GET /hello",
// or an ecosystem's own key as it is. Keys are compared exactly, byte by byte.
type Key string

// Kind returns the kind, or "" for a key that is taken as it is.
func (k Key) Kind() Kind {
	head, _, found := strings.Cut(string(k), ":")
	if !found {
		return ""
	}
	switch kind := Kind(head); kind {
	case KindTool, KindModel, KindService, KindAction, KindProvider, KindEvaluator,
		KindData, KindJob, KindWebhook, KindHTTP, KindEvent, KindEnvironment:
		return kind
	default:
		return ""
	}
}

// Is tells whether the kind is that one.
func (k Key) Is(kind Kind) bool {
	n := len(kind)
	return len(k) > n && k[n] == ':' && Kind(k[:n]) == kind
}

// Name returns what follows the kind, or the whole key where there is no kind.
func (k Key) Name() string {
	if kind := k.Kind(); kind != "" {
		return string(k[len(kind)+len(":"):])
	}
	return string(k)
}

// Validate says what is wrong with a key, and nil if nothing is. A key is text
// without control characters, not blank, at most [MaxKey] bytes, and has a name if
// it has a kind.
func (k Key) Validate() error {
	switch {
	case k.isPlain():
		return nil
	case k == "":
		return errors.New(`a capability's key is empty: expected "<kind>:<name>", e.g. "tool:greet"`)
	case len(k) > MaxKey:
		return fmt.Errorf("capability key %.40q… is %d bytes long: at most %d are allowed", string(k), len(k), MaxKey)
	case !utf8.ValidString(string(k)):
		return fmt.Errorf("capability key %q is not valid UTF-8", string(k))
	case strings.ContainsFunc(string(k), unicode.IsControl):
		return fmt.Errorf("capability key %q has a control character: use printable text", string(k))
	case blank(string(k)):
		return fmt.Errorf(`capability key %q is blank: expected "<kind>:<name>", e.g. "tool:greet"`, string(k))
	case blank(k.Name()):
		return fmt.Errorf("capability key %q has no name: expected one after %q", string(k), k.Kind()+":")
	}
	return nil
}

// isPlain tells that the key is short, and printable ASCII without a space, and that it does
// not end with a kind: most are, and there is nothing else to look for.
func (k Key) isPlain() bool {
	if len(k) == 0 || len(k) > plainKey || k[len(k)-1] == ':' {
		return false
	}
	for i := range len(k) {
		if k[i] <= ' ' || k[i] > '~' {
			return false
		}
	}
	return true
}

// plainKey is how long a key is, at most, that is looked at byte by byte first.
const plainKey = 64

func blank(s string) bool { return strings.TrimSpace(s) == "" }
