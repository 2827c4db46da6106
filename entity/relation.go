package entity

import (
	"cmp"
	"slices"

	"example.dev/ingestor/document/tree"
)

// Relation is a relation from an entity to another, with the name of its inverse.
type Relation struct {
	// Type is the relation from the entity to the target, such as ownedBy; Inverse is the
	// relation from the target to the entity, such as ownerOf.
	Type, Inverse string
	// Target is the canonical reference of the other entity, which need not exist.
	Target string
}

// The names of relations in both directions.
var (
	ownedBy     = [2]string{"ownedBy", "ownerOf"}
	partOf      = [2]string{"partOf", "hasPart"}
	providesAPI = [2]string{"providesApi", "apiProvidedBy"}
	consumesAPI = [2]string{"consumesApi", "apiConsumedBy"}
	dependsOn   = [2]string{"dependsOn", "dependencyOf"}
	childOf     = [2]string{"childOf", "parentOf"}
	memberOf    = [2]string{"memberOf", "hasMember"}
)

// Inverse returns the name of the inverse relation, or "" if the relation is unknown.
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

// relating is a spec field that declares relations.
type relating struct {
	key string
	// kind is the default kind of references; empty if they must name a kind.
	kind string
	pair [2]string
}

var (
	owner  = relating{"owner", KindGroup, ownedBy}
	system = relating{"system", KindSystem, partOf}
	depend = []relating{{"dependsOn", "", dependsOn}, {"dependencyOf", "", reversed(dependsOn)}}
)

// relatings are the fields that declare relations, by entity kind.
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

// Relations returns the relations that an entity document declares in its spec, sorted
// by type and target, without duplicates. Invalid references are ignored; Check reports
// them.
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
