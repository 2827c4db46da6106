package listing

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// listDiff is the difference between a list and the mirror.
type listDiff struct {
	put []mirror.Object
	// want contains the objects whose full bodies are needed, by key.
	want map[string]cluster.Item
	// again contains the keys of objects that have the same version but are processed
	// again.
	again map[string]bool
	marks map[string]string
	// newest is the latest change of any object, by the cluster's clock.
	newest time.Time
}

// diffList decides which of the items must be read.
func (s *Reader) diffList(l List, items []cluster.Item, known map[string]int64) *listDiff {
	out := &listDiff{want: map[string]cluster.Item{}, again: map[string]bool{}, marks: map[string]string{}}
	for _, item := range items {
		key := object.Key(item.Namespace, item.Name)
		if item.Changed.After(out.newest) {
			out.newest = item.Changed
		}
		// The mirror may be older than the marks if its database was restored.
		version, there := known[key]
		current := there && version >= item.Version
		why := l.Refuse(item)
		if strings.HasPrefix(l.Name, object.ListDefinitions) {
			s.Variant.Log.Debug("definition listed", "source", s.Name, "definition", item.Name, "selected", why == "", "why", why, "version", item.Version)
		}
		if why != "" {
			mark := s.Sealed(refusedMark + why)
			if current && s.Mark(l.Name, key) == mark {
				continue
			}
			out.marks[key] = mark
			o := object.Refused(why)
			o.Source, o.List, o.Key, o.Unit, o.Version = s.Name, l.Name, key, item.Name, item.Version
			out.put = append(out.put, o)
			if version == item.Version {
				out.again[key] = true
			}
			continue
		}
		mark := s.mark(item)
		if current && mark != "" && s.Mark(l.Name, key) == mark {
			s.Variant.Log.Debug("object skipped", "source", s.Name, "list", l.Name, "object", key, "why", "unchanged")
			continue
		}
		out.want[key] = item
	}
	return out
}

// see converts a full object to a mirror object, and reports whether to store it.
func (s *Reader) see(l List, n *tree.Node, diff *listDiff, known map[string]int64) (mirror.Object, bool, error) {
	key := object.Key(n.Get("metadata", "namespace").Str(), n.Get("metadata", "name").Str())
	item, wanted := diff.want[key]
	if !wanted {
		return mirror.Object{}, false, nil
	}
	o, err := l.convert(n)
	if err != nil {
		// One unreadable object must not affect the others; its last good copy stays.
		s.Note(l.Name, []finding.Finding{{Rule: xrd.RuleSyntax, Severity: finding.Error, Object: key, Message: err.Error()}})
		return o, false, nil
	}
	o.Source, o.List, o.Key = s.Name, l.Name, key
	o.Version, _ = strconv.ParseInt(n.Get("metadata", "resourceVersion").Str(), 10, 64)
	version, there := known[key]
	before := s.Mark(l.Name, key)
	mark := s.mark(item)
	if s.Variant.Detection.Enabled && mark == "" {
		if there && before == s.hashMark(&o, version) {
			return o, false, nil
		}
		mark = s.hashMark(&o, o.Version)
	}
	same := mark != "" && there && before == mark && version >= item.Version
	if mark != "" {
		diff.marks[key] = s.lasting(item, diff.newest, mark, before)
	}
	if same {
		return o, false, nil
	}
	if there && version == o.Version {
		diff.again[key] = true
	}
	return o, true, nil
}

// lookAgain marks units dirty whose objects have the same version, because change
// detection cannot tell whether they changed, or because the settings changed.
func (s *Reader) lookAgain(ctx context.Context, l List, diff *listDiff) error {
	if len(diff.again) == 0 {
		return nil
	}
	if !strings.HasPrefix(l.Name, object.ListDefinitions) {
		n, err := s.Mirror.TouchSource(ctx, s.Name, l.Name)
		s.AddDirty(n)
		return err
	}
	names := slices.Collect(maps.Keys(diff.again))
	s.AddDirty(len(names))
	return s.Mirror.Touch(ctx, names)
}
