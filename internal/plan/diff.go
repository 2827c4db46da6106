package plan

import (
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
)

// describe returns an object of the plan. With isNew, its owner does not exist, so that the
// uid in its owner reference is invented.
func (j *job) describe(desired, live *tree.Node, isNew bool) Object {
	ref := refOf(desired)
	o := Object{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, Action: Create}
	if live != nil {
		d := differ{secret: isSecret(desired)}
		was, will := reveal(live), reveal(applied(desired))
		d.compare("", will, was)
		d.removed(was, will)
		slices.SortStableFunc(d.fields, func(a, b Field) int { return strings.Compare(a.Path, b.Path) })
		o.Fields, o.Action = d.fields, Unchanged
		if len(d.fields) > 0 {
			o.Action = Change
		}
	}
	o.Manifest = &Manifest{shown(desired, isNew && live == nil, j.generated[ref.Name] != "")}
	return o
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

func (v value) item(i int) value { return value{v.raw.Items[i], v.shown.Items[i]} }

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
	secret bool
	fields []Field
}

// compare adds the differences of the fields that desired has, as a server-side apply
// changes them. Lists are replaced, but for fields that the API server has filled in.
func (d *differ) compare(path string, desired, live value) {
	want, has := desired.raw, live.raw
	switch {
	case d.secret && (path == "data" || path == "stringData"):
		// The live data is not read.
	case want.IsMap() && has.IsMap():
		for _, f := range want.Fields {
			d.compare(join(path, f.Key), desired.get(f.Key), live.get(f.Key))
		}
	case path == "metadata.ownerReferences" || path == "metadata.finalizers":
		if !includes(has, want) {
			d.add(path, live, desired)
		}
	case want.IsList() && has.IsList() && want.Len() == has.Len():
		for i := range want.Items {
			d.compare(fmt.Sprintf("%s[%d]", path, i), desired.item(i), live.item(i))
		}
	case want.IsMap() && want.Len() == 0 && has.IsNull(), want.IsNull() && has.IsNull():
		// The API server drops null, and an empty map may be dropped.
	case !want.Equal(has):
		d.add(path, live, desired)
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

// drop adds the fields of a set of fields that desired lacks. Items of lists that are
// merged by key are not compared.
func (d *differ) drop(path string, fields *tree.Node, others []*tree.Node, live, desired value) {
	if !fields.IsMap() {
		return
	}
	for _, f := range fields.Fields {
		key, ok := strings.CutPrefix(f.Key, "f:")
		if !ok || path == "" && key == "status" {
			continue
		}
		var same []*tree.Node
		for _, o := range others {
			if o.Has(f.Key) {
				same = append(same, o.Get(f.Key))
			}
		}
		at := join(path, key)
		switch {
		case live.raw.Get(key) == nil || at == "metadata.ownerReferences" || d.secret && path == "":
		case desired.raw.Has(key):
			d.drop(at, f.Value, same, live.get(key), desired.get(key))
		case len(same) == 0:
			d.add(at, live.get(key), value{})
		}
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
