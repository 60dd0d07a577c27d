package eliza

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"math"
	"strconv"

	"github.com/airi-host/airi-host/protocol"
)

// Sign returns the signature of a call: the lower-case hexadecimal HMAC-SHA256, under
// the key, of its [Canonical] text. It covers the request's id, the surface, the target
// and the args, and nothing else.
func Sign(key []byte, r RPC) (json.RawMessage, error) {
	mac, _, err := newSigner(key).sign(nil, r)
	return mac, err
}

// signer signs one call after the other with one key.
type signer struct {
	mac hash.Hash
	out [sha256.Size]byte
	// text holds the last text, to be written over.
	text canon
}

func newSigner(key []byte) *signer { return &signer{mac: hmac.New(sha256.New, key)} }

// sign appends the signature of a call. isLine tells that the args hold no line break
// between tokens; that they are JSON is certain, else it fails.
func (s *signer) sign(dst []byte, r RPC) (mac json.RawMessage, isLine bool, err error) {
	sum, isLine, err := s.sum(r)
	if err != nil {
		return nil, false, err
	}
	return append(hex.AppendEncode(append(dst, '"'), sum), '"'), isLine, nil
}

// keptText is how long a text may be whose memory is used again.
const keptText = 256 << 10

// sum is good until the next one.
func (s *signer) sum(r RPC) (sum []byte, isLine bool, err error) {
	s.text.dst = s.text.dst[:0]
	if err := s.text.call(r); err != nil {
		return nil, false, err
	}
	isLine = !s.text.Broken
	s.mac.Reset()
	_, _ = s.mac.Write(s.text.dst) // never fails
	s.text.Scanner = protocol.Scanner{}
	if cap(s.text.dst) > keptText {
		s.text = canon{}
	}
	return s.mac.Sum(s.out[:0]), isLine, nil
}

// verify tells whether a call is signed with the key.
func (s *signer) verify(r RPC) bool {
	mac, ok := macBytes(r.MAC)
	if !ok {
		return false
	}
	sum, _, err := s.sum(r)
	return err == nil && hmac.Equal(sum, mac)
}

// Verify tells whether a call is signed with the key. It never fails otherwise,
// whatever the call holds.
func Verify(key []byte, r RPC) bool { return newSigner(key).verify(r) }

// macBytes reads a signature as the reference does: hexadecimal digits of either case,
// at least one pair.
func macBytes(raw json.RawMessage) ([]byte, bool) {
	digits, ok := text(raw)
	if !ok || digits == "" {
		return nil, false
	}
	mac, err := hex.DecodeString(digits)
	return mac, err == nil
}

// DefaultReplayWindow is how many calls a [Worker] may get out of order, where its
// settings say nothing.
const DefaultReplayWindow = 1024

// replays remembers which signed calls came, so that none counts twice: the reference
// takes one again for ever. A host numbers its calls upwards, so the newest number and
// a window of those below it are enough; what is older is refused.
type replays struct {
	size   uint64
	newest uint64
	// seen has a bit for each number of the window, by number modulo size.
	seen []uint64
}

func newReplays(window int) replays {
	if window <= 0 {
		window = DefaultReplayWindow
	}
	size := (uint64(window) + 63) / 64 * 64
	return replays{size: size, seen: make([]uint64, size/64)}
}

// take tells whether a call that is rightly signed is a new one, and remembers it. Its
// id must be a whole number from 1 to 2^53-1, however it is written: the signature
// does not tell 7 from "7".
func (w *replays) take(id json.RawMessage) bool {
	n, err := strconv.ParseUint(textOf(id), 10, 64)
	if err != nil || n == 0 || n >= 1<<53 || n+w.size <= w.newest {
		return false
	}
	if n > w.newest {
		w.forget(n)
		w.newest = n
	}
	at := n % w.size
	if w.seen[at/64]&(1<<(at%64)) != 0 {
		return false
	}
	w.seen[at/64] |= 1 << (at % 64)
	return true
}

// forget clears the bits of the numbers between the newest one and n.
func (w *replays) forget(n uint64) {
	for i := range min(n-w.newest, w.size, math.MaxInt32) {
		at := (n - i) % w.size
		w.seen[at/64] &^= 1 << (at % 64)
	}
}
