package engine

import (
	"cmp"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/composed"
)

// CompositeKey identifies a composite or claim across clusters, whatever version it is read
// through. The group is in the contract's vocabulary.
type CompositeKey struct {
	Cluster, Group, Kind, Namespace, Name string
}

// Compare orders keys.
func (k CompositeKey) Compare(o CompositeKey) int {
	return cmp.Or(strings.Compare(k.Cluster, o.Cluster), strings.Compare(k.Group, o.Group), strings.Compare(k.Kind, o.Kind),
		strings.Compare(k.Namespace, o.Namespace), strings.Compare(k.Name, o.Name))
}

// KeyOf returns the key of a composite.
func KeyOf(c *xrd.Composite) CompositeKey {
	return CompositeKey{Cluster: c.Origin.Cluster, Group: c.Group(), Kind: c.Kind, Namespace: c.Namespace, Name: c.Name}
}

// Part is a reference of a composite to an object that it composes.
type Part struct {
	// Key is the key that the object has if it is a composite of a kind with namespaces, and
	// Wide the key it has otherwise: a reference does not tell.
	Key, Wide CompositeKey
	// Group is the group as it is written.
	Group string
}

// PartsOf returns the references of a composite to the objects that it composes, as far as
// xrd.Prune keeps them.
func PartsOf(n *tree.Node, cluster string) []Part {
	spec := n.Get("spec")
	if !spec.Has("resourceRefs") && !spec.Get(xrd.MachineryV2).Has("resourceRefs") {
		// Pruning costs more than this check, and most objects have no parts.
		return nil
	}
	o := composed.Object{
		Ref:   composed.Ref{Namespace: n.Get("metadata", "namespace").Str()},
		State: composed.Present, Node: xrd.Prune(n, xrd.RoleComposite),
	}
	var out []Part
	for _, ref := range composed.References(o) {
		written, _, grouped := strings.Cut(ref.APIVersion, "/")
		if !grouped {
			// A kind without a group, such as ConfigMap, is never that of a composite.
			continue
		}
		group, _, _ := strings.Cut(words.APIVersionIn(ref.APIVersion), "/")
		key := CompositeKey{Cluster: cluster, Group: group, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
		wide := key
		wide.Namespace = ""
		out = append(out, Part{Key: key, Wide: wide, Group: written})
	}
	return out
}

// Find returns the key of the part among those that are known.
func (p Part) Find(known func(CompositeKey) bool) (key CompositeKey, ok bool) {
	for _, key := range []CompositeKey{p.Key, p.Wide} {
		if known(key) {
			return key, true
		}
	}
	return CompositeKey{}, false
}

// compositeRef returns a reference to the Resource of a composite.
func (t *transformation) compositeRef(k CompositeKey) string { return CompositeRef(t.namespace, k) }

// CompositeRef returns a reference to the Resource of a composite in a namespace of the
// catalog; an empty one is the default.
func CompositeRef(namespace string, k CompositeKey) string {
	if namespace == "" {
		namespace = entity.DefaultNamespace
	}
	namespace, _ = entity.Namespace(namespace)
	name, _ := entity.NameWithSuffix(k.Name, compositeSuffix(k))
	return "resource:" + namespace + "/" + name
}

// partRefs returns references to the Resources of the composites that a composite
// composes, sorted. Objects that are not in the input have none.
func (t *transformation) partRefs(c *xrd.Composite) []string {
	if c.Claim {
		// A claim depends on the composite it is bound to.
		return nil
	}
	parts := PartsOf(c.Node, c.Origin.Cluster)
	if len(parts) == 0 {
		return nil
	}
	t.know()
	own := KeyOf(c)
	var out []string
	for _, p := range parts {
		if key, ok := p.Find(func(k CompositeKey) bool { return t.known[k] }); ok && key != own {
			out = append(out, t.compositeRef(key))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// know indexes, once, the composites that have a Resource.
func (t *transformation) know() {
	if t.known != nil {
		return
	}
	t.known = make(map[CompositeKey]bool, len(t.in.Composites)+len(t.in.Related))
	for _, c := range t.in.Composites {
		t.known[KeyOf(c)] = true
	}
	for _, k := range t.in.Related {
		t.known[k] = true
	}
}
