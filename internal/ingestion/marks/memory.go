package marks

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// memory implements Marks in memory; they are lost when the process ends.
type memory struct {
	mu    sync.RWMutex
	marks map[string]map[string]string
}

// NewMemory returns Marks that are lost when the process ends and that other replicas
// do not see.
func NewMemory() Marks {
	return &memory{marks: map[string]map[string]string{}}
}

// Load implements Marks.
func (m *memory) Load(_ context.Context, source string) (map[string]string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	out := make(map[string]string, len(m.marks[source]))
	maps.Copy(out, m.marks[source])
	return out, nil
}

// Save implements Marks.
func (m *memory) Save(_ context.Context, source string, set map[string]string, drop []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.marks[source] == nil {
		m.marks[source] = make(map[string]string, len(set))
	}
	for _, key := range drop {
		delete(m.marks[source], key)
	}
	maps.Copy(m.marks[source], set)
	return nil
}

// Forget implements Marks.
func (m *memory) Forget(_ context.Context, keep []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.marks, func(source string, _ map[string]string) bool { return !slices.Contains(keep, source) })
	return nil
}
