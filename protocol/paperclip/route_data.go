package paperclip

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"math"
	"strconv"

	"github.com/airi-host/airi-host/protocol"
)

// routeNote is a notification of a route.
type routeNote struct {
	wire   wireRoute // of a channel either form
	isExit bool
}

var routeNotes = map[string]routeNote{
	"setupTokenPty.output": {wire: setupTokenPTY}, "setupTokenPty.exit": {wire: setupTokenPTY, isExit: true},
	"loginPty.output": {wire: loginPTY}, "loginPty.exit": {wire: loginPTY, isExit: true},
	"duplexChannel.data": {wire: duplexBase64}, "duplexChannel.exit": {wire: duplexBase64, isExit: true},
}

// note is a notification of a route as it stands on the wire; its parts are the frame's.
type note struct {
	name, session []byte
	chunk         json.RawMessage
	isExit        bool
	exit          protocol.Exit
}

func readNote(n Notification, isExit bool) note {
	f := note{isExit: isExit}
	protocol.EachMember(n.Params, func(key, value []byte) {
		switch string(key) {
		case "hostRouteId":
			f.name = trimmed(value)
		case "workerSessionId":
			f.session = trimmed(value)
		case "chunk":
			f.chunk = value
		case "exitCode":
			f.exit.Code, f.exit.HasCode = exitCode(value)
		case "transportClosed":
			f.exit.Lost = string(value) == "true"
		}
	})
	return f
}

// exitCode reads a number.
func exitCode(value json.RawMessage) (code int, ok bool) {
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || math.Abs(f) > math.MaxInt32 {
		return 0, false
	}
	return int(f), true
}

// routeNoted takes a notification of a route.
func (d *driver) routeNoted(kind routeNote, n Notification, out []protocol.Effect) []protocol.Effect {
	f := readNote(n, kind.isExit)
	switch {
	case d.routes.isRetired:
		return append(out, protocol.Drop(DroppedRoute, n.Method))
	case kind.wire.isDuplex():
		return d.channelNoted(n.Method, f, out)
	}
	r := d.routes.terminal
	if kind.wire == loginPTY {
		r, out = d.login(f, out)
	}
	switch {
	case r == nil:
		return append(out, protocol.Drop(DroppedRoute, n.Method))
	case r.phase == routeOpening:
		return d.holdTerminal(r, f, out)
	case r.phase != routeOpen:
		return append(out, protocol.Drop(DroppedRouteLate, n.Method))
	case string(f.session) != r.session:
		return append(out, protocol.Drop(DroppedRoute, n.Method))
	}
	return d.pass(r, r.read(f), out)
}

// login finds the pseudo-terminal that a notification is for. Old builds of plugins do not
// name it; that is understood while there is one only, and told once.
func (d *driver) login(f note, out []protocol.Effect) (*route, []protocol.Effect) {
	v := &d.routes
	if len(f.name) > 0 {
		if r := v.byName[string(f.name)]; r != nil && r.wire == loginPTY {
			return r, out
		}
		return nil, out
	}
	if v.logins != 1 {
		return nil, out
	}
	if !v.isWarned {
		v.isWarned = true
		out = append(out, protocol.Logged{
			Level:   slog.LevelWarn,
			Message: "login pseudo-terminal message has no hostRouteId; the plugin build is too old",
		})
	}
	for _, r := range v.byName {
		if r.wire == loginPTY && (r.phase == routeOpening || r.phase == routeOpen) {
			return r, out
		}
	}
	return nil, out
}

// channelNoted takes a notification of a channel. Only the pair of both names says whose it
// is; a worker that uses a pair that it was not given is not trusted any more.
func (d *driver) channelNoted(method string, f note, out []protocol.Effect) []protocol.Effect {
	if len(f.name) > 0 && len(f.session) > 0 {
		r := d.routes.byName[string(f.name)]
		isChannel := r != nil && r.wire.isDuplex()
		switch {
		case isChannel && r.phase == routeOpen && string(f.session) == r.session:
			return d.pass(r, r.read(f), out)
		case d.routes.isPast(f):
			return append(out, protocol.Drop(DroppedRouteLate, method))
		case isChannel && r.phase == routeOpening:
			return d.holdChannel(r, f, out)
		case isChannel && r.phase == routeClosing && r.session == "": // given up before its session was known
			return append(out, protocol.Drop(DroppedRouteLate, method))
		}
	}
	return d.violation(method, out)
}

