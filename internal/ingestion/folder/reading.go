package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/xrd"
)

// reading is one scan of a folder. Only the reading goroutine calls its methods, except
// store.
type reading struct {
	*folder
	s     *scan.Scan
	known map[string]int64
	// pages passes objects to the storing goroutine; page is the page being filled, and
	// size its size in bytes.
	pages chan []mirror.Object
	page  []mirror.Object
	size  int
	// seen counts objects by their key before numbering; keys are the keys of all objects
	// to store.
	seen map[string]int
	keys map[string]bool
	// marks are the marks to store for change detection; again are units of objects that
	// have no mark, or none under the current settings, and againAll says that some of
	// those objects have no unit.
	marks    map[string]string
	again    []string
	againAll bool
	// compositions contains the Compositions by name; deferred are those that the last
	// scan left out.
	compositions map[string][]standing
	deferred     map[string]mirror.Object
	// bad are findings about unreadable documents and files.
	bad   []finding.Finding
	found int
	// file is the file being read, and objects the number of objects read from it. digests
	// are the hashes of the objects read from each file.
	file    string
	objects int
	digests map[string]string
}

// standing is what decides which of several Compositions of one name is used.
type standing struct {
	generation int64
	kind, key  string
}

func newReading(f *folder, s *scan.Scan, known map[string]int64) *reading {
	return &reading{
		folder: f, s: s, known: known, pages: make(chan []mirror.Object, 1), seen: map[string]int{}, keys: map[string]bool{},
		marks: map[string]string{}, digests: map[string]string{}, compositions: map[string][]standing{}, deferred: map[string]mirror.Object{},
	}
}

// pageBytes is the size at which a page is passed on.
const pageBytes = 1 << 20

// take processes one thing that was read, and reports whether to continue.
func (r *reading) take(f xrd.Found, hand func([]mirror.Object) bool) bool {
	r.follow(&f)
	if bad, ok := f.Complaint(); ok {
		if bad.Severity == finding.Error {
			r.complain(bad)
		}
		return true
	}
	c := f.Composition()
	switch {
	case f.Definition != nil:
		r.definition(f.Definition)
	case c != nil:
		if !r.target.Variant.NoCompositions {
			r.composition(c)
		}
	case !r.target.Variant.NoComposites && f.Other.Within(r.target.Variant.Namespaces):
		r.add(object.FromComposite(f.Other.Node, f.Other.Origin), r.key(f.Other))
	}
	if len(r.page) < scan.PageSize && r.size < pageBytes {
		return true
	}
	page := r.page
	r.page, r.size = nil, 0
	return hand(page)
}

// follow logs a file as read when the first thing of the next file arrives. nil marks
// the end.
func (r *reading) follow(f *xrd.Found) {
	file := ""
	switch {
	case f == nil:
	case f.Definition != nil:
		file = f.Definition.Origin.File
	case f.Other != nil:
		file = f.Other.Origin.File
	case f.Finding != nil:
		file = f.Finding.File
	default:
		file = f.File
	}
	if f == nil || file != r.file {
		if r.file != "" {
			r.target.Variant.Log.Debug("file read", "source", r.s.Name, "file", r.file, "objects", r.objects)
		}
		r.file, r.objects = file, 0
	}
	r.objects++
}

// complain records an unreadable document or file.
func (r *reading) complain(f finding.Finding) {
	r.target.Variant.Log.Debug("document skipped", "source", r.s.Name, "at", f.Where(), "why", f.Message)
	r.bad = append(r.bad, f)
}

func (r *reading) definition(d *xrd.Definition) {
	r.found++
	n := d.Node
	if n.Get("status").IsMap() {
		// A status in a file is a recording and may be out of date.
		n = tree.Obj(slices.Clone(n.Fields)...)
		n.Pos = d.Node.Pos
		n.Delete("status")
	}
	o := r.target.Variant.Definition(n, d.Origin)
	why := object.NoteOf(&o).Refused
	r.s.Count(d.Name, why, d.Words)
	r.target.Variant.Log.Debug("definition read", "source", r.s.Name, "definition", d.Name, "file", d.Origin.File, "selected", why == "", "why", why)
	if o.Unit == "" {
		sum := sha256.Sum256(tree.AppendCanonical(nil, d.Node))
		o.Unit = "unnamed-" + hex.EncodeToString(sum[:8])
	}
	r.add(o, r.key(&d.Object))
}

// composition processes a Composition. One that the last scan left out is deferred
// until all Compositions are known.
func (r *reading) composition(c *xrd.Composition) {
	key := r.key(&c.Object)
	o := object.FromComposition(c.Node, c.Origin)
	if c.Name != "" {
		r.compositions[c.Name] = append(r.compositions[c.Name], standing{c.Generation, o.Of, key})
	}
	if r.lost[key] {
		r.deferred[key] = o
		return
	}
	r.add(o, key)
}

