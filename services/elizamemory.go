package services

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"sync"

	"github.com/google/uuid"

	"github.com/airi-host/airi-host/protocol"
)

// memoryService serves getMemory, createMemory and updateMemory. A plugin's memories are
// among its state, and count there; no plugin sees another's.
type memoryService struct {
	store Store
	// changing has a lock for those memories that are changed at a time, by a hash of
	// whose they are.
	changing *[64]sync.Mutex
	seed     maphash.Seed
}

func newMemories(store Store) memoryService {
	return memoryService{store: store, changing: new([64]sync.Mutex), seed: maphash.MakeSeed()}
}

// change keeps others from changing a memory, until what it returns is called.
func (s memoryService) change(call protocol.Call, id string) (done func()) {
	lock := &s.changing[maphash.String(s.seed, call.Caller+"/"+id)%uint64(len(s.changing))]
	lock.Lock()
	return lock.Unlock
}

// memory is one as it is kept.
type memory struct {
	// Table is "messages" unless the plugin names one.
	Table  string                     `json:"tableName"`
	Memory map[string]json.RawMessage `json:"memory"`
}

const defaultTable = "messages"

func memoryKey(call protocol.Call, id string) StateKey {
	return StateKey{Plugin: call.Caller, ScopeKind: "instance", Namespace: "eliza.memory", Key: id}
}

// get serves getMemory: {memoryId} → the memory, or null.
func (s memoryService) get(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	id := in.text("memoryId")
	if in.err != nil {
		return nil, in.err
	}
	kept, err := s.load(ctx, call, id)
	if err != nil || kept == nil {
		return null, err
	}
	return tryEncode(kept.Memory)
}

// create serves createMemory: {memory, tableName?} → its id. A null for the table, which
// workers send where the plugin names none, is as good as none.
func (s memoryService) create(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	given, table := in.object("memory"), in.optional("tableName")
	if in.raw("memory") == nil {
		in.expected("memory", "an object")
	}
	given.text("entityId")
	given.text("roomId")
	if given.object("content"); given.raw("content") == nil {
		given.expected("content", "an object")
	}
	id := given.optional("id")
	if in.err != nil {
		return nil, in.err
	}
	if blank(id) {
		id = uuid.NewString()
	}
	if table == "" {
		table = defaultTable
	}
	given.members["id"] = encode(id)
	defer s.change(call, id)()
	if err := s.keep(ctx, call, id, memory{table, given.members}); err != nil {
		return nil, err
	}
	return encode(id), nil
}

// update serves updateMemory: {memory} → null. The members that it names take the place of
// those that the memory has.
func (s memoryService) update(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	given := in.object("memory")
	id := given.text("id")
	if in.err != nil {
		return nil, in.err
	}
	defer s.change(call, id)()
	kept, err := s.load(ctx, call, id)
	switch {
	case err != nil:
		return nil, err
	case kept == nil:
		return nil, faultf(call, protocol.CodeNotFound, "memory.id: there is no such memory: create it by createMemory")
	}
	for name, value := range given.members {
		kept.Memory[name] = value
	}
	return done(s.keep(ctx, call, id, *kept))
}

// load reads a memory; nil is none.
func (s memoryService) load(ctx context.Context, call protocol.Call, id string) (*memory, error) {
	value, err := s.store.Get(ctx, memoryKey(call, id))
	if err != nil || value == nil {
		return nil, err
	}
	var kept memory
	if err := json.Unmarshal(value, &kept); err != nil || kept.Memory == nil {
		return nil, faultf(call, protocol.CodeInternal, "what is kept as this memory is none")
	}
	return &kept, nil
}

func (s memoryService) keep(ctx context.Context, call protocol.Call, id string, m memory) error {
	value, err := tryEncode(m)
	if err != nil {
		return faultf(call, protocol.CodeInvalid, "memory: cannot be kept: it nests too deeply")
	}
	return s.store.Set(ctx, memoryKey(call, id), value)
}