func (v *routes) isPast(f note) bool {
	if len(v.past) == 0 {
		return false
	}
	_, ok := v.past[pair{string(f.name), string(f.session)}]
	return ok
}

func (d *driver) violation(method string, out []protocol.Effect) []protocol.Effect {
	return d.retire(protocol.CodeWire, method+" came for a channel that is not its own: expected a hostRouteId and its workerSessionId, as they were given", out)
}

// piece is a chunk as it was read.
type piece struct {
	data []byte
	// size is its length by the limits on chunks and on what is held: in UTF-16 units, or
	// in bytes for base64.
	size int
	// isBad tells that it is malformed, isLong that it is too long to be looked at.
	isBad, isLong bool
}

// read decodes a notification for a route.
func (r *route) read(f note) frame {
	if f.isExit {
		return frame{isExit: true, exit: f.exit}
	}
	if wordsOf[r.wire].isBase64 {
		return frame{piece: decodeBase64(f.chunk, r.limits.Chunk)}
	}
	return frame{piece: decodeChunk(f.chunk, r.limits.Chunk)}
}

// decodeChunk reads a chunk that is a string. Nothing of the frame is kept.
func decodeChunk(literal json.RawMessage, limit int) piece {
	if len(literal) <= len(`""`) || literal[0] != '"' {
		return piece{isBad: true}
	}
	size := protocol.TextUnits(literal)
	if size > limit {
		return piece{isLong: true}
	}
	return piece{data: protocol.DecodeText(make([]byte, 0, len(literal)-len(`""`)), literal), size: size}
}

// decodeBase64 reads a chunk that is base64 in its one canonical form.
func decodeBase64(literal json.RawMessage, limit int) piece {
	if len(literal) <= len(`""`) || literal[0] != '"' {
		return piece{isBad: true}
	}
	encoded := []byte(literal[1 : len(literal)-1])
	if base64.StdEncoding.DecodedLen(len(encoded)) > 6*(limit+3) { // however it is escaped
		return piece{isLong: true}
	}
	if bytes.IndexByte(encoded, '\\') >= 0 {
		encoded = protocol.TextOf(literal)
	}
	data := make([]byte, base64.StdEncoding.DecodedLen(len(encoded)))
	n, err := base64.StdEncoding.Strict().Decode(data, encoded)
	switch {
	case err != nil || n == 0 || base64.StdEncoding.EncodedLen(n) != len(encoded): // Go passes over line breaks
		return piece{isBad: true}
	case n > limit:
		return piece{isLong: true}
	}
	return piece{data: data[:n:n], size: n}
}

// pass hands on what came for an open route.
func (d *driver) pass(r *route, f frame, out []protocol.Effect) []protocol.Effect {
	if f.isExit {
		return d.exitRoute(r, f.exit, out)
	}
	isDuplex := r.wire.isDuplex()
	weight := f.size
	if isDuplex {
		weight = len(f.data)
	}
	switch {
	case isDuplex && f.isBad:
		return d.faulty(r, out)
	case isDuplex && f.isLong:
		return d.endRoute(r, d.overLimit("one chunk", r.limits.Chunk, "chunk"), out)
	case f.isBad || f.isLong:
		return append(out, protocol.Drop(DroppedRouteChunk, wordsOf[r.wire].data))
	case r.total+weight > r.limits.Total:
		return d.endRoute(r, d.overLimit("all that came", r.limits.Total, "total"), out)
	}
	r.total += weight
	if r.reading {
		return append(out, protocol.Chunk{ID: r.id, Data: f.data})
	}
	return d.keep(r, f.piece, out)
}

// faulty counts a malformed chunk of a channel.
func (d *driver) faulty(r *route, out []protocol.Effect) []protocol.Effect {
	r.faults++
	out = append(out, protocol.Drop(DroppedRouteFault, wordsOf[r.wire].data))
	if r.faults > r.limits.Faults {
		return d.endRoute(r, d.overLimit("malformed chunks", r.limits.Faults, "faults"), out)
	}
	return out
}

// keep keeps a chunk until there is a reader.
func (d *driver) keep(r *route, p piece, out []protocol.Effect) []protocol.Effect {
	switch {
	case len(r.held.list) >= r.limits.HeldChunks:
		return d.endRoute(r, d.overLimit("chunks without a reader", r.limits.HeldChunks, "heldChunks"), out)
	case r.held.size+p.size > r.limits.Held:
		return d.endRoute(r, d.overLimit("what came without a reader", r.limits.Held, "held"), out)
	}
	r.held.list = append(r.held.list, p.data)
	r.held.size += p.size
	return out
}

