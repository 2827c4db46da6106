package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// list describes a list of objects in a cluster.
type list struct {
	// name identifies the list, res is the listed resource, and short the name of one
	// object that people use.
	name, short string
	res         cluster.Resource
	// labels are the selectors for reading full objects; the objects that they do not
	// match have been refused by then.
	labels []string
	// survey is the label selector for listing metadata.
	survey string
	// refuse returns why an object is not ingested, judged by its metadata; empty if it
	// is.
	refuse func(cluster.Item) string
	// object converts a full object to the mirror object that is stored.
	object func(n *tree.Node) (mirror.Object, error)
}

// keyOf returns the key of an object in its list.
func keyOf(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// fresh is the age below which a timestamp can still belong to two versions of an
// object.
const fresh = 5 * time.Second

// refusedMark is the prefix of the mark of a refused object.
const refusedMark = "refused "

// mark returns a fingerprint by which change detection recognizes an unchanged object
// from its metadata; empty means that the full object must be read. It includes the
// settings, so that a change of settings invalidates all marks.
func (s *scan) mark(item cluster.Item) string {
	d := s.variant.Detection
	switch {
	case !d.Enabled:
		return ""
	case d.Method == ByVersion && item.Version > 0:
		return s.seal(strconv.FormatInt(item.Version, 10) + " " + item.UID)
	case d.Method == ByTimestamp && !item.Changed.IsZero():
		// Servers record no time when a label is removed.
		text := fmt.Sprintf("%d %q %q", item.Generation, item.Labels, item.Annotations)
		return s.seal(item.Changed.UTC().Format(time.RFC3339) + " " + short(text))
	}
	return ""
}

// firstSeen is the prefix of a mark that cannot be trusted yet. The time at which the
// object was first seen follows, then the mark.
const firstSeen = "first seen "

// lasting returns a mark in the form in which it is stored. A mark made of a timestamp
// with a resolution of seconds cannot be trusted if the object may change again within
// that second. It can be trusted once the cluster has recorded a later change, or once
// the object has stayed the same for a while by the local clock, whatever the skew of
// the two clocks.
func (s *scan) lasting(item cluster.Item, newest time.Time, mark, before string) string {
	if mark == "" || s.variant.Detection.Method != ByTimestamp || newest.Sub(item.Changed) > fresh {
		return mark
	}
	since, seen, _ := strings.Cut(strings.TrimPrefix(before, firstSeen), " ")
	if at, err := strconv.ParseInt(since, 10, 64); err == nil && seen == mark && strings.HasPrefix(before, firstSeen) {
		if s.now.Sub(time.UnixMilli(at)).Abs() > fresh {
			return mark
		}
		return before
	}
	return firstSeen + strconv.FormatInt(s.now.UnixMilli(), 10) + " " + mark
}

// seal appends the hash of the settings to a mark.
func (s *scan) seal(mark string) string { return mark + " " + s.sealed }

// short returns a short hash of a text.
func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// hashMark returns the mark of an object by its content and the version at which it was
// stored. The version is included because an object that has its old content again may
// have had other content in between, which left no mark.
func (s *scan) hashMark(o *mirror.Object, version int64) string {
	h := sha256.New()
	h.Write(o.Body)
	h.Write(o.Note)
	return s.seal(hex.EncodeToString(h.Sum(nil)[:16]) + " " + strconv.FormatInt(version, 10))
}

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
func (s *scan) diffList(l list, items []cluster.Item, known map[string]int64) *listDiff {
	out := &listDiff{want: map[string]cluster.Item{}, again: map[string]bool{}, marks: map[string]string{}}
	for _, item := range items {
		key := keyOf(item.Namespace, item.Name)
		if item.Changed.After(out.newest) {
			out.newest = item.Changed
		}
		// The mirror may be older than the marks if its database was restored.
		version, there := known[key]
		current := there && version >= item.Version
		why := l.refuse(item)
		if strings.HasPrefix(l.name, listDefinitions) {
			s.variant.Log.Debug("definition listed", "source", s.name, "definition", item.Name, "selected", why == "", "why", why, "version", item.Version)
		}
		if why != "" {
			mark := s.seal(refusedMark + why)
			if current && s.marks[markKey(l.name, key)] == mark {
				continue
			}
			out.marks[key] = mark
			out.put = append(out.put, mirror.Object{
				Source: s.name, List: l.name, Key: key, Unit: item.Name, Version: item.Version, Note: note{Refused: why}.encode(),
			})
			if version == item.Version {
				out.again[key] = true
			}
			continue
		}
		mark := s.mark(item)
		if current && mark != "" && s.marks[markKey(l.name, key)] == mark {
			s.variant.Log.Debug("object skipped", "source", s.name, "list", l.name, "object", key, "why", "unchanged")
			continue
		}
		out.want[key] = item
	}
	return out
}

// whole is the share of a list, one in whole, that must have changed for the list to be
// read as a whole instead of object by object.
const whole = 4

// pageSize is how many objects are read and stored at once: in memory, each takes ten
// times its size.
const pageSize = 200

// reach is how much of a list was seen.
type reach uint8

const (
	// some means: only objects that changed.
	some reach = iota
	// told means: the complete list as reported by a watch, which may be late.
	told
	// surveyed means: the complete list, requested by a scan after it had read the known
	// objects of the list from the mirror.
	surveyed
)

// take stores what was seen of a list in the mirror, as of version. reached says how
// complete it is.
func (s *scan) take(ctx context.Context, c *cluster.Cluster, l list, items []cluster.Item, version int64, reached reach) error {
	known, err := s.variant.in.Mirror.Known(ctx, s.name, l.name)
	if err != nil {
		return err
	}
	sifted := s.diffList(l, items, known)
	// Versions only grow, unless the cluster was restored.
	anew := reached == surveyed && s.before.Lists[l.name].Version > version && version > 0
	observe := func(o mirror.Observation) error {
		o.Source, o.List, o.Anew, o.Look = s.name, l.name, o.Anew || anew, true
		dirty, err := s.variant.in.Mirror.Observe(ctx, o)
		s.mu.Lock()
		s.dirty += dirty
		s.mu.Unlock()
		return err
	}
	put := func(objects []mirror.Object) error {
		// An object that had a later version before the list was read belongs to another
		// history: that of a cluster that had the same name before.
		var other []mirror.Object
		if reached == surveyed {
			objects, other = split(objects, func(o *mirror.Object) bool { return o.Version < known[o.Key] && known[o.Key] <= version })
		}
		if err := observe(mirror.Observation{Put: objects}); err != nil || len(other) == 0 {
			return err
		}
		return observe(mirror.Observation{Put: other, Anew: true})
	}
	if err := put(sifted.put); err != nil {
		return err
	}
	see := func(n *tree.Node) (mirror.Object, bool, error) { return s.see(l, n, sifted, known) }
	if err := s.bodies(ctx, c, l, sifted, len(items), see, put); err != nil {
		return err
	}
	if err := s.lookAgain(ctx, l, sifted); err != nil {
		return err
	}
	if reached == some {
		s.remember(l.name, sifted.marks, nil)
		return nil
	}
	there := make(map[string]bool, len(items))
	keys := make([]string, 0, len(items))
	for _, item := range items {
		key := keyOf(item.Namespace, item.Name)
		there[key] = true
		keys = append(keys, key)
	}
	var gone []string
	for key := range known {
		if !there[key] {
			gone = append(gone, key)
		}
	}
	s.remember(l.name, sifted.marks, nil)
	seen := mirror.Observation{Source: s.name, List: l.name, Complete: true, Keys: keys, Version: version, Anew: anew, Look: true}
	if len(gone) == 0 {
		return observe(seen)
	}
	if err := s.ending(ctx, c, l); err != nil {
		return err
	}
	if reached == told {
		// Only a scan, which sees all lists, can decide whether to trust the removal.
		s.variant.in.scanSoon(s.target)
		return nil
	}
	s.vanish(removal{l.name, gone, seen})
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

// ending returns an error if the kind of a list is being deleted or is gone. Then all
// of its objects are deleted first, which says nothing about their owners' intent:
// deleting a kind with all its objects is not the same as deleting an object.
func (s *scan) ending(ctx context.Context, c *cluster.Cluster, l list) error {
	served, err := c.Serves(ctx, l.res)
	if err != nil || served {
		return err
	}
	return s.absent(l.res.String())
}

// absent returns the error of a list whose kind is no longer served.
func (s *scan) absent(kind string) error {
	return &cluster.Error{
		Cluster: s.at, Doing: "list " + kind, Reason: cluster.Absent, Err: errors.New("kind is no longer served"),
		Hint: "check why the kind is not established; its objects are kept as last seen",
	}
}

// see converts a full object to a mirror object, and reports whether to store it.
func (s *scan) see(l list, n *tree.Node, sifted *listDiff, known map[string]int64) (mirror.Object, bool, error) {
	key := keyOf(n.Get("metadata", "namespace").Str(), n.Get("metadata", "name").Str())
	item, wanted := sifted.want[key]
	if !wanted {
		return mirror.Object{}, false, nil
	}
	o, err := s.object(l, n)
	if err != nil {
		// One unreadable object must not affect the others; its last good copy stays.
		s.note(l.name, []finding.Finding{{Rule: xrd.RuleSyntax, Severity: finding.Error, Object: key, Message: err.Error()}})
		return o, false, nil
	}
	o.Source, o.List, o.Key = s.name, l.name, key
	o.Version, _ = strconv.ParseInt(n.Get("metadata", "resourceVersion").Str(), 10, 64)
	version, there := known[key]
	before := s.marks[markKey(l.name, key)]
	mark := s.mark(item)
	if s.variant.Detection.Enabled && mark == "" {
		if there && before == s.hashMark(&o, version) {
			return o, false, nil
		}
		mark = s.hashMark(&o, o.Version)
	}
	same := mark != "" && there && before == mark && version >= item.Version
	if mark != "" {
		sifted.marks[key] = s.lasting(item, sifted.newest, mark, before)
	}
	if same {
		return o, false, nil
	}
	if there && version == o.Version {
		sifted.again[key] = true
	}
	return o, true, nil
}

// lookAgain marks units dirty whose objects have the same version, because change
// detection cannot tell whether they changed, or because the settings changed.
func (s *scan) lookAgain(ctx context.Context, l list, sifted *listDiff) error {
	if len(sifted.again) == 0 {
		return nil
	}
	if !strings.HasPrefix(l.name, listDefinitions) {
		n, err := s.variant.in.Mirror.TouchSource(ctx, s.name, l.name)
		s.mu.Lock()
		s.dirty += n
		s.mu.Unlock()
		return err
	}
	names := make([]string, 0, len(sifted.again))
	for name := range sifted.again {
		names = append(names, name)
	}
	s.mu.Lock()
	s.dirty += len(names)
	s.mu.Unlock()
	return s.variant.in.Mirror.Touch(ctx, names)
}
