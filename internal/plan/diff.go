package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/xrd/structural"
)

// describe returns an object of the plan. With isNew, its owner does not exist, so that the
// uid in its owner reference is invented.
func (j *job) describe(desired, live *tree.Node, isNew bool) Object {
	ref := refOf(desired)
	o := Object{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, Action: Create}
	if live != nil {
		d := newDiffer(desired)
		was, will := reveal(live), reveal(applied(desired))
		fields := setsOf(live)
		d.compare("", will, was, fields)
		d.removed(was, will)
		o.tell(d.fields)
	}
	o.Manifest = &Manifest{shown(desired, isNew && live == nil, j.generated[ref.Name] != "")}
	return o
}

// describeRoot describes the composite itself, whose desired state has all that stays.
func (j *job) describeRoot(c *composite) {
	j.plan.Composite = j.describe(c.desired, c.live, true)
	if c.live == nil {
		return
	}
	d := newDiffer(c.desired)
	was, will := reveal(c.live), reveal(applied(c.desired))
	d.compare("", will, was, setsOf(c.live))
	d.lost("spec", was.get("spec"), will.get("spec"))
	for _, key := range []string{"labels", "annotations"} {
		d.lost(join("metadata", key), was.get("metadata").get(key), will.get("metadata").get(key))
	}
	j.plan.Composite.tell(d.fields)
}

// tell sets the fields of an object that exists, and whether it changes.
func (o *Object) tell(fields []Field) {
	slices.SortStableFunc(fields, func(a, b Field) int { return strings.Compare(a.Path, b.Path) })
	o.Fields, o.Action = fields, Unchanged
	if len(fields) > 0 {
		o.Action = Change
	}
}

func isSecret(n *tree.Node) bool {
	return n.Get("kind").Str() == "Secret" && n.Get("apiVersion").Str() == "v1"
}

