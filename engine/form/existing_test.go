package form

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
)

// TestUpdatePages derives the page for updating a spec from that for creating
// it.
func TestUpdatePages(t *testing.T) {
	cases := map[string]struct {
		reason string
		spec   string
		want   string
	}{
		"Required": {
			"Nothing is required, and there are no defaults.",
			`{type: object, required: [size], properties: {size: {type: integer, minimum: 1, default: 3}, on: {type: boolean, default: false}}}`,
			`{size: {title: Size, type: integer, minimum: 1}, on: {title: "On", type: boolean}}`,
		},
		"Immutable": {
			"An immutable field is read-only.",
			`{type: object, properties: {zone: {type: string, default: a, x-kubernetes-validations: [{rule: self == oldSelf}]}, other: {type: string}}}`,
			`{other: {title: Other, type: string}, zone: {title: Zone, type: string, ui:help: Cannot be changed after creation., ui:options: {immutable: true}, readOnly: true, ui:readonly: true}}`,
		},
		"Nested": {
			"In a given object required fields are still required, except for those that the cluster defaults.",
			`{type: object, properties: {x: {type: boolean}, backup: {type: object, required: [at, keep], properties: {at: {type: string}, keep: {type: integer, default: 7}, zone: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: Fixed.}]}}}}}`,
			`{backup: {title: Backup, type: object, required: [at], properties: {
				at: {title: At, type: string}, keep: {title: Keep, description: "Default: 7", type: integer}, zone: {title: Zone, type: string, ui:help: Fixed., ui:options: {immutable: true}, readOnly: true, ui:readonly: true}}},
			  x: {title: X, type: boolean}}`,
		},
		"Inner": {
			"A browser does not create an untouched object.",
			`{type: object, required: [a], properties: {x: {type: boolean}, a: {type: object, required: [b], properties: {b: {type: object, properties: {c: {type: string}}}, d: {type: string}}}}}`,
			`{a: {title: A, type: object, properties: {b: {title: B, type: object, properties: {c: {title: C, type: string}}}, d: {title: D, type: string}}, dependencies: {d: [b]}},
			  x: {title: X, type: boolean}}`,
		},
		"Entries": {
			"A new entry of a list or a map has its required fields.",
			`{type: object, properties: {l: {type: array, items: {type: object, required: [a], properties: {a: {type: string, default: x}}}}, m: {type: object, additionalProperties: {type: string, default: y}}}}`,
			`{l: {title: L, type: array, items: {type: object, properties: {a: {title: A, type: string, default: x}}}}, m: {title: M, type: object, additionalProperties: {type: string, default: y}}}`,
		},
		"Choice": {
			"A choice on the page is left to the cluster, and all its fields are shown.",
			`{type: object, properties: {a: {type: string, default: x}, b: {type: string}, c: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}`,
			`{c: {title: C, type: string}, a: {title: A, type: string}, b: {title: B, type: string}}`,
		},
		"Inner choice": {
			"A choice in a given object is kept.",
			`{type: object, properties: {x: {type: boolean}, s: {type: object, properties: {a: {type: object, properties: {i: {type: integer, default: 1}}}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}}}`,
			`{s: {title: S, type: object, properties: {}, oneOf: [
				{title: A, required: [a], properties: {a: {title: A, type: object, properties: {i: {title: I, description: "Default: 1", type: integer}}}}},
				{title: B, required: [b], properties: {b: {title: B, type: string}}}]},
			  x: {title: X, type: boolean}}`,
		},
		"Text": {
			"A YAML text has no default either.",
			`{type: object, x-kubernetes-preserve-unknown-fields: true}`,
			`{spec: {title: Spec, description: "The spec of the Widget, as YAML", type: object, additionalProperties: true, ui:field: YamlText}}`,
		},
		"All fixed": {
			"If the whole is immutable, so are its parts.",
			`{type: object, x-kubernetes-validations: [{rule: self == oldSelf}], properties: {a: {type: string}, b: {type: string}}}`,
			`{a: {title: A, type: string, readOnly: true, ui:readonly: true}, b: {title: B, type: string, readOnly: true, ui:readonly: true}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := compileSpec(t, modern, tc.spec, Options{Namespace: "default"})
			before := text(f.Pages)
			pages := Existing{Kind: "Widget", Pages: f.Pages, Manifest: f.Manifest, Fixed: f.Fixed}.Update()
			updated := check(t, &Form{Pages: pages})
			page := pages.Items[1]
			if want := yaml(t, strings.ReplaceAll(tc.want, "\t", " ")); !want.Equal(page.Get("properties")) {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, cmp.Diff(text(want), text(page.Get("properties"))))
			}
			if page.Has("required") || page.Has("oneOf") {
				t.Errorf("%s\npage has required fields: %s", tc.reason, text(page))
			}
			if err := updated.validate(yaml(t, "{name: one, namespace: shop}")); err != nil {
				t.Errorf("%s\nempty update was refused: %v", tc.reason, err)
			}
			if err := updated.validate(yaml(t, "{name: one}")); err == nil {
				t.Errorf("%s\nupdate without a namespace was accepted", tc.reason)
			}
			if text(f.Pages) != before {
				t.Errorf("%s\nform for creating was changed", tc.reason)
			}
		})
	}
}

// TestExistingPages checks the forms for resources of each kind.
func TestExistingPages(t *testing.T) {
	const (
		name      = `name: {title: Name, description: Name of the Widget, type: string, maxLength: 63, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", ui:autofocus: true}`
		namespace = `namespace: {title: Namespace, description: Namespace the Widget is in, type: string, maxLength: 63, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}`
		cluster   = `deliveryCluster: {title: Cluster, description: Cluster the Widget is in, type: string, enum: [a, b]}`
		owner     = `owner: {title: Owner, description: Owner of the Widget, type: string, ui:field: OwnerPicker, ui:options: {catalogFilter: {kind: [Group, User]}}}`
		seen      = `observed: {title: Observed state, description: The state of the Widget that this form was filled from, type: string, ui:widget: hidden}`
		sure      = `confirm: {title: I understand that all objects it composes are deleted too, type: boolean, const: true},
			propagation: {title: Propagation, description: When the objects that the Widget composes are deleted, type: string, enum: [background, foreground, orphan],
			enumNames: ["Background: after the resource", "Foreground: before the resource", "Orphan: not at all"], default: background}`
	)
	cases := map[string]struct {
		reason         string
		kind           string
		opts           Options
		update, delete string
	}{
		"Namespaced": {
			"A namespaced resource is identified by name and namespace.", modern, Options{Namespace: "default"},
			`{title: Metadata, required: [name, namespace], properties: {` + name + `, ` + namespace + `, ` + owner + `, ` + seen + `}}`,
			`{title: Delete Widget, required: [name, namespace, confirm], properties: {` + name + `, ` + namespace + `, ` + sure + `}}`,
		},
		"Cluster-scoped": {
			"A cluster-scoped resource is identified by its name.", modernCluster, Options{Namespace: "default"},
			`{title: Metadata, required: [name], properties: {` + name + `, ` + owner + `, ` + seen + `}}`,
			`{title: Delete Widget, required: [name, confirm], properties: {` + name + `, ` + sure + `}}`,
		},
		"Clusters": {
			"With several clusters the resource is identified by its cluster too.", modern, Options{Clusters: []string{"a", "b"}},
			`{title: Metadata, required: [name, namespace, deliveryCluster], properties: {` + name + `, ` + namespace + `, ` + owner + `, ` + cluster + `, ` + seen + `}}`,
			`{title: Delete Widget, required: [name, namespace, deliveryCluster, confirm], properties: {` + name + `, ` + namespace + `, ` + cluster + `, ` + sure + `}}`,
		},
		"Delivery": {
			"The delivery is that of the resource.", modern, Options{GitOps: true, Repository: "https://github.com/a/b"},
			`{title: Metadata, required: [name, namespace], properties: {` + name + `, ` + namespace + `, ` + owner + `, ` + seen + `}}`,
			`{title: Delete Widget, required: [name, namespace, confirm], properties: {` + name + `, ` + namespace + `, ` + sure + `}}`,
		},
	}
	for label, tc := range cases {
		t.Run(label, func(t *testing.T) {
			f := compileSpec(t, tc.kind, `{type: object, required: [size], properties: {size: {type: integer}}}`, tc.opts)
			x := Existing{Kind: "Widget", Pages: f.Pages, Manifest: f.Manifest}
			for what, pages := range map[string]struct {
				got  *tree.Node
				want string
				size int
			}{"update": {x.Update(), tc.update, 2}, "delete": {x.Delete(), tc.delete, 1}} {
				want := yaml(t, strings.ReplaceAll(pages.want, "\t", " "))
				if got := pages.got.Items[0]; !want.Equal(got) {
					t.Errorf("%s\n%s (-want +got):\n%s", tc.reason, what, cmp.Diff(text(want), text(got)))
				}
				if tc.opts.GitOps {
					pages.size++
					if last := pages.got.Items[len(pages.got.Items)-1]; !last.Equal(f.Pages.Items[2]) {
						t.Errorf("%s\nlast page of %s is not about delivery:\n%s", tc.reason, what, text(last))
					}
				}
				if len(pages.got.Items) != pages.size {
					t.Errorf("%s\n%s has %d pages, want %d", tc.reason, what, len(pages.got.Items), pages.size)
				}
				check(t, &Form{Pages: pages.got})
			}
			sure := check(t, &Form{Pages: x.Delete()})
			for confirm, fine := range map[string]bool{"true": true, "false": false} {
				values := "{name: one, namespace: shop, deliveryCluster: a, delivery: apply, confirm: " + confirm + "}"
				if err := sure.validate(yaml(t, values)); (err == nil) != fine {
					t.Errorf("%s\nconfirmed %s: %v", tc.reason, confirm, err)
				}
			}
		})
	}
}

// TestForeignPages checks forms made from pages that were written by hand.
func TestForeignPages(t *testing.T) {
	pages := yaml(t, dedent(`
		- title: Who
		  required: [team, size]
		  properties: {team: {type: string, default: a}, size: {type: integer, default: 1}}
		  dependencies: {size: {oneOf: [{properties: {size: {enum: [1]}}}, {properties: {size: {enum: [2]}, "odd name": {type: string}}}]}}
		- title: Where
		  required: [deliveryCluster]
		  properties: {deliveryCluster: {type: string, enum: [a], default: a}}
	`))
	x := Existing{Kind: "Widget", Pages: pages, Manifest: yaml(t, `{metadata: {name: '${{ parameters.team }}-${{ parameters["odd name"] }}'}, spec: {size: "${{ parameters.size }}"}}`)}
	want := yaml(t, dedent(`
		- title: Who
		  required: [team, odd name, deliveryCluster]
		  properties:
		    team: {type: string}
		    size: {type: integer}
		    odd name: {type: string}
		    deliveryCluster: {type: string, enum: [a], description: Cluster the Widget is in}
		    observed: {title: Observed state, description: The state of the Widget that this form was filled from, type: string, ui:widget: hidden}
	`))
	if got := x.Update(); !want.Equal(got) {
		t.Errorf("identifying parameters, want those of the manifest (-want +got):\n%s", cmp.Diff(text(want), text(got)))
	}
	if got := x.Delete().Items[0].Get("required").Strings(); !cmp.Equal(got, []string{"team", "odd name", "deliveryCluster", "confirm"}) {
		t.Errorf("required parameters of delete are %q", got)
	}
	if got := (Existing{Kind: "Widget"}).Update(); len(got.Items) != 1 || !got.Items[0].Get("properties").Has(ParamObserved) {
		t.Errorf("page of a form without pages: %s", text(got))
	}
}
