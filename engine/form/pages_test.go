package form

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sized is the schema of a spec with one field.
const sized = `{type: object, properties: {size: {type: integer}}}`

func TestMetadata(t *testing.T) {
	const name = `{title: Name, description: Name of the Widget, type: string, maxLength: 63, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "ui:autofocus": true}`
	const owner = `{title: Owner, description: Owner of the Widget, type: string, "ui:field": OwnerPicker, "ui:options": {catalogFilter: {kind: [Group, User]}}}`
	cases := map[string]struct {
		reason   string
		kind     string
		opts     Options
		page     string
		values   string
		manifest string
		refused  []string
	}{
		"modern": {
			reason: "The metadata page asks for name, namespace and owner; v2 is Namespaced by default.",
			kind:   modern,
			opts:   Options{Namespace: "team-a"},
			page: `{title: Metadata, required: [name, namespace], properties: {name: ` + name + `,
				namespace: {title: Namespace, description: Namespace the Widget is created in, type: string, default: team-a, maxLength: 63,
					pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}, owner: ` + owner + `}}`,
			values: `{name: db, namespace: prod, owner: "group:default/team", size: 1}`,
			manifest: `{apiVersion: example.org/v1, kind: Widget,
				metadata: {name: db, namespace: prod, annotations: {portal.io/owner: "group:default/team"}}, spec: {size: 1}}`,
			refused: []string{`{name: db}`, `{namespace: prod}`, `{name: Db, namespace: prod}`, `{name: a.b, namespace: prod}`, `{name: -a, namespace: prod}`,
				`{name: "", namespace: prod}`, `{name: db, namespace: "a b"}`, `{name: aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg, namespace: prod}`},
		},
		"cluster": {
			reason:   "A Cluster-scoped form has no namespace field, and the manifest has no namespace.",
			kind:     modernCluster,
			opts:     Options{Namespace: "team-a"},
			page:     `{title: Metadata, required: [name], properties: {name: ` + name + `, owner: ` + owner + `}}`,
			values:   `{name: db}`,
			manifest: `{apiVersion: example.org/v1, kind: Widget, metadata: {name: db, annotations: {}}, spec: {}}`,
		},
		"claim": {
			reason: "v1 with a claim: the form creates the claim, which is namespaced.",
			kind:   legacyClaim,
			page: `{title: Metadata, required: [name, namespace], properties: {name: ` + name + `,
				namespace: {title: Namespace, description: Namespace the Widget is created in, type: string, maxLength: 63,
					pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}, owner: ` + owner + `}}`,
			values:   `{name: db, namespace: prod, size: 1}`,
			manifest: `{apiVersion: example.org/v1, kind: Widget, metadata: {name: db, namespace: prod, annotations: {}}, spec: {size: 1}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := compileSpec(t, tc.kind, sized, tc.opts)
			if diff := cmp.Diff(text(yaml(t, flat(tc.page))), text(f.Pages.Items[0])); diff != "" {
				t.Errorf("%s\npage: -want +got:\n%s", tc.reason, diff)
			}
			checkManifest(t, tc.reason, f, tc.values, tc.manifest)
			for _, refused := range tc.refused {
				if err := f.validate(yaml(t, refused)); err == nil {
					t.Errorf("%s\npages accept %s", tc.reason, refused)
				}
			}
		})
	}
}

func checkManifest(t *testing.T, reason string, f *checked, values, manifest string) {
	t.Helper()
	if err := f.validate(yaml(t, values)); err != nil {
		t.Errorf("%s\n%v", reason, err)
	}
	if diff := cmp.Diff(text(yaml(t, flat(manifest))), text(rendered(t, f.Form, yaml(t, values)))); diff != "" {
		t.Errorf("%s\nmanifest: -want +got:\n%s", reason, diff)
	}
}

// flat replaces tabs by spaces, as YAML in flow style requires.
func flat(s string) string {
	out := []byte(s)
	for i := range out {
		if out[i] == '\t' {
			out[i] = ' '
		}
	}
	return string(out)
}

func TestTarget(t *testing.T) {
	cases := map[string]struct {
		reason     string
		kind       string
		want       string
		namespaced bool
	}{
		"composite":      {"v1 without a claim: the form creates the composite, which is cluster-scoped.", legacy, "XWidget", false},
		"claim":          {"v1 with a claim: the claim is namespaced.", legacyClaim, "Widget", true},
		"legacy":         {"LegacyCluster works like v1.", modernLegacy, "Widget", true},
		"modern":         {"v2 is Namespaced by default.", modern, "Widget", true},
		"modern cluster": {"v2 can be Cluster-scoped.", modernCluster, "Widget", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := compileSpec(t, tc.kind, sized, Options{})
			manifest := rendered(t, f.Form, withMetadata(nil))
			if got := manifest.Get("kind").Str(); got != tc.want {
				t.Errorf("%s\nkind %q, want %q", tc.reason, got, tc.want)
			}
			if got := f.Pages.Items[1].Get("title").Str(); got != tc.want {
				t.Errorf("%s\npage %q, want %q", tc.reason, got, tc.want)
			}
			if got := manifest.Get("metadata").Has("namespace"); got != tc.namespaced {
				t.Errorf("%s\nmanifest has a namespace: %v", tc.reason, got)
			}
			if got := f.Pages.Items[0].Get("properties").Has("namespace"); got != tc.namespaced {
				t.Errorf("%s\npage has a namespace: %v", tc.reason, got)
			}
		})
	}
}

func TestOpenSpec(t *testing.T) {
	const page = `{required: [spec], properties: {spec: {title: Spec, description: "The spec of the Widget, as YAML", type: object, default: {}, additionalProperties: true, "ui:field": YamlText}}}`
	cases := map[string]struct{ reason, schema, page string }{
		"no schema":         {"Without a schema the form has one YAML text area, and a finding.", ``, page},
		"no spec":           {"The schema may have no spec.", `{type: object, properties: {status: {type: object}}}`, page},
		"preserve at root":  {"The root may preserve unknown fields.", `{type: object, x-kubernetes-preserve-unknown-fields: true}`, page},
		"root and spec":     {"The root may preserve unknown fields while spec has no fields.", `{x-kubernetes-preserve-unknown-fields: true, properties: {spec: {type: object, properties: {}}}}`, page},
		"preserve":          {"The spec may preserve unknown fields.", `{properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`, page},
		"typed spec":        {"The spec may have only a type.", `{properties: {spec: {type: object}}}`, page},
		"map":               {"The spec may be a map.", `{properties: {spec: {type: object, additionalProperties: {type: string}}}}`, page},
		"spec is no schema": {"The spec may be something other than a schema.", `{properties: {spec: text}}`, page},
		"properties":        {"The properties may be invalid.", `{properties: {spec: {type: object, properties: [a, b]}}}`, page},
		"described":         {"A spec without fields may have a description.", `{properties: {spec: {description: Anything goes. Really.}}}`, `{description: Anything goes., ` + page[1:]},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, v := define(t, modern, yaml(t, tc.schema))
			f := check(t, Compile(d, v, Options{Compositions: []string{"a", "b"}}))
			if diff := cmp.Diff(text(yaml(t, tc.page)), kindPage(f.Form)); diff != "" {
				t.Errorf("%s\npage: -want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]string{RuleNoSpec}, rulesOf(f.Form)); diff != "" {
				t.Errorf("%s\nfindings: -want +got:\n%s", tc.reason, diff)
			}
			checkFilled(t, tc.reason, f, `{spec: {any: [1], other: {x: null}}}`, `{any: [1], other: {x: null}}`)
			if rendered(t, f.Form, withMetadata(nil)).Has("spec") {
				t.Errorf("%s\nspec left empty is not absent", tc.reason)
			}
		})
	}
}

func TestOpenFields(t *testing.T) {
	runForms(t, map[string]formCase{
		"declared and open": {
			reason: "A spec that accepts undeclared fields is one object with a field for them, and is reported.",
			spec:   `{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {size: {type: integer}}}`,
			page: `
				required: [spec]
				properties:
				  spec: {title: Spec, description: The spec of the Widget, type: object, properties: {size: {title: Size, type: integer}}, default: {}, additionalProperties: true}
			`,
			values: `{spec: {size: 1, other: {x: [1]}}}`,
			want:   `{size: 1, other: {x: [1]}}`,
			rules:  []string{RuleOpen},
		},
	})
}
