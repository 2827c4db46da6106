package mirror

import (
	"sync"
)

// horizons are the versions at which lists were last read completely. An object that is
// not known and not newer was gone by then: the event is late, and the object must not
// come back. Horizons are local to this process, because storing a version with every
// scan is not worth a write: an object that another process reports late stays until
// the next scan.
type horizons struct {
	mu sync.Mutex
	at map[[2]string]int64
}

// before returns the horizon for an observation; zero if the observation is not late.
func (h *horizons) before(o *Observation) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.at[[2]string{o.Source, o.List}]
	if o.Anew || o.Complete && o.Version >= at {
		return 0
	}
	return at
}

// raise records that a list was read completely and stored.
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

// clear deletes all horizons: an object whose list was dropped may still exist in the
// source.
func (h *horizons) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.at)
}
