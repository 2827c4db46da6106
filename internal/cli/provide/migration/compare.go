package migration

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/sink/portal"
	"example.dev/ingestor/words"
)

// Comparison says what becomes of the entities that kubernetes-ingestor made in a
// Backstage when the portal ingests the same clusters.
type Comparison struct {
	From   string `json:"from"`
	Portal string `json:"portal"`
	// Entities are those of kubernetes-ingestor.
	Entities []*Match `json:"entities"`
	// References are those in other entities that break, because an entity gets another
	// name or has no counterpart.
	References  []Reference `json:"references"`
	Annotations []*Setting  `json:"annotations"`
}

// The states of a Match.
const (
	Same    = "same"
	Renamed = "renamed"
	Missing = "missing"
)

// Match is an entity of kubernetes-ingestor, and the entity of the portal for the same
// thing.
type Match struct {
	Ref   string `json:"ref"`
	Thing string `json:"thing"`
	State string `json:"state"`
	// Becomes is the entity of the portal; empty if there is none, for which Reason is set.
	Becomes string `json:"becomes,omitempty"`
	Reason  string `json:"reason,omitempty"`

	key key
}

// Reference is a reference to an entity of kubernetes-ingestor in another entity.
type Reference struct {
	Entity string `json:"entity"`
	// Field is the relation, such as dependsOn, or link.
	Field string `json:"field"`
	Ref   string `json:"ref"`
	// Becomes is the reference to write instead, empty if there is none.
	Becomes string `json:"becomes,omitempty"`
}

// comparing is one run of Compare.
type comparing struct {
	out Comparison
	ingestor
	// have are the references of the portal's entities by what they stand for: exactly, and
	// without version and cluster, whose names may differ.
	have, nearly map[key][]string
	// edges are the references in entities that kubernetes-ingestor did not make.
	edges []Reference
}

// Compare reads both catalogs, and changes nothing. The prefix is that of the annotations
// of kubernetes-ingestor; its error is that of the first catalog that cannot be read.
func Compare(ctx context.Context, from, to *portal.Portal, prefix string, progress func(entities int)) (*Comparison, error) {
	c := &comparing{
		out:      Comparison{From: from.URL(), Portal: to.URL(), Entities: []*Match{}, References: []Reference{}, Annotations: settingsOf(prefix)},
		ingestor: ingestor{prefix: prefix, definitions: map[[2]string]string{}},
		have:     map[key][]string{}, nearly: map[key][]string{},
	}
	read := 0
	each := func(visit func(n *tree.Node)) func(item string) error {
		return func(item string) error {
			n, err := wire.Decoder{}.DecodeText(item)
			if err != nil {
				return fmt.Errorf("cannot read an entity: %w", err)
			}
			visit(n)
			read++
			progress(read)
			return nil
		}
	}
	if err := Entities(ctx, to, []string{"kind", "metadata"}, each(c.addOurs)); err != nil {
		return nil, err
	}
	if err := Entities(ctx, from, nil, each(c.addTheirs)); err != nil {
		return nil, err
	}
	c.match()
	return &c.out, nil
}

// near returns a key without what may differ between the two.
func (k key) near() key {
	k.cluster, k.version = "", ""
	return k
}

// addOurs adds an entity of the portal.
func (c *comparing) addOurs(n *tree.Node) {
	n = entity.Translate(n, words.Portal)
	k, ok := ours(n)
	if !ok {
		return
	}
	ref := entity.RefOf(n).String()
	c.have[k] = append(c.have[k], ref)
	c.nearly[k.near()] = append(c.nearly[k.near()], ref)
	if k.thing == thingComposite {
		c.definitions[[2]string{strings.ToLower(k.kind), k.group}] = annotation(n, words.AnnotationXRDName)
	}
}

