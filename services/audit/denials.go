package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/airi-host/airi-host/services"
)

// maxText is how much is kept of each text of a denial, in bytes: the plugin chose it.
const maxText = 500

// burst is what one plugin was denied of late.
type burst struct {
	plugin string
	timer  *time.Timer
	// window is how long the one is that runs.
	window time.Duration
	kinds  map[kind]*repeats
	// others counts denials of kinds that are one too many, the last of which was other.
	others int
	other  services.Record
}

// kind is what denials have in common that are one record.
type kind struct{ company, action, entityType, entityID string }

// repeats are further denials of a kind.
type repeats struct {
	last  services.Record
	count int
}

// Deny has a denial kept: the first of its kind at once, those that follow as a number. A
// nil trail keeps none.
func (t *Trail) Deny(r services.Record) {
	if t == nil {
		return
	}
	r.Message, r.EntityID, r.Company = clip(r.Message), clip(r.EntityID), clip(r.Company)
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.bursts[r.Plugin]
	switch {
	case t.closed || b == nil && len(t.bursts) >= t.o.Plugins:
		t.dropped.Add(1)
		return
	case b == nil:
		b = &burst{plugin: r.Plugin, window: t.o.Window, kinds: map[kind]*repeats{}}
		b.timer = time.AfterFunc(b.window, func() { t.turn(b) })
		t.bursts[r.Plugin] = b
	}
	k := kind{r.Company, r.Action, r.EntityType, r.EntityID}
	switch one := b.kinds[k]; {
	case one != nil:
		one.last = r
		one.count++
		t.folded.Add(1)
	case len(b.kinds) < t.o.Kinds:
		b.kinds[k] = &repeats{}
		t.enqueue(r)
	default:
		b.other = r
		b.others++
		t.folded.Add(1)
	}
}

// turn ends a window. Whoever was quiet in it is forgotten.
func (t *Trail) turn(b *burst) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.bursts[b.plugin] != b {
		return
	}
	if t.tell(b) == 0 {
		delete(t.bursts, b.plugin)
		return
	}
	b.window = min(2*b.window, t.o.MaxWindow)
	b.timer.Reset(b.window)
}

// Forget has no more told of what a plugin was denied, or was for a company, the other of the
// two being "": the records that are kept already are the auditor's to remove.
func (t *Trail) Forget(plugin, company string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if b := t.bursts[plugin]; b != nil && plugin != "" {
		b.timer.Stop()
		delete(t.bursts, plugin)
	}
	if company == "" {
		return
	}
	for _, b := range t.bursts {
		maps.DeleteFunc(b.kinds, func(k kind, _ *repeats) bool { return k.company == company })
		if b.other.Company == company {
			b.others = 0
		}
	}
}

// tell has the numbers of a window kept, and makes room for the next one; it returns how
// many denials they count.
func (t *Trail) tell(b *burst) (all int) {
	for k, one := range b.kinds {
		if one.count == 0 {
			delete(b.kinds, k)
			continue
		}
		all += one.count
		t.enqueue(numbered(one.last, one.count, fmt.Sprintf("%s (%d more like this within %s)", one.last.Message, one.count, b.window)))
		one.count = 0
	}
	if b.others > 0 {
		all += b.others
		r := services.Record{Plugin: b.plugin, Action: b.other.Action}
		t.enqueue(numbered(r, b.others, fmt.Sprintf("%d denials of other kinds within %s, the last one: %s", b.others, b.window, b.other.Message)))
		b.others = 0
	}
	return all
}

// numbered is a record that stands for several denials.
func numbered(r services.Record, count int, message string) services.Record {
	r.Message = message
	members := map[string]json.RawMessage{}
	_ = json.Unmarshal(r.Metadata, &members) // what is no object says nothing
	members["count"] = fmt.Append(nil, count)
	r.Metadata, _ = json.Marshal(members) // of JSON values
	return r
}

func clip(text string) string {
	if len(text) > maxText {
		return text[:maxText] + "…"
	}
	return text
}
