package entity

import (
	"cmp"
	"slices"

	"example.dev/ingestor/document/tree"
)

// Relation leads from an entity to another, and back under another name.
type Relation struct {
	// Type is what the target is to the entity, such as ownedBy; Inverse what
	// the entity is to the target, such as ownerOf.
	Type, Inverse string
	// Target is the canonical reference of the other entity, which need not
	// be there.
	Target string
}

// pairs are the names of relations in both directions.
var (
	ownedBy     = [2]string{"ownedBy", "ownerOf"}
	partOf      = [2]string{"partOf", "hasPart"}
	providesAPI = [2]string{"providesApi", "apiProvidedBy"}
	consumesAPI = [2]string{"consumesApi", "apiConsumedBy"}
	dependsOn   = [2]string{"dependsOn", "dependencyOf"}
	childOf     = [2]string{"childOf", "parentOf"}
	memberOf    = [2]string{"memberOf", "hasMember"}
)

// Inverse returns what the source of a relation is to its target; empty if there
// is no relation of that type.
func Inverse(relation string) string {
	for _, pair := range [][2]string{ownedBy, partOf, providesAPI, consumesAPI, dependsOn, childOf, memberOf} {
		switch relation {
		case pair[0]:
			return pair[1]
		case pair[1]:
			return pair[0]
		}
	}
	return ""
}

func reversed(pair [2]string) [2]string { return [2]string{pair[1], pair[0]} }

// relating is a field of a spec that makes relations.
type relating struct {
	key string
	// kind is that of a reference that names none; empty if it must.
	kind string
	pair [2]string
}

var (
	owner  = relating{"owner", KindGroup, ownedBy}
	system = relating{"system", KindSystem, partOf}
	depend = []relating{{"dependsOn", "", dependsOn}, {"dependencyOf", "", reversed(dependsOn)}}
)

// relatings are the fields that make relations, for each kind that has some.
var relatings = map[string][]relating{
	KindTemplate: {owner},
	KindAPI:      {owner, system},
	KindResource: append([]relating{owner, system, {"implementsApi", KindAPI, providesAPI}}, depend...),
	KindComponent: append([]relating{
		owner, system,
		{"subcomponentOf", KindComponent, partOf},
		{"providesApis", KindAPI, providesAPI},
		{"consumesApis", KindAPI, consumesAPI},
	}, depend...),
	KindSystem: {owner, {"domain", KindDomain, partOf}},
	KindDomain: {owner, {"subdomainOf", KindDomain, partOf}},
	KindGroup: {
		{"parent", KindGroup, childOf},
		{"children", KindGroup, reversed(childOf)},
		{"members", KindUser, reversed(memberOf)},
	},
	KindUser: {{"memberOf", KindGroup, memberOf}},
}

// Relations returns the relations that an entity, which is a document,
// declares in its spec, sorted by type and target, each once. What is no
// reference makes none; Check reports it.
func Relations(n *tree.Node) []Relation {
	spec := n.Get("spec")
	namespace := RefOf(n).Namespace
	var out []Relation
	add := func(r relating, v *tree.Node) {
		if v.Str() == "" {
			return
		}
		if ref, why := parseRef(v.Text, r.kind, namespace); why == "" {
			out = append(out, Relation{r.pair[0], r.pair[1], ref.String()})
		}
	}
	for _, r := range relatings[n.Get("kind").Str()] {
		v := spec.Get(r.key)
		add(r, v)
		for _, it := range v.List() {
			add(r, it)
		}
	}
	slices.SortFunc(out, func(a, b Relation) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Target, b.Target))
	})
	return slices.Compact(out)
}
