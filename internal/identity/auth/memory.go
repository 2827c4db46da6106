package auth

import (
	"sync"
	"time"
)

// memory caches values for a while. It holds at most twice most values: when there
// are that many young values, they become the old ones, and the previous old ones are
// dropped.
type memory[V any] struct {
	most       int
	mu         sync.RWMutex
	young, old map[[32]byte]held[V]
	// drops counts the calls of drop.
	drops uint64
}

type held[V any] struct {
	value V
	until time.Time
}

func newMemory[V any](most int) *memory[V] {
	return &memory[V]{most: most, young: map[[32]byte]held[V]{}}
}

// get returns the cached value of a key.
func (m *memory[V]) get(key [32]byte, now time.Time) (value V, ok bool) {
	m.mu.RLock()
	h, ok := m.young[key]
	if !ok {
		h, ok = m.old[key]
	}
	m.mu.RUnlock()
	if !ok || !now.Before(h.until) {
		return value, false
	}
	return h.value, true
}

// mark returns the mark for put. Call it before the value is computed.
func (m *memory[V]) mark() uint64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.drops
}

// put caches a value until a time, unless drop was called after the mark was taken:
// the value may be one that drop would have removed.
func (m *memory[V]) put(key [32]byte, value V, until, now time.Time, mark uint64) {
	if !now.Before(until) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.drops != mark {
		return
	}
	if len(m.young) >= m.most {
		m.young, m.old = map[[32]byte]held[V]{}, m.young
	}
	m.young[key] = held[V]{value, until}
}

// drop removes the values for which is returns true.
func (m *memory[V]) drop(is func(V) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drops++
	for _, all := range []map[[32]byte]held[V]{m.young, m.old} {
		for key, h := range all {
			if is(h.value) {
				delete(all, key)
			}
		}
	}
}
