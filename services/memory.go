package services

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/airi-host/airi-host/protocol"
)

// MemoryLimits bound what one plugin may keep in a [Memory].
type MemoryLimits struct {
	// Keys is the number of values; 0 means 10,000.
	Keys int
	// Bytes is the size of all values and of their keys; 0 means 16 MiB.
	Bytes int
	// Value is the size of one value in bytes; 0 means 1 MiB.
	Value int
}

// Memory is a [Store] that lasts as long as the process. A Set beyond a limit changes
// nothing: one value that is too large fails with [protocol.CodeInvalid], too many
// values or bytes with [protocol.CodeOverloaded].
type Memory struct {
	limits MemoryLimits

	mu      sync.RWMutex
	plugins map[string]*shelf
}

// shelf is what one plugin keeps.
type shelf struct {
	values map[StateKey]json.RawMessage
	bytes  int // of values and keys
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory(limits MemoryLimits) *Memory {
	return &Memory{
		limits: MemoryLimits{
			Keys:  orDefault(limits.Keys, 10_000),
			Bytes: orDefault(limits.Bytes, 16<<20),
			Value: orDefault(limits.Value, 1<<20),
		},
		plugins: map[string]*shelf{},
	}
}

// Get implements [Store].
func (m *Memory) Get(_ context.Context, key StateKey) (json.RawMessage, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if s := m.plugins[key.Plugin]; s != nil {
		return s.values[key], nil
	}
	return nil, nil
}

// Set implements [Store].
func (m *Memory) Set(_ context.Context, key StateKey, value json.RawMessage) error {
	if len(value) > m.limits.Value {
		return m.full(protocol.CodeInvalid, key, "is %d bytes long, and a value may have %d: keep it in parts",
			len(value), m.limits.Value)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.plugins[key.Plugin]
	if s == nil {
		s = &shelf{values: map[StateKey]json.RawMessage{}}
	}
	before, known := s.values[key]
	bytes := s.bytes + len(value) - len(before)
	if !known {
		bytes += key.size()
	}
	switch {
	case !known && len(s.values) >= m.limits.Keys:
		return m.full(protocol.CodeOverloaded, key, "is one too many: a plugin may keep %d values; delete some", m.limits.Keys)
	case bytes > m.limits.Bytes:
		return m.full(protocol.CodeOverloaded, key, "does not fit: a plugin may keep %d bytes in all; delete some", m.limits.Bytes)
	}
	s.values[key], s.bytes = value, bytes
	m.plugins[key.Plugin] = s
	return nil
}

// Delete implements [Store].
func (m *Memory) Delete(_ context.Context, key StateKey) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.plugins[key.Plugin]
	if s == nil {
		return nil
	}
	value, known := s.values[key]
	if !known {
		return nil
	}
	delete(s.values, key)
	s.bytes -= len(value) + key.size()
	if len(s.values) == 0 {
		delete(m.plugins, key.Plugin)
	}
	return nil
}

func (m *Memory) full(code protocol.Code, key StateKey, format string, args ...any) error {
	name := key.Key
	if len(name) > 100 {
		name = name[:100] + "…"
	}
	return &protocol.Error{
		Code: code, Plugin: key.Plugin,
		Message: fmt.Sprintf("state value %q ", name) + fmt.Sprintf(format, args...),
	}
}

// size is what a key takes of its plugin's bytes.
func (k StateKey) size() int {
	return len(k.ScopeKind) + len(k.ScopeID) + len(k.Namespace) + len(k.Key)
}
