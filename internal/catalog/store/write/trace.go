package write

import (
	"hash/maphash"
	"sync"
)

// Changes are planned and drafted before their transaction begins. A plan is still
// valid if no other writer changed what it is based on, so writers of this process
// leave a trace of what they wrote. Without traces, when clusters are read and many
// writers write at once, each its own entities, every writer would check for changes in
// vain, while all others wait for it.

// trace is what a transaction changes.
type trace struct {
	// refs are the entities that are put or removed, and sources the sources of relations
	// that are added or removed.
	providers, refs, sources names
}

// names are hashes of names. A collision only costs a needless recomputation. The names
// themselves may be substrings of documents, which would stay in memory.
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

// readSet is what a plan has read, and what must be unchanged for it to be valid.
type readSet struct {
	providers, refs []string
	// linked are the entities whose relations were read, which are all that are put and
	// some more, and strangers are sources of relations that do not exist.
	linked, strangers []string
}

// traceMaximum is up to how many entities and relations a trace is left, and tracesKept
// how many traces are kept. A writer seldom waits for more.
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

func readSetOf(changes []Change, candidates []candidate, d *changeSet, l *linkage) *readSet {
	var g readSet
	for i := range changes {
		g.providers = append(g.providers, changes[i].Provider)
		for _, refs := range [][]string{changes[i].Remove, changes[i].Keep} {
			for _, ref := range refs {
				g.refs = append(g.refs, refKey(ref))
			}
		}
	}
	for i := range candidates {
		g.refs = append(g.refs, candidates[i].ref)
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

// meets reports whether the transaction changed something in the read set.
func (t *trace) meets(g *readSet) bool {
	return t.providers.anyOf(g.providers) || t.refs.anyOf(g.refs) || t.refs.anyOf(g.linked) ||
		t.sources.anyOf(g.linked) || t.refs.anyOf(g.strangers)
}

// traces are those of the last revisions that this process wrote. Not all revisions
// have a trace.
type traces struct {
	mu   sync.Mutex
	last [tracesKept]struct {
		revision int64
		trace    *trace
	}
}

// leave commits, and stores the trace of the revision, so that the next writer finds
// it.
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

// conflictFree reports whether all revisions between two, both excluded, are known to
// have changed nothing in the read set.
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
