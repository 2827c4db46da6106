package store

import "sync"

// What is to be written is made ready before it is one's turn to write. That holds
// if nobody wrote in between what it rests on, and those who write in this process
// leave word of what they wrote: when clusters are read, many write at once, each
// its own entities, and would look in vain, while all others wait for them, whether
// something has changed.

// trace is what a transaction changes.
type trace struct {
	providers map[string]bool
	// refs are the entities that are put or removed.
	refs map[string]bool
	// sources are the beginnings of relations that come or go.
	sources map[string]bool
}

// sight is what one has looked at, and must find unchanged.
type sight struct {
	providers, refs []string
	// linked are the entities whose relations were looked at, which are all that
	// are put and some more, and strangers those that were not there.
	linked, strangers []string
}

// traceMaximum is for how many entities and relations a trace is left, and
// tracesKept how many traces are kept. Somebody seldom waits for more.
const (
	traceMaximum = 8192
	tracesKept   = 16
)

func traceOf(changes []Change, d *delta, l *linkage) *trace {
	n := len(d.put) + len(d.removed) + len(l.insert) + len(l.remove)
	if n > traceMaximum {
		return nil
	}
	t := &trace{providers: map[string]bool{}, refs: make(map[string]bool, len(d.put)+len(d.removed)), sources: map[string]bool{}}
	for i := range changes {
		t.providers[changes[i].Provider] = true
	}
	for i := range d.put {
		t.refs[d.put[i].ref] = true
	}
	for _, ref := range d.removed {
		t.refs[ref] = true
	}
	for _, edges := range [][]edge{l.insert, l.remove} {
		for _, e := range edges {
			t.sources[e.source] = true
		}
	}
	return t
}

func sightOf(changes []Change, offers []offer, d *delta, l *linkage) *sight {
	var g sight
	for i := range changes {
		g.providers = append(g.providers, changes[i].Provider)
		for _, refs := range [][]string{changes[i].Remove, changes[i].Keep} {
			for _, ref := range refs {
				g.refs = append(g.refs, refKey(ref))
			}
		}
	}
	for i := range offers {
		g.refs = append(g.refs, offers[i].ref)
	}
	g.linked = append(g.linked, d.removed...)
	for ref := range l.after {
		g.linked = append(g.linked, ref)
	}
	for _, edges := range [][]edge{l.insert, l.remove} {
		for _, e := range edges {
			if _, ok := l.after[e.source]; !ok {
				g.strangers = append(g.strangers, e.source)
			}
		}
	}
	return &g
}

// meets tells whether the transaction changed something of what was looked at.
func (t *trace) meets(g *sight) bool {
	return anyOf(t.providers, g.providers) || anyOf(t.refs, g.refs) || anyOf(t.refs, g.linked) ||
		anyOf(t.sources, g.linked) || anyOf(t.refs, g.strangers)
}

func anyOf(set map[string]bool, of []string) bool {
	for _, v := range of {
		if set[v] {
			return true
		}
	}
	return false
}

// traces are those of the last revisions that were made in this process, of which
// not all leave one.
type traces struct {
	mu   sync.Mutex
	last [tracesKept]struct {
		revision int64
		trace    *trace
	}
}

// leave commits, and leaves the trace of the revision. Whoever writes next finds
// it there.
func (k *traces) leave(revision int64, t *trace, commit func() error) error {
	if t == nil {
		return commit()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := commit(); err != nil {
		return err
	}
	at := &k.last[revision%tracesKept]
	at.revision, at.trace = revision, t
	return nil
}

// apart tells whether all revisions behind one and before another are known to
// have changed nothing of what was looked at.
func (k *traces) apart(behind, before int64, g *sight) bool {
	if before-behind > tracesKept {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for n := behind + 1; n < before; n++ {
		if at := &k.last[n%tracesKept]; at.revision != n || at.trace.meets(g) {
			return false
		}
	}
	return true
}