// flush hands on what was kept.
func (r *route) flush(out []protocol.Effect) []protocol.Effect {
	for _, data := range r.held.list {
		out = append(out, protocol.Chunk{ID: r.id, Data: data})
	}
	r.held = chunks{}
	return out
}

// exitRoute tells how the program ended, once. That of a login pseudo-terminal ends what
// goes in and out as well.
func (d *driver) exitRoute(r *route, e protocol.Exit, out []protocol.Effect) []protocol.Effect {
	if r.hasExited {
		return append(out, protocol.Drop(DroppedRouteLate, wordsOf[r.wire].data))
	}
	r.hasExited = true
	if r.wire == loginPTY {
		d.routes.quiet(r)
		r.phase = routeExited
		d.routes.release(r)
	}
	return append(out, protocol.RouteExited{ID: r.id, Exit: e})
}

// holdTerminal keeps what comes for a pseudo-terminal before it is open, in order. More
// than may be kept fails the open.
func (d *driver) holdTerminal(r *route, f note, out []protocol.Effect) []protocol.Effect {
	one := r.readEarly(f)
	if one.isBad || one.isLong {
		return append(out, protocol.Drop(DroppedRouteChunk, wordsOf[r.wire].data))
	}
	size := r.earlySize + one.size + len(one.session)
	switch {
	case len(r.early) >= r.limits.HeldChunks:
		return d.endRoute(r, d.overLimit("messages before it was open", r.limits.HeldChunks, "heldChunks"), out)
	case size > r.limits.Held:
		return d.endRoute(r, d.overLimit("what came before it was open", r.limits.Held, "held"), out)
	}
	r.early, r.earlySize = append(r.early, one), size
	return out
}

// holdChannel keeps what comes for a channel before it is open: chunks in order, and the
// last exit.
func (d *driver) holdChannel(r *route, f note, out []protocol.Effect) []protocol.Effect {
	one := r.readEarly(f)
	switch {
	case one.isExit:
		r.earlyExit = &one
	case len(r.early) > r.limits.HeldChunks: // one more than may be kept ends the route when it is open
		return d.faulty(r, out)
	case r.earlySize+one.size > r.limits.Held:
		return d.endRoute(r, d.overLimit("what came before it was open", r.limits.Held, "held"), out)
	default:
		r.early, r.earlySize = append(r.early, one), r.earlySize+one.size
	}
	return out
}

// readEarly reads a notification that is kept: nothing of the frame is.
func (r *route) readEarly(f note) frame {
	one := r.read(f)
	one.session = cut(string(f.session), MaxSessionName+1) // a longer one is nobody's
	return one
}

// replay hands on what came before the route was open, as if it came now.
func (d *driver) replay(r *route, out []protocol.Effect) []protocol.Effect {
	early, exit := r.early, r.earlyExit
	r.early, r.earlyExit, r.earlySize = nil, nil, 0
	if exit != nil {
		early = append(early, *exit)
	}
	for _, one := range early {
		switch {
		case r.phase != routeOpen:
			out = append(out, protocol.Drop(DroppedRouteLate, wordsOf[r.wire].data))
		case one.session == r.session:
			out = d.pass(r, one, out)
		case r.wire.isDuplex():
			return d.violation(wordsOf[r.wire].data, out)
		default:
			out = append(out, protocol.Drop(DroppedRoute, wordsOf[r.wire].data))
		}
	}
	return out
}

// writeParams are those of a write.
func (d *driver) writeParams(r *route, data []byte) json.RawMessage {
	o := d.routeBuffer(len(data)).join(r.named())
	if !wordsOf[r.wire].isBase64 {
		return append(appendString(o.key("data"), string(data)), '}')
	}
	o = append(o.key("data"), '"')
	o = base64.StdEncoding.AppendEncode(o, data)
	return json.RawMessage(append(o, '"', '}'))
}

// routeBuffer begins an object in the buffer that the driver uses again.
func (d *driver) routeBuffer(size int) object {
	need := base64.StdEncoding.EncodedLen(size) + longInput
	if need > keptParams {
		return append(make(object, 0, need), '{')
	}
	if cap(d.params) < need {
		d.params = make([]byte, 0, need)
	}
	return append(d.params[:0], '{')
}