// addTheirs adds an entity of Backstage.
func (c *comparing) addTheirs(n *tree.Node) {
	ref := entity.RefOf(n).String()
	k, ok := c.identify(n)
	if !ok {
		for _, r := range entity.Relations(n) {
			c.edges = append(c.edges, Reference{Entity: ref, Field: r.Type, Ref: r.Target})
		}
		for _, l := range n.Get("metadata", "links").List() {
			if to, ok := linked(l.Get("url").Str()); ok {
				c.edges = append(c.edges, Reference{Entity: ref, Field: "link", Ref: to})
			}
		}
		return
	}
	c.learn(n, k)
	for _, s := range c.out.Annotations {
		if s.isSet(n) {
			s.Objects++
		}
	}
	c.out.Entities = append(c.out.Entities, &Match{Ref: ref, Thing: k.thing, key: k})
}

// match finds the counterparts, and the references that break.
func (c *comparing) match() {
	broken := map[string]*Match{}
	for _, m := range c.out.Entities {
		c.counterpart(m)
		if m.State != Same {
			broken[m.Ref] = m
		}
	}
	for _, e := range c.edges {
		if m := broken[e.Ref]; m != nil {
			e.Becomes = m.Becomes
			c.out.References = append(c.out.References, e)
		}
	}
	slices.SortFunc(c.out.Entities, func(a, b *Match) int {
		return cmp.Or(strings.Compare(a.Thing, b.Thing), strings.Compare(a.Ref, b.Ref))
	})
	slices.SortFunc(c.out.References, func(a, b Reference) int {
		return cmp.Or(strings.Compare(a.Ref, b.Ref), strings.Compare(a.Entity, b.Entity), strings.Compare(a.Field, b.Field))
	})
}

// counterpart sets the state of a match.
func (c *comparing) counterpart(m *Match) {
	k := m.key
	if k.thing == thingAPI {
		k.name, k.kind, k.group = c.definitions[[2]string{k.kind, k.group}], "", ""
	}
	m.State = Missing
	if m.Reason = c.cannot(k, m.key); m.Reason != "" {
		return
	}
	found := c.have[k]
	if len(found) == 0 {
		found = c.nearly[k.near()]
	}
	switch {
	case len(found) == 0:
		m.Reason = absent(k)
	case k.thing == thingComposite && len(found) > 1:
		m.Reason = "several clusters of the portal have such an object, and none has the name of the cluster in Backstage"
	case slices.Contains(found, m.Ref):
		m.State, m.Becomes = Same, m.Ref
	default:
		m.State, m.Becomes = Renamed, slices.Min(found)
	}
}

// cannot returns why something cannot have a counterpart, or "".
func (c *comparing) cannot(k, original key) string {
	label := words.Upstream.Out(words.Key, words.LabelClusterID)
	switch {
	case k.thing == thingNamespace:
		return "the portal makes no Systems of namespaces; set " + words.Upstream.Out(words.Key, words.AnnotationSystem)
	case k.thing == thingOther:
		return "the portal does not ingest such objects"
	case k.thing == thingWorkload && k.name == "":
		return "the workload has no label " + label
	case k.thing == thingAPI && k.name == "":
		return fmt.Sprintf("neither a Template nor a composite tells the XRD of kind %s in group %s", original.kind, original.group)
	}
	return ""
}

// absent returns why the portal does not have an entity that it could have.
func absent(k key) string {
	switch k.thing {
	case thingWorkload:
		return "the portal does not have it yet; enable kubernetesIngestor.components and add its cluster"
	case thingComposite:
		return "the portal does not have it yet; add its cluster, and ingest its XRD"
	}
	return fmt.Sprintf("the portal does not have it yet; set label %s: \"true\" on XRD %s", words.Upstream.Out(words.Key, words.LabelIngest), k.name)
}

// linked returns the entity whose page, or form, a URL is.
func linked(address string) (ref string, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	for i, p := range parts {
		rest := parts[i+1:]
		switch {
		case p == "catalog" && len(rest) >= 3:
			return entity.Ref{Kind: rest[1], Namespace: rest[0], Name: rest[2]}.String(), true
		case p == "templates" && i > 0 && parts[i-1] == "create" && len(rest) >= 2:
			return entity.Ref{Kind: entity.KindTemplate, Namespace: rest[0], Name: rest[1]}.String(), true
		}
	}
	return "", false
}
