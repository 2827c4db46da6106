package entity

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

func document(t *testing.T, text string) *tree.Node {
	t.Helper()
	docs, errs := parser.DecodeBytes([]byte(text))
	if len(errs) > 0 || len(docs) != 1 {
		t.Fatalf("got %d documents and %v, want one", len(docs), errs)
	}
	return docs[0]
}

const managed = `annotations: { portal.io/managed-by-location: "file:/a", portal.io/managed-by-origin-location: "file:/a" }`

func TestCheckDocument(t *testing.T) {
	type want struct{ Rule, Path string }
	cases := map[string]struct {
		reason string
		text   string
		want   []want
	}{
		"Fine": {
			reason: "Metadata may contain custom fields and links.",
			text: `{ apiVersion: portal.io/v1alpha1, kind: System, metadata: { name: a, mine: { b: [1] }, ` + managed +
				`, links: [{ url: "https://a.example", color: 3 }] }, spec: { owner: b } }`,
		},
		"Group": {
			reason: "A group needs a type and children.",
			text:   `{ apiVersion: portal.io/v1alpha1, kind: Group, metadata: { name: a, ` + managed + ` }, spec: { parent: [b] } }`,
			want:   []want{{RuleRequired, "spec.type"}, {RuleType, "spec.parent"}, {RuleRequired, "spec.children"}},
		},
		"User": {
			reason: "A user needs memberOf.",
			text:   `{ apiVersion: portal.io/v1alpha1, kind: User, metadata: { name: a, ` + managed + ` }, spec: {} }`,
			want:   []want{{RuleRequired, "spec.memberOf"}},
		},
		"Status": {
			reason: "Fields that the catalog adds are refused.",
			text:   `{ apiVersion: portal.io/v1alpha1, kind: User, metadata: { name: a }, relations: [] }`,
			want:   []want{{RuleDocument, "relations"}},
		},
		"Tags": {
			reason: "A field of the wrong type is reported.",
			text:   `{ kind: User, metadata: { name: a, tags: x } }`,
			want:   []want{{RuleDocument, "metadata.tags"}},
		},
		"Text": {reason: "A document that is not a map is reported.", text: `hello`, want: []want{{RuleDocument, ""}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got []want
			for _, f := range CheckDocument(document(t, c.text)) {
				got = append(got, want{f.Rule, f.Path})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s\nCheckDocument: -want, +got:\n%s", c.reason, diff)
			}
		})
	}
}

func TestIsDefinition(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   bool
	}{
		"Ours":     {"A definition in the contract's vocabulary is recognized.", `{ apiVersion: apiextensions.composer.io/v2, kind: CompositeResourceDefinition }`, true},
		"Upstream": {"A Composition in the upstream vocabulary is recognized.", `{ apiVersion: apiextensions.crossplane.io/v1, kind: Composition }`, true},
		"Entity":   {"An entity is not a definition.", `{ apiVersion: backstage.io/v1alpha1, kind: API }`, false},
		"Other":    {"An entity of a custom kind is not a definition.", `{ apiVersion: example.org/v1, kind: Composition }`, false},
		"None":     {"A string is not a definition.", `hello`, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsDefinition(document(t, c.text)); got != c.want {
				t.Errorf("%s\ngot %v", c.reason, got)
			}
		})
	}
}

func TestRelations(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   []Relation
	}{
		"Component": {
			reason: "Every field with references gives relations, with default kinds and namespaces, each relation once.",
			text: `
kind: Component
metadata: { name: a, namespace: shop }
spec:
  owner: Team
  system: default/core
  subcomponentOf: whole
  providesApis: [one, API:default/two, one]
  consumesApis: [three]
  dependsOn: ["resource:db", nokind]
  dependencyOf: ["component:default/b"]`,
			want: []Relation{
				{"consumesApi", "apiConsumedBy", "api:shop/three"},
				{"dependencyOf", "dependsOn", "component:default/b"},
				{"dependsOn", "dependencyOf", "resource:shop/db"},
				{"ownedBy", "ownerOf", "group:shop/team"},
				{"partOf", "hasPart", "component:shop/whole"},
				{"partOf", "hasPart", "system:default/core"},
				{"providesApi", "apiProvidedBy", "api:default/two"},
				{"providesApi", "apiProvidedBy", "api:shop/one"},
			},
		},
		"Group": {
			reason: "A group has a parent, children and members.",
			text:   `{ kind: Group, metadata: { name: a }, spec: { parent: p, children: [c], members: [ada] } }`,
			want: []Relation{
				{"childOf", "parentOf", "group:default/p"},
				{"hasMember", "memberOf", "user:default/ada"},
				{"parentOf", "childOf", "group:default/c"},
			},
		},
		"User":     {reason: "A user is a member of groups.", text: `{ kind: User, metadata: { name: a }, spec: { memberOf: [g] } }`, want: []Relation{{"memberOf", "hasMember", "group:default/g"}}},
		"Template": {reason: "A Template may be owned by a user.", text: `{ kind: Template, metadata: { name: a }, spec: { owner: "user:ada" } }`, want: []Relation{{"ownedBy", "ownerOf", "user:default/ada"}}},
		"System":   {reason: "A System is part of a domain.", text: `{ kind: System, metadata: { name: a }, spec: { domain: d } }`, want: []Relation{{"partOf", "hasPart", "domain:default/d"}}},
		"Unknown":  {reason: "An unknown kind is accepted.", text: `{ kind: Robot, metadata: { name: a }, spec: { owner: b } }`},
		"Broken":   {reason: "An invalid reference gives no relation.", text: `{ kind: API, metadata: { name: a }, spec: { owner: "a:b:c", system: 3 } }`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Relations(document(t, c.text))); diff != "" {
				t.Errorf("%s\nRelations: -want, +got:\n%s", c.reason, diff)
			}
		})
	}
}

func TestHashDocument(t *testing.T) {
	a := document(t, `{ kind: A, metadata: { name: a, annotations: { portal.io/discovered-at: "1", b: c } } }`)
	before := string(tree.AppendJSON(nil, a, ""))
	same := document(t, `{ metadata: { annotations: { b: c, backstage.io/discovered-at: "2" }, name: a }, kind: A }`)
	other := document(t, `{ kind: A, metadata: { name: a, annotations: { portal.io/discovered-at: "1", b: d } } }`)
	if HashDocument(a) != HashDocument(same) {
		t.Error("discovery time changes the hash")
	}
	if HashDocument(a) == HashDocument(other) {
		t.Error("annotation does not change the hash")
	}
	if after := string(tree.AppendJSON(nil, a, "")); after != before {
		t.Errorf("HashDocument changed the document: %s, was %s", after, before)
	}
	e, err := Parse(a)
	if err != nil {
		t.Fatal(err)
	}
	if HashDocument(e.Node()) != Hash(e) {
		t.Error("hashes of an entity and of its document differ")
	}
}
