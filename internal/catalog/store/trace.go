package store

import (
	"hash/maphash"
	"sync"
)

// What is to be written is made ready before it is one's turn to write. That holds
// if nobody wrote in between what it rests on, and those who write in this process
// leave word of what they wrote: when clusters are read, many write at once, each
// its own entities, and would look in vain, while all others wait for them, whether
// something has changed.

// trace is what a transaction changes.
type trace struct {
	// refs are the entities that are put or removed, and sources the beginnings
	// of relations that come or go.
	providers, refs, sources names
}

// names are the hashes of names. Two names may share one: then somebody looks in
// vain. The names themselves may be parts of documents, which would be kept.
type names map[uint64]struct{}

var namesSeed = maphash.MakeSeed()

func (n names) add(name string) { n[maphash.String(namesSeed, name)] = struct{}{} }

func (n names) anyOf(some []string) bool {
	if len(n) == 0 {
		return false
	}
	for _, name := range some {
		if _, ok := n[maphash.String(namesSeed, name)]; ok {
			return true
		}
	}
	return false
}

// readSet is what one has looked at, and must find unchanged.
type readSet struct {
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

func traceOf(changes []Change, d *changeSet, l *linkage) *trace {
	n := len(d.put) + len(d.removed) + len(l.insert) + len(l.remove)
	if n > traceMaximum {
		return nil
	}
	t := &trace{make(names, len(changes)), make(names, len(d.put)+len(d.removed)), names{}}
	for i := range changes {
		t.providers.add(changes[i].Provider)
	}
	for i := range d.put {
		t.refs.add(d.put[i].ref)
	}
	for _, ref := range d.removed {
		t.refs.add(ref)
	}
	for _, edges := range [][]edge{l.insert, l.remove} {
		for _, e := range edges {
			t.sources.add(e.source)
		}
	}
	return t
}

func readSetOf(changes []Change, offers []candidate, d *changeSet, l *linkage) *readSet {
	var g readSet
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
func (t *trace) meets(g *readSet) bool {
	return t.providers.anyOf(g.providers) || t.refs.anyOf(g.refs) || t.refs.anyOf(g.linked) ||
		t.sources.anyOf(g.linked) || t.refs.anyOf(g.strangers)
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

// conflictFree tells whether all revisions behind one and before another are known to
// have changed nothing of what was looked at.
func (k *traces) conflictFree(behind, before int64, g *readSet) bool {
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
