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

// list is a list of objects in a cluster.
type list struct {
	// name is the list's, res what is listed, and short what people call one.
	name, short string
	res         cluster.Resource
	// labels narrow what is read whole; the objects that they leave out have
	// been refused by then.
	labels []string
	// survey narrows what is listed at all.
	survey string
	// refuse says of an object's metadata why nothing is made of it.
	refuse func(cluster.Item) string
	// object makes of an object what is remembered of it.
	object func(n *tree.Node) (mirror.Object, error)
}

// keyOf is the key of an object in its list.
func keyOf(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// fresh is how long ago a time may be that can still be that of two states.
const fresh = 5 * time.Second

// refusedMark is before the mark of an object that was refused.
const refusedMark = "refused "

// mark returns what tells an object from what it was before, as far as its
// metadata can; empty means that it must be seen. Settings count as well, so
// that with other ones everything is another thing.
func (s *scan) mark(item cluster.Item) string {
	d := s.variant.Detection
	switch {
	case !d.Enabled:
		return ""
	case d.Method == ByVersion && item.Version > 0:
		return s.seal(strconv.FormatInt(item.Version, 10) + " " + item.UID)
	case d.Method == ByTimestamp && !item.Changed.IsZero():
		// Servers note no time when a label is taken away.
		text := fmt.Sprintf("%d %q %q", item.Generation, item.Labels, item.Annotations)
		return s.seal(item.Changed.UTC().Format(time.RFC3339) + " " + short(text))
	}
	return ""
}

// firstSeen is before the mark of an object that is not to be trusted yet, and
// before when it was first seen.
const firstSeen = "first seen "

// lasting returns a mark as it is to be remembered. One made of a time with
// seconds only, and of this very moment, cannot be trusted next time. The moment
// is over if the cluster has noted a later one, or if the object was so a while
// ago by the clock here, whatever the two clocks say.
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

// seal adds the settings to a mark.
func (s *scan) seal(mark string) string { return mark + " " + s.sealed }

// short returns a hash of a text.
func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// hashMark is the mark of an object by what is remembered of it, and of the
// version it was remembered at: an object that is again what it was before may
// have been something else in between, of which there is no mark.
func (s *scan) hashMark(o *mirror.Object, version int64) string {
	h := sha256.New()
	h.Write(o.Body)
	h.Write(o.Note)
	return s.seal(hex.EncodeToString(h.Sum(nil)[:16]) + " " + strconv.FormatInt(version, 10))
}

// listDiff is what is to be done about the objects of a list.
type listDiff struct {
	put []mirror.Object
	// want are objects that are to be seen whole, by their keys.
	want map[string]cluster.Item
	// again are keys of objects that are as they were, and looked at again.
	again map[string]bool
	marks map[string]string
	// newest is when the last of the objects changed, by the cluster's clock.
	newest time.Time
}

// diffList decides which of the items are to be looked at.
func (s *scan) diffList(l list, items []cluster.Item, known map[string]int64) *listDiff {
	out := &listDiff{want: map[string]cluster.Item{}, again: map[string]bool{}, marks: map[string]string{}}
	for _, item := range items {
		key := keyOf(item.Namespace, item.Name)
		if item.Changed.After(out.newest) {
			out.newest = item.Changed
		}
		// The mirror may be older than the marks, when its database was restored.
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
			s.variant.Log.Debug("object skipped", "source", s.name, "list", l.name, "object", key, "why", "it has not changed")
			continue
		}
		out.want[key] = item
	}
	return out
}

// whole is how many of a list's objects must have changed for the list to be
// read whole instead of each of them.
const whole = 4

// pageSize is how many objects are read and remembered at once: each takes ten
// times its size while it is.
const pageSize = 200

// reach is how much of a list was seen.
type reach uint8

const (
	// some are objects that changed.
	some reach = iota
	// told is all there is, as a watch tells it, which may be late.
	told
	// surveyed is all there is, asked for by a scan after it had read what is
	// remembered of the list.
	surveyed
)

// take has the mirror know what was seen of a list: all that was reached, as of
// version.
func (s *scan) take(ctx context.Context, c *cluster.Cluster, l list, items []cluster.Item, version int64, reached reach) error {
	known, err := s.variant.in.Memory.Known(ctx, s.name, l.name)
	if err != nil {
		return err
	}
	sifted := s.diffList(l, items, known)
	// Versions only grow, unless the cluster was restored.
	anew := reached == surveyed && s.before.Lists[l.name].Version > version && version > 0
	observe := func(o mirror.Observation) error {
		o.Source, o.List, o.Anew, o.Look = s.name, l.name, o.Anew || anew, true
		dirty, err := s.variant.in.Memory.Observe(ctx, o)
		s.mu.Lock()
		s.dirty += dirty
		s.mu.Unlock()
		return err
	}
	put := func(objects []mirror.Object) error {
		// An object that was of a later version before the list was read is of
		// another history: that of a cluster which had the name before.
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
		// Whether it can be believed is for a scan to say, which sees all lists.
		s.variant.in.again(ctx, s.target)
		return nil
	}
	s.vanish(removal{l.name, gone, seen})
	return nil
}

// split returns the objects for which is does not hold, and those for which it
// does.
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

// ending returns an error if a list's kind is about to go, or has gone: then all
// of its objects are deleted first, which says nothing of them. Whoever takes
// the kind away, with everything that is of it, wants something else than the
// one who deletes an object.
func (s *scan) ending(ctx context.Context, c *cluster.Cluster, l list) error {
	served, err := c.Serves(ctx, l.res)
	if err != nil || served {
		return err
	}
	return s.absent(l.res.String())
}

// absent is the error of a list whose kind is not served any more.
func (s *scan) absent(kind string) error {
	return &cluster.Error{
		Cluster: s.at, Doing: "list " + kind, Reason: cluster.Absent, Err: errors.New("the cluster does not serve that kind any more"),
		Hint: "if its objects are to stay, see why it is not established; they are kept as they were last seen",
	}
}

// see makes an object of what was read whole, and reports whether it is to be
// remembered.
func (s *scan) see(l list, n *tree.Node, sifted *listDiff, known map[string]int64) (mirror.Object, bool, error) {
	key := keyOf(n.Get("metadata", "namespace").Str(), n.Get("metadata", "name").Str())
	item, wanted := sifted.want[key]
	if !wanted {
		return mirror.Object{}, false, nil
	}
	o, err := s.object(l, n)
	if err != nil {
		// It costs no other its place, and what was known of it stays.
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

// lookAgain makes units dirty whose objects are as they were, because change
// detection cannot tell, or the settings are other ones.
func (s *scan) lookAgain(ctx context.Context, l list, sifted *listDiff) error {
	if len(sifted.again) == 0 {
		return nil
	}
	if !strings.HasPrefix(l.name, listDefinitions) {
		n, err := s.variant.in.Memory.TouchSource(ctx, s.name, l.name)
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
	return s.variant.in.Memory.Touch(ctx, names)
}
