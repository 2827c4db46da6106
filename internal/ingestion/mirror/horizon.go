package mirror

import (
	"sync"
)

// horizons are the versions at which lists were last read to their end. What is
// not known now and is no newer was gone by then: somebody tells of it late, and
// it must not come back. They are this process's own, because a version that is
// seen with every scan is not worth a write: what another process tells late
// stays until the next scan.
type horizons struct {
	mu sync.Mutex
	at map[[2]string]int64
}

// before is the horizon for an observation; zero if it is not late.
func (h *horizons) before(o *Observation) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.at[[2]string{o.Source, o.List}]
	if o.Anew || o.Complete && o.Version >= at {
		return 0
	}
	return at
}

// raise remembers a list that was read to its end and stored.
func (h *horizons) raise(o *Observation) {
	if !o.Complete {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at == nil {
		h.at = map[[2]string]int64{}
	}
	key := [2]string{o.Source, o.List}
	if o.Anew || o.Version > h.at[key] {
		h.at[key] = o.Version
	}
}

// clear forgets all: what is dropped here is not gone there.
func (h *horizons) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.at)
}