// assigned are the fields of metadata that the API server sets.
var assigned = []string{"managedFields", "uid", "resourceVersion", "generation", "creationTimestamp", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"}

// applied returns what an apply sets of an object: no status, and nothing that the API
// server sets.
func applied(n *tree.Node) *tree.Node {
	n = without(n, "status")
	return with(n, "metadata", without(n.Get("metadata"), assigned...))
}

// shown returns the manifest of an object as people may see it: what may be secret is
// hidden, as on the page of a resource.
func shown(n *tree.Node, inventedOwner, inventedName bool) *tree.Node {
	n = applied(n)
	meta := n.Get("metadata")
	if inventedName {
		meta = without(meta, "name")
	}
	if owners := meta.Get("ownerReferences"); inventedOwner && owners.IsList() {
		list := tree.Arr()
		for _, o := range owners.Items {
			list.Items = append(list.Items, without(o, "uid"))
		}
		meta = with(meta, "ownerReferences", list)
	}
	return engine.Redact(with(n, "metadata", meta))
}

// value is a value, and the same as people may see it.
type value struct{ raw, shown *tree.Node }

// reveal returns an object with what people may see of it.
func reveal(n *tree.Node) value { return value{n, engine.Redact(n)} }

func (v value) get(key string) value { return value{v.raw.Get(key), v.shown.Get(key)} }

// item returns an item. A list that may be secret is not shown as one.
func (v value) item(i int) value {
	out := value{raw: v.raw.Items[i]}
	if all := v.shown.List(); i < len(all) {
		out.shown = all[i]
	}
	return out
}

// manifest returns what people may see; nil if there is no value.
func (v value) manifest() *Manifest {
	switch {
	case v.raw == nil:
		return nil
	case v.shown == nil:
		return &Manifest{tree.Str(engine.Hidden)}
	}
	return &Manifest{v.shown}
}

// differ compares an object with the live one.
type differ struct {
	// secret reports that the object is a Secret, of which only the metadata is read.
	secret bool
	// normalized reports that the API server normalizes values: it stores kinds of its own
	// as Go types, with quantities in their shortest form and without empty lists.
	normalized bool
	fields     []Field
}

func newDiffer(n *tree.Node) *differ {
	group := groupOf(refOf(n))
	return &differ{secret: isSecret(n), normalized: !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")}
}

// unread are the fields of a Secret that are not read.
var unread = []string{"data", "stringData", "type", "immutable"}

// compare adds the differences of the fields that desired has, as a server-side apply
// changes them. sets are the sets of fields of managers at the path: they tell lists that
// are merged. Other lists are replaced, but for fields that the API server has filled in.
func (d *differ) compare(path string, desired, live value, sets []*tree.Node) {
	want, has := desired.raw, live.raw
	switch {
	case d.secret && slices.Contains(unread, path), path == "apiVersion":
		// An object has the version that it is asked for in.
	case want.IsMap() && has.IsMap():
		for _, f := range want.Fields {
			d.compare(join(path, f.Key), desired.get(f.Key), live.get(f.Key), below(sets, "f:"+f.Key))
		}
	case path == "metadata.ownerReferences" || path == "metadata.finalizers":
		if !includes(has, want) {
			d.add(path, live, desired)
		}
	case want.IsList() && has.IsList() && merged(sets):
		for i := range want.Items {
			at := fmt.Sprintf("%s[%d]", path, i)
			if name, k := partner(want.Items[i], has, sets); k >= 0 {
				d.compare(at, desired.item(i), live.item(k), below(sets, name))
				continue
			}
			d.add(at, value{}, desired.item(i))
		}
	case want.IsList() && has.IsList() && want.Len() == has.Len():
		for i := range want.Items {
			d.compare(fmt.Sprintf("%s[%d]", path, i), desired.item(i), live.item(i), nil)
		}
	case want.Len() == 0 && has.IsNull() && (want.IsMap() || want.IsList() && d.normalized), want.IsNull() && has.IsNull():
		// The API server drops null, and an empty map or list may be dropped.
	case d.normalized && quantities.MatchString(path) && structural.SameQuantity(want.Scalar(), has.Scalar()):
	case !want.Equal(has):
		d.add(path, live, desired)
	}
}

// quantities matches the paths of quantities in the kinds of Kubernetes.
var quantities = regexp.MustCompile(`(^|\.)((limits|requests|hard|capacity|podFixed|default|defaultRequest|max|min)(\.[^.[]+|\["[^"]+"\])|sizeLimit|divisor|averageValue)$`)

// setsOf returns the sets of fields of the managers of an object.
func setsOf(n *tree.Node) (all []*tree.Node) {
	for _, m := range n.Get("metadata", "managedFields").List() {
		all = append(all, m.Get("fieldsV1"))
	}
	return all
}

// merged reports whether sets of fields name items of a list, by a key or by their value.
func merged(sets []*tree.Node) bool {
	return slices.ContainsFunc(sets, func(s *tree.Node) bool {
		return s.IsMap() && slices.ContainsFunc(s.Fields, func(f tree.Field) bool { _, ok := itemOf(f.Key); return ok })
	})
}

// itemOf returns what the name of an item in a set of fields says: the values of its key
// fields, or its value. It reports false for other names.
func itemOf(name string) (*tree.Node, bool) {
	text, ok := strings.CutPrefix(name, "k:")
	if !ok {
		if text, ok = strings.CutPrefix(name, "v:"); !ok {
			return nil, false
		}
	}
	n, err := wire.Decoder{}.Decode([]byte(text))
	return n, err == nil
}

// fits reports whether an item of a list has a name. An item that is applied may leave out
// a key field that has a default.
func fits(item, name *tree.Node, leaveOut bool) bool {
	if !name.IsMap() {
		return name.Equal(item)
	}
	return item.IsMap() && !slices.ContainsFunc(name.Fields, func(f tree.Field) bool {
		given := item.Get(f.Key)
		return given == nil && !leaveOut || given != nil && !given.Equal(f.Value)
	})
}

// partner returns the item of a live list that an apply merges an item with, and its name
// in the sets of fields; -1 if there is none.
func partner(want, live *tree.Node, sets []*tree.Node) (name string, at int) {
	for _, s := range sets {
		if !s.IsMap() {
			continue
		}
		for _, f := range s.Fields {
			n, ok := itemOf(f.Key)
			if !ok || !fits(want, n, true) {
				continue
			}
			if i := slices.IndexFunc(live.Items, func(has *tree.Node) bool { return fits(has, n, false) }); i >= 0 {
				return f.Key, i
			}
		}
	}
	return "", -1
}

// lost adds the fields of maps that desired lacks.
func (d *differ) lost(path string, live, desired value) {
	if !live.raw.IsMap() {
		return
	}
	for _, f := range live.raw.Fields {
		at := join(path, f.Key)
		if !desired.raw.Has(f.Key) {
			d.add(at, live.get(f.Key), value{})
			continue
		}
		d.lost(at, live.get(f.Key), desired.get(f.Key))
	}
}

// includes reports whether a list has items that agree with each of another list.
func includes(live, desired *tree.Node) bool {
	return !slices.ContainsFunc(desired.List(), func(want *tree.Node) bool {
		return !slices.ContainsFunc(live.List(), func(has *tree.Node) bool {
			if want.IsMap() {
				return want.Get("uid").Equal(has.Get("uid"))
			}
			return want.Equal(has)
		})
	})
}

// add adds a field that changes.
func (d *differ) add(path string, before, after value) {
	d.fields = append(d.fields, Field{Path: path, Old: before.manifest(), New: after.manifest()})
}

// fieldManager is how the names of Crossplane's field managers for composed objects
// begin.
const fieldManager = "apiextensions.crossplane.io/composed"

// removed adds the fields that Crossplane set before and does not set any more: a
// server-side apply removes them, unless another manager has them too.
func (d *differ) removed(live, desired value) {
	var own, others []*tree.Node
	for _, m := range live.raw.Get("metadata", "managedFields").List() {
		fields := m.Get("fieldsV1")
		if strings.HasPrefix(m.Get("manager").Str(), fieldManager) && m.Get("operation").Str() == "Apply" {
			own = append(own, fields)
			continue
		}
		others = append(others, fields)
	}
	for _, fields := range own {
		d.drop("", fields, others, live, desired)
	}
}

// drop adds the fields and items of a set of fields that desired lacks.
func (d *differ) drop(path string, fields *tree.Node, others []*tree.Node, live, desired value) {
	if !fields.IsMap() {
		return
	}
	for _, f := range fields.Fields {
		same := below(others, f.Key)
		if n, ok := itemOf(f.Key); ok {
			d.dropItem(path, n, f.Value, same, live, desired)
			continue
		}
		key, ok := strings.CutPrefix(f.Key, "f:")
		if !ok || path == "" && key == "status" {
			continue
		}
		at := join(path, key)
		switch {
		case live.raw.Get(key) == nil || at == "metadata.ownerReferences" || at == "metadata.finalizers":
		case desired.raw.Has(key):
			d.drop(at, f.Value, same, live.get(key), desired.get(key))
		case len(same) == 0:
			d.add(at, live.get(key), value{})
		}
	}
}

// dropItem adds an item of a merged list that desired lacks, or the fields that it lacks.
func (d *differ) dropItem(path string, name, fields *tree.Node, same []*tree.Node, live, desired value) {
	i := slices.IndexFunc(live.raw.List(), func(n *tree.Node) bool { return fits(n, name, false) })
	if i < 0 {
		return
	}
	if k := slices.IndexFunc(desired.raw.List(), func(n *tree.Node) bool { return fits(n, name, true) }); k >= 0 {
		d.drop(fmt.Sprintf("%s[%d]", path, k), fields, same, live.item(i), desired.item(k))
		return
	}
	if len(same) == 0 {
		d.add(fmt.Sprintf("%s[%d]", path, i), live.item(i), value{})
	}
}

// join returns the path of a field.
func join(path, key string) string {
	if strings.ContainsAny(key, "./[]") {
		return fmt.Sprintf("%s[%q]", path, key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
