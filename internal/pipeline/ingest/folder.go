package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/finding"
	"example.dev/ingestor/internal/state"
	"example.dev/ingestor/tree"
	"example.dev/ingestor/xrd"
)

// folder reads a source without a cluster. It has neither versions nor times of
// objects, so that change detection goes by their content.
type folder struct {
	*Folder
	place *place
	// emptied is since when there is nothing where there was something.
	emptied time.Time
}

// scan reads the whole source. If anything of it cannot be read, nothing is
// taken for gone.
func (f *folder) scan(ctx context.Context, s *scan) error {
	set, err := f.Source.Read(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.found = len(set.Definitions)
	set.Within(f.place.part.Namespaces)
	objects := f.objects(set)
	if err == nil && finding.Count(set.Findings, finding.Error) > 0 {
		err = fmt.Errorf("cannot read all of source %q: %s", f.Name, firstError(set.Findings))
	}
	if err == nil {
		err = f.empty(s, len(objects))
	}
	if e := f.take(ctx, s, objects, err == nil); e != nil {
		return e
	}
	s.ended(listFolder, listed{count: len(objects), err: err})
	return nil
}

// empty returns an error if there is nothing where there was something, and has
// not been for long: a volume that is not mounted looks like that, and a folder
// that is being written anew.
func (f *folder) empty(s *scan, objects int) error {
	if objects > 0 || s.before.Lists[listFolder].Count == 0 {
		f.emptied = time.Time{}
		return nil
	}
	if f.emptied.IsZero() {
		f.emptied = s.now
	}
	if s.now.Sub(f.emptied) >= f.place.every/2 {
		return nil
	}
	return fmt.Errorf("cannot believe that source %q is empty: there were %d objects in it; if it stays so, they go", f.Name, s.before.Lists[listFolder].Count)
}

// firstError is what is wrong, with its place.
func firstError(fs []finding.Finding) string {
	for _, f := range fs {
		if f.Severity == finding.Error {
			return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Pos.Line, f.Pos.Column, f.Message)
		}
	}
	return ""
}

// folderKey is the key of an object in a folder, if it is the first of its name.
func folderKey(group, kind, namespace, name string) string {
	key := strings.Join([]string{kind, namespace, name}, " ")
	if kind == xrd.KindDefinition {
		return key
	}
	return group + " " + key
}

// objects makes objects of what was read.
func (f *folder) objects(set *xrd.Set) []state.Object {
	var out []state.Object
	seen := map[string]int{}
	add := func(o state.Object, about *xrd.Object) {
		key := folderKey(about.Group(), about.Kind, about.Namespace, about.Name)
		if seen[key]++; seen[key] > 1 {
			// Of several of one name all are kept, and the engine chooses.
			key = fmt.Sprintf("%s #%d", key, seen[key])
		}
		o.Source, o.List, o.Key, o.Unit = f.place.name, listFolder, bounded(key), bounded(o.Unit)
		out = append(out, o)
	}
	for _, d := range set.Definitions {
		// It cannot fail: nothing of it is asked of a server.
		o, _ := f.place.part.definition(d.Node, d.Origin)
		if o.Unit == "" {
			sum := sha256.Sum256(tree.AppendCanonical(nil, d.Node))
			o.Unit = "unnamed-" + hex.EncodeToString(sum[:8])
		}
		add(o, &d.Object)
	}
	for _, c := range used(set.Compositions) {
		add(composition(c.Node, c.Origin), &c.Object)
	}
	for _, o := range set.Others {
		add(composite(o.Node, o.Origin), o)
	}
	return out
}

// used leaves out Compositions instead of which one of the same name is used
// that is for another kind: none of the units would see both. Where both are for
// one kind, the engine chooses, and says so.
func used(all []*xrd.Composition) []*xrd.Composition {
	merged, _ := xrd.MergeCompositions(all)
	winners := make(map[string]*xrd.Composition, len(merged))
	for _, c := range merged {
		winners[c.Name] = c
	}
	return slices.DeleteFunc(slices.Clone(all), func(c *xrd.Composition) bool {
		w := winners[c.Name]
		return w != nil && forKind(w) != forKind(c)
	})
}

// take has the mirror know what was read.
func (f *folder) take(ctx context.Context, s *scan, objects []state.Object, complete bool) error {
	known, err := f.place.part.in.Memory.Known(ctx, s.name, listFolder)
	if err != nil {
		return err
	}
	o := state.Observation{Source: s.name, List: listFolder, Complete: complete}
	set := map[string]string{}
	var again []state.Object
	for _, x := range objects {
		o.Keys = append(o.Keys, x.Key)
		set[x.Key] = s.seal(short(string(x.Note) + string(x.Body)))
		// What differs from what is known is found by comparing the two; a mark
		// would not tell of what was something else in between.
		o.Put = append(o.Put, x)
		_, there := known[x.Key]
		delete(known, x.Key)
		if there && !strings.HasSuffix(s.marks[markKey(listFolder, x.Key)], s.seal("")) {
			again = append(again, x)
		}
	}
	s.dirty, err = f.place.part.in.Memory.Observe(ctx, o)
	if err != nil {
		return err
	}
	if err := f.lookAgain(ctx, s, again); err != nil {
		return err
	}
	var gone []string
	for key := range known {
		if complete {
			gone = append(gone, key)
		}
	}
	s.remember(listFolder, set, gone)
	return nil
}

// lookAgain makes units dirty of whose objects change detection remembers
// nothing, or nothing under these settings.
func (f *folder) lookAgain(ctx context.Context, s *scan, objects []state.Object) error {
	var names []string
	for _, o := range objects {
		if o.Unit == "" {
			n, err := f.place.part.in.Memory.TouchSource(ctx, s.name, listFolder)
			s.dirty = max(s.dirty, n)
			return err
		}
		names = append(names, o.Unit)
	}
	s.dirty = max(s.dirty, len(names))
	return f.place.part.in.Memory.Touch(ctx, names)
}

// follow scans again whenever something changed.
func (f *folder) follow(ctx context.Context) {
	in := f.place.part.in
	changed := func() {
		if _, err := in.Scan(ctx, f.place.name, TriggerWatch); err != nil && ctx.Err() == nil {
			in.again(ctx, f.place)
		}
	}
	for ctx.Err() == nil {
		err := f.Watch(ctx, changed)
		if ctx.Err() != nil {
			return
		}
		in.warn(f.place.part.Log, "watch "+f.place.name, "source cannot be watched, so changes wait for the schedule",
			"source", f.place.name, "error", err)
		pause(ctx, f.place.every)
	}
}
