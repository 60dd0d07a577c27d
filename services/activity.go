package services

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// Auditor keeps what was done. It may be called concurrently. An error that is a
// *[protocol.Error] goes to the plugin with its code.
type Auditor interface {
	// Audit keeps a record and returns its number.
	Audit(ctx context.Context, r Record) (number int64, err error)
}

// Record says that somebody has done something. A plugin's own activity.log is one, with
// that as its Action.
type Record struct {
	// Number is the record's own, higher than those of all before; who keeps it gives
	// it.
	Number int64
	// At is when it was kept, in milliseconds; who keeps it tells.
	At time.Time
	// Plugin and Company are whom it is about; "" for none.
	Plugin, Company string
	// Action is what was done, a word of the host's; Message says it to people.
	Action, Message string
	// EntityType and EntityID name what it was done to; "" for nothing.
	EntityType, EntityID string
	// Metadata is a JSON value; nil for none.
	Metadata json.RawMessage
}

// ActivityAction is the Action of a Record that a plugin has made by activity.log.
const ActivityAction = "activity.log"

// defaultActivities is how many records a plugin makes a minute, unless told otherwise.
const defaultActivities = 600

// activityService serves activity.log.
type activityService struct {
	auditor Auditor
	rate    *window
}

// log serves activity.log: {companyId, message, entityType?, entityId?, metadata?} →
// null. All plugins' records have one limit on their number: none may push out the
// others' by a flood.
func (a activityService) log(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	r := Record{
		Plugin: call.Caller, Company: in.company(), Action: ActivityAction, Message: in.text("message"),
		EntityType: in.optional("entityType"), EntityID: in.optional("entityId"), Metadata: in.raw("metadata"),
	}
	in.object("metadata")
	if r.Company == "" {
		in.failf("companyId: expected a company: an activity is about one")
	}
	if in.err != nil {
		return nil, in.err
	}
	if wait, ok := a.rate.allow(windowKey{plugin: call.Caller}, time.Now()); !ok {
		return nil, faultf(call, protocol.CodeOverloaded, "%d records were made within the last minute: try again in %s",
			a.rate.max, wait.Round(time.Second))
	}
	r.Metadata = withChain(r.Metadata, call.Cause)
	_, err := a.auditor.Audit(ctx, r)
	return done(err)
}

// chainMember is the member of a record's metadata that the host writes, and nobody else:
// which calls led to it, where another plugin made the last of them.
const chainMember = "airi-host"

// withChain adds to an object the calls that led to it, of which cause is the last.
func withChain(metadata json.RawMessage, cause *protocol.Cause) json.RawMessage {
	crossed := cause != nil && cause.Caller != ""
	if !crossed && !bytes.Contains(metadata, []byte(chainMember)) && !bytes.Contains(metadata, []byte(`\u`)) {
		return metadata
	}
	members := map[string]json.RawMessage{}
	_ = json.Unmarshal(metadata, &members) // it is an object, or nothing
	delete(members, chainMember)
	if crossed {
		members[chainMember] = encode(map[string]any{"chain": protocol.CutChain(cause.Chain())})
	}
	return encode(members)
}
