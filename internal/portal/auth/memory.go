package auth

import (
	"sync"
	"time"
)

// memory remembers values for a while. It holds no more than twice most of
// them: when the young ones are that many they become the old ones, and the
// old ones are forgotten.
type memory[V any] struct {
	most       int
	mu         sync.RWMutex
	young, old map[[32]byte]held[V]
}

type held[V any] struct {
	value V
	until time.Time
}

func newMemory[V any](most int) *memory[V] {
	return &memory[V]{most: most, young: map[[32]byte]held[V]{}}
}

// get returns what is remembered under a key.
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

// put remembers a value until a time.
func (m *memory[V]) put(key [32]byte, value V, until, now time.Time) {
	if !now.Before(until) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.young) >= m.most {
		m.young, m.old = map[[32]byte]held[V]{}, m.young
	}
	m.young[key] = held[V]{value, until}
}
