// Package object converts what is read from a source to objects of the mirror, and back:
// their keys, lists, notes and conditions.
package object

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// The prefixes of list names; the resource follows.
const (
	ListDefinitions  = "definitions "
	ListCompositions = "compositions "
	ListComposites   = "composites "
	ListWorkloads    = "workloads "
	ListFolder       = "files"
)

// WordsOf returns the vocabulary of the definitions in a list of a cluster.
func WordsOf(list string) words.Vocabulary {
	_, group, _ := strings.Cut(strings.TrimPrefix(list, ListDefinitions), ".")
	return words.Of(group + "/")
}

// UnitWorkload is the prefix of the unit names of workloads; the ID follows. The name
// of a definition has no colon.
const UnitWorkload = "workload:"

// Key returns the key of an object in its list.
func Key(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// FolderKey returns the key of an object in a folder, if it is the first of its name.
func FolderKey(group, kind, namespace, name string) string {
	key := strings.Join([]string{kind, namespace, name}, " ")
	if kind == xrd.KindDefinition {
		return key
	}
	return group + " " + key
}

// kindKey returns the key of a kind in the mirror; empty if kind is empty.
func kindKey(group, kind string) string {
	if kind == "" {
		return ""
	}
	return Bounded(group + "/" + kind)
}

// mostName is the longest name that is stored unchanged. Names in a cluster are
// shorter.
const mostName = 300

// Bounded returns a name short enough for a database index: a longer one is truncated,
// and its hash appended.
func Bounded(name string) string {
	if len(name) <= mostName {
		return name
	}
	return strings.ToValidUTF8(name[:mostName], "") + " " + Hash(name)
}

// Hash returns a short hash of a text.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// body encodes a pruned object without the fields that change with every update,
// resourceVersion and uid, which would make every version look different.
func body(n *tree.Node) []byte {
	if meta := n.Field("metadata"); meta != nil && meta.Value.IsMap() {
		kept := tree.Obj()
		for _, f := range meta.Value.Fields {
			if f.Key != "resourceVersion" && f.Key != "uid" {
				kept.Fields = append(kept.Fields, f)
			}
		}
		n = &tree.Node{Kind: n.Kind, Pos: n.Pos, Fields: slices.Clone(n.Fields)}
		n.Set("metadata", kept)
	}
	return tree.AppendJSON(nil, n, "")
}

// FromComposition converts a Composition to a mirror object.
func FromComposition(n *tree.Node, origin xrd.Origin) mirror.Object {
	c := xrd.NewComposition(n, origin)
	group, _, _ := strings.Cut(c.TypeAPIVersion, "/")
	return mirror.Object{Of: kindKey(group, c.TypeKind), Note: noteFor(n, origin).encode(), Body: body(xrd.Prune(n, xrd.RoleComposition))}
}

// FromComposite converts a composite or a claim to a mirror object.
func FromComposite(n *tree.Node, origin xrd.Origin) mirror.Object {
	group, _, _ := strings.Cut(n.Get("apiVersion").Str(), "/")
	kept := xrd.Prune(n, xrd.RoleComposite)
	if status := kept.Field("status"); status != nil {
		// Prune has copied the fields, so the original is not modified.
		status.Value = engine.Telling(status.Value)
	}
	return mirror.Object{
		Of: kindKey(group, n.Get("kind").Str()), Note: noteFor(n, origin).encode(), Body: body(kept), Status: storedStatus(n), Parts: partKinds(kept),
	}
}

// partKinds returns the kinds of the objects that a composite composes, without duplicates.
func partKinds(n *tree.Node) []string {
	var out []string
	for _, p := range engine.PartsOf(n, "") {
		out = append(out, PartKind(p))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// PartKind returns the kind of an object that a composite composes.
func PartKind(p engine.Part) string { return kindKey(p.Group, p.Key.Kind) }

// FromDefinition converts a definition to a mirror object. refused is why it is not
// ingested; empty if it is. namespaces are those whose composites are read.
func FromDefinition(d *xrd.Definition, refused string, namespaces []string) mirror.Object {
	o := mirror.Object{Unit: d.Name}
	kept := noteFor(d.Node, d.Origin)
	kept.Refused = refused
	if kept.Refused == "" {
		o.Kind, o.Claim = kindKey(d.Group, d.Names.Kind), kindKey(d.Group, d.Claim.Kind)
		kept.Kinds = cluster.Composites(d, namespaces)
		if kept.Serving = d.Serving; d.HasClaim() {
			kept.Claim = d.Claim.Kind
		}
		o.Body = body(xrd.Prune(d.Node, xrd.RoleDefinition))
	}
	o.Note = kept.encode()
	return o
}

// FromWorkload converts a workload to a mirror object. id is the value of its ID label.
func FromWorkload(n *tree.Node, id string, origin xrd.Origin) mirror.Object {
	return mirror.Object{Unit: UnitWorkload + id, Note: Note{Origin: origin}.encode(), Body: body(n)}
}

// Refused returns an object that is not ingested, which has no body.
func Refused(why string) mirror.Object {
	return mirror.Object{Note: Note{Refused: why}.encode()}
}