// deferredWinners decides which Compositions are used. Of several with one name that
// are for different kinds, only those for the winner's kind are kept, because no unit
// would see both. If they are for one kind, the engine chooses and reports it. The
// winner is that of xrd.MergeCompositions: the one with the highest generation, then
// the first one.
func (r *reading) deferredWinners() {
	lost := map[string]bool{}
	for _, same := range r.compositions {
		winner := same[0]
		for _, c := range same[1:] {
			if c.generation > winner.generation {
				winner = c
			}
		}
		for _, c := range same {
			if c.kind != winner.kind {
				lost[c.key] = true
				delete(r.keys, c.key)
				delete(r.marks, c.key)
				delete(r.deferred, c.key)
			}
		}
	}
	r.lost = lost
	for _, key := range slices.Sorted(maps.Keys(r.deferred)) {
		r.add(r.deferred[key], key)
	}
}

// key returns the key of an object. All objects of one name are kept, with numbered
// keys, and the engine chooses.
func (r *reading) key(o *xrd.Object) string {
	key := object.FolderKey(o.Group(), o.Kind, o.Namespace, o.Name)
	if r.seen[key]++; r.seen[key] > 1 {
		key = fmt.Sprintf("%s #%d", key, r.seen[key])
	}
	return object.Bounded(key)
}

// add adds an object to the page.
func (r *reading) add(o mirror.Object, key string) {
	o.Source, o.List, o.Key, o.Unit = r.target.Name, object.ListFolder, key, object.Bounded(o.Unit)
	r.keys[key] = true
	r.marks[key] = r.s.Sealed(object.Hash(string(o.Note) + string(o.Body)))
	r.digests[r.file] = object.Hash(r.digests[r.file] + r.marks[key])
	if _, there := r.known[key]; there && !strings.HasSuffix(r.s.Mark(object.ListFolder, key), r.s.Sealed("")) {
		if r.againAll = r.againAll || o.Unit == ""; o.Unit != "" {
			r.again = append(r.again, o.Unit)
		}
	}
	r.page = append(r.page, o)
	r.size += len(o.Body)
}

// store writes a page to the mirror. The mirror finds changes by comparing the objects;
// a mark would miss content that was different in between.
func (r *reading) store(ctx context.Context, page []mirror.Object) error {
	dirty, err := r.target.Mirror.Observe(ctx, mirror.Observation{Source: r.s.Name, List: object.ListFolder, Put: page})
	r.s.AddDirty(dirty)
	return err
}

// keep returns the known objects that were not read because their file could not be
// read or, if the source failed, all known objects that were not read: their units by
// key.
func (r *reading) keep(ctx context.Context, failed error) (map[string]string, error) {
	lost := map[string]bool{}
	for _, f := range r.bad {
		if f.Rule == status.RuleUnreadable || xrd.Lost(f) {
			lost[strings.TrimRight(f.File, "/")] = true
		}
	}
	missing := 0
	for key := range r.known {
		if !r.keys[key] && !r.lost[key] {
			missing++
		}
	}
	if missing == 0 || failed == nil && len(lost) == 0 {
		return nil, nil
	}
	objects, err := r.target.Mirror.SourceObjects(ctx, r.s.Name, object.ListFolder)
	if err != nil {
		return nil, err
	}
	kept := map[string]string{}
	for i := range objects {
		o := &objects[i]
		if !r.keys[o.Key] && !r.lost[o.Key] && (failed != nil || below(object.NoteOf(o).Origin.File, lost)) {
			kept[o.Key] = o.Unit
		}
	}
	return kept, nil
}

// below reports whether a file is one of paths, or in a folder that is.
func below(file string, paths map[string]bool) bool {
	for {
		if paths[file] {
			return true
		}
		i := strings.LastIndexByte(file, '/')
		if i < 0 {
			return paths[""] || paths["."] && file != ""
		}
		file = file[:i]
	}
}

// conclude records the objects that are gone, except for those that are kept or
// unsettled, and marks units dirty that change detection does not know.
func (r *reading) conclude(ctx context.Context, kept map[string]string, unsettled []string) error {
	m := r.target.Mirror
	o := mirror.Observation{Source: r.s.Name, List: object.ListFolder, Complete: true, Keys: slices.Collect(maps.Keys(r.keys))}
	o.Keys = append(slices.AppendSeq(o.Keys, maps.Keys(kept)), unsettled...)
	stays := make(map[string]bool, len(o.Keys))
	for _, key := range o.Keys {
		stays[key] = true
	}
	var gone []string
	for key := range r.known {
		if !stays[key] {
			gone = append(gone, key)
		}
	}
	r.s.Remember(object.ListFolder, r.marks, nil)
	var dirty int
	var err error
	if len(gone) > 0 {
		r.s.Vanish(scan.Removal{List: object.ListFolder, Gone: gone, Seen: o})
	} else if dirty, err = m.Observe(ctx, o); err != nil {
		// This also removes objects that were read but then left out.
		return err
	}
	r.s.AddDirty(dirty)
	if r.againAll {
		dirty, err = m.TouchSource(ctx, r.s.Name, object.ListFolder)
	} else {
		dirty, err = len(r.again), m.Touch(ctx, r.again)
	}
	if err != nil {
		return err
	}
	r.s.AddDirty(max(0, dirty-r.s.Dirty()))
	return nil
}
