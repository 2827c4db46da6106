package listing

import (
	"context"
	"errors"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/source/cluster"
)

// whole is the share of a list, one in whole, that must have changed for the list to be
// read as a whole instead of object by object.
const whole = 4

// Reach is how much of a list was seen.
type Reach uint8

const (
	// Some means: only objects that changed.
	Some Reach = iota
	// Told means: the complete list as reported by a watch, which may be late.
	Told
	// Surveyed means: the complete list, requested by a scan after it had read the known
	// objects of the list from the mirror.
	Surveyed
)

// Take stores what was seen of a list in the mirror, as of version. reached says how
// complete it is.
func (s *Reader) Take(ctx context.Context, l List, items []cluster.Item, version int64, reached Reach) error {
	known, err := s.Mirror.Known(ctx, s.Name, l.Name)
	if err != nil {
		return err
	}
	diff := s.diffList(l, items, known)
	// Versions only grow, unless the cluster was restored.
	anew := reached == Surveyed && s.Before.Lists[l.Name].Version > version && version > 0
	observe := func(o mirror.Observation) error {
		o.Source, o.List, o.Anew, o.Look = s.Name, l.Name, o.Anew || anew, true
		dirty, err := s.Mirror.Observe(ctx, o)
		s.AddDirty(dirty)
		return err
	}
	put := func(objects []mirror.Object) error {
		// An object that had a later version before the list was read belongs to another
		// history: that of a cluster that had the same name before.
		var other []mirror.Object
		if reached == Surveyed {
			objects, other = split(objects, func(o *mirror.Object) bool { return o.Version < known[o.Key] && known[o.Key] <= version })
		}
		if err := observe(mirror.Observation{Put: objects}); err != nil || len(other) == 0 {
			return err
		}
		return observe(mirror.Observation{Put: other, Anew: true})
	}
	if err := put(diff.put); err != nil {
		return err
	}
	see := func(n *tree.Node) (mirror.Object, bool, error) { return s.see(l, n, diff, known) }
	if err := s.bodies(ctx, l, diff, len(items), see, put); err != nil {
		return err
	}
	if err := s.lookAgain(ctx, l, diff); err != nil {
		return err
	}
	if reached == Some {
		s.Remember(l.Name, diff.marks, nil)
		return nil
	}
	there := make(map[string]bool, len(items))
	keys := make([]string, 0, len(items))
	for _, item := range items {
		key := object.Key(item.Namespace, item.Name)
		there[key] = true
		keys = append(keys, key)
	}
	var gone []string
	for key := range known {
		if !there[key] {
			gone = append(gone, key)
		}
	}
	s.Remember(l.Name, diff.marks, nil)
	seen := mirror.Observation{Source: s.Name, List: l.Name, Complete: true, Keys: keys, Version: version, Anew: anew, Look: true}
	if len(gone) == 0 {
		return observe(seen)
	}
	if err := s.Ending(ctx, l); err != nil {
		return err
	}
	if reached == Told {
		// Only a scan, which sees all lists, can decide whether to trust the removal.
		s.ScanSoon(s.Target)
		return nil
	}
	s.Vanish(scan.Removal{List: l.Name, Gone: gone, Seen: seen})
	return nil
}

// split returns the objects for which the predicate is false, and those for which it is
// true.
func split(objects []mirror.Object, is func(*mirror.Object) bool) (not, those []mirror.Object) {
	for i := range objects {
		if is(&objects[i]) {
			those = append(those, objects[i])
			continue
		}
		not = append(not, objects[i])
	}
	return not, those
}

// Ending returns an error if the kind of a list is being deleted or is gone. Then all
// of its objects are deleted first, which says nothing about their owners' intent:
// deleting a kind with all its objects is not the same as deleting an object.
func (s *Reader) Ending(ctx context.Context, l List) error {
	served, err := s.Cluster.Serves(ctx, l.Resource)
	if err != nil || served {
		return err
	}
	return s.Absent(l.Resource.String())
}

// Absent returns the error of a list whose kind is no longer served.
func (s *Reader) Absent(kind string) error {
	return &cluster.Error{
		Cluster: s.At, Doing: "list " + kind, Reason: cluster.Absent, Err: errors.New("kind is no longer served"),
		Hint: "check why the kind is not established; its objects are kept as last seen",
	}
}
