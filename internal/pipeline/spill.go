package pipeline

import (
	"fmt"
	"strings"
	"sync"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/spool"
)

// DefaultRoom is how many values a Spill keeps in memory, of about 300 bytes each:
// enough for about a hundred definitions.
const DefaultRoom = 100_000

// Spill keeps unused trees and entities in a temporary file, so that the memory of a
// run hardly grows with its input. It is safe for concurrent use.
type Spill struct {
	mu sync.Mutex
	// room is how many more values stay in memory; texts holds the others.
	room  int
	texts *spool.Spool
	// err is the first error of writing or reading.
	err error
	// systems caches the specs of released entities, of which there are only a few
	// different ones.
	systems map[string]*tree.Node
}

// NewSpill returns a Spill that keeps the first room values in memory. The caller
// must close it once no more trees are loaded.
func NewSpill(room int) *Spill {
	return &Spill{room: room, texts: spool.New(0), systems: map[string]*tree.Node{}}
}

// Close removes the file.
func (s *Spill) Close() error { return s.texts.Close() }

// ErrTemporary is returned if the temporary file cannot be created, written or read.
var ErrTemporary = spool.ErrTemporary

// Err returns the first error of writing and reading. A nil Spill has none.
func (s *Spill) Err() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Tree implements xrd.Spill.
func (s *Spill) Tree(n *tree.Node) func() *tree.Node {
	load := s.put(n)
	if load == nil {
		return nil
	}
	return func() *tree.Node {
		n, err := load()
		if err != nil {
			s.fail(err)
		}
		return n
	}
}

// release writes the entities of a definition to the file and keeps only what the
// Report needs.
func (s *Spill) release(res *engine.Result) {
	res.Sources = nil
	for i, e := range res.Entities {
		if e.Spec.IsMap() {
			res.Entities[i] = s.entity(e)
		}
	}
	// Strings may share the memory of the definition, which should be freed.
	for i := range res.Findings {
		f := &res.Findings[i]
		f.Object, f.Path, f.Message, f.Hint = strings.Clone(f.Object), strings.Clone(f.Path), strings.Clone(f.Message), strings.Clone(f.Hint)
	}
}

// entity writes an entity to the file and returns a stub that loads it.
func (s *Spill) entity(e *entity.Entity) *entity.Entity {
	load := s.put(e.Node())
	if load == nil {
		return e
	}
	return &entity.Entity{
		Kind:     strings.Clone(e.Kind),
		Metadata: entity.Metadata{Name: strings.Clone(e.Metadata.Name), Namespace: strings.Clone(e.Metadata.Namespace)},
		Spec:     s.system(e.Spec.Get("system").Str()),
		Load: func() (*entity.Entity, error) {
			n, err := load()
			if err != nil {
				return nil, err
			}
			return entity.Parse(n)
		},
	}
}

// system returns a spec that contains only the system.
func (s *Spill) system(name string) *tree.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	spec := s.systems[name]
	if spec == nil {
		name = strings.Clone(name)
		spec = tree.Obj(tree.F("system", tree.OptStr(name)))
		s.systems[name] = spec
	}
	return spec
}

// put writes a tree to the file and returns a function that loads it; nil if the tree
// stays in memory.
func (s *Spill) put(n *tree.Node) func() (*tree.Node, error) {
	if s.fits(n) {
		return nil
	}
	buf, _ := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	*buf = tree.AppendBinary((*buf)[:0], n)
	if s.Err() != nil {
		return nil
	}
	kept, err := s.texts.Put(*buf)
	if err != nil {
		s.fail(err)
		return nil
	}
	return func() (*tree.Node, error) {
		text, err := kept.Load()
		if err != nil {
			return nil, err
		}
		n, err := tree.DecodeBinary(string(text))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrTemporary, err)
		}
		return n, nil
	}
}

// buffers are reused to encode trees.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// fits reports whether there is room for a tree in memory, and takes that room.
func (s *Spill) fits(n *tree.Node) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room <= 0 {
		return false
	}
	s.room -= values(n)
	return true
}

// values counts the values of a tree.
func values(n *tree.Node) int {
	if n == nil {
		return 0
	}
	count := 1
	for _, it := range n.Items {
		count += values(it)
	}
	for i := range n.Fields {
		count += values(n.Fields[i].Value)
	}
	return count
}

func (s *Spill) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// whole returns an input with all its trees loaded.
func whole(in engine.Input) engine.Input {
	d := in.Definition
	in.Definition = d.Whole()
	for i, c := range in.Compositions {
		in.Compositions[i] = c.Whole()
	}
	for i, c := range in.Composites {
		in.Composites[i] = c.Whole(d)
	}
	return in
}
