package composed_test

import (
	"strings"
	"testing"

	"example.dev/ingestor/xrd/composed"
)

// patched is a claim of a composite that composes a database, which composes an instance.
const patched = `
apiVersion: platform.example.org/v1
kind: Shop
metadata: {name: shop, namespace: team-a}
spec: {compositionRef: {name: shops}, resourceRef: {apiVersion: platform.example.org/v1, kind: XShop, name: xshop}}
status: {conditions: [{type: Ready, status: "False"}]}
---
apiVersion: platform.example.org/v1
kind: XShop
metadata: {name: xshop}
spec: {compositionRef: {name: shops}, resourceRefs: [{apiVersion: platform.example.org/v1, kind: Database, name: db}]}
status: {conditions: [{type: Ready, status: "False"}, {type: Synced, status: "SHOP", message: 'SHOPSAYS'}]}
---
apiVersion: platform.example.org/v1
kind: Database
metadata: {name: db, annotations: {crossplane.io/composition-resource-name: database}}
spec: {crossplane: {compositionRef: {name: databases}, compositionRevisionRef: {name: databases-2}, resourceRefs: [{apiVersion: rds.example.org/v1, kind: Instance, name: i}]}}
status: {conditions: [{type: Ready, status: "False"}]}
---
apiVersion: rds.example.org/v1
kind: Instance
metadata: {name: i, annotations: {crossplane.io/composition-resource-name: instance}}
status: {conditions: [{type: Ready, status: "INSTANCE", message: 'INSTANCESAYS'}]}
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: shops}
spec:
  pipeline:
    - step: patch
      input:
        patchSets: [{name: common, patches: [{type: FromCompositeFieldPath, fromFieldPath: spec.region, toFieldPath: spec.place}]}]
        resources:
          - name: database
            patches:
              - {type: PatchSet, patchSetName: common}
              - {fromFieldPath: 'spec.parameters.sizes[0]', toFieldPath: spec.size}
              - {type: ToCompositeFieldPath, fromFieldPath: status.address, toFieldPath: spec.backwards}
              - {type: FromCompositeFieldPath, fromFieldPath: metadata.name, toFieldPath: spec.title}
---
apiVersion: apiextensions.crossplane.io/v1
kind: CompositionRevision
metadata: {name: databases-2}
spec:
  resources:
    - name: instance
      patches:
        - {fromFieldPath: spec.place, toFieldPath: 'spec.forProvider.region'}
        - {fromFieldPath: spec.size, toFieldPath: 'spec.forProvider.class'}
        - {fromFieldPath: spec.title, toFieldPath: 'spec.forProvider.title'}
        - type: CombineFromComposite
          toFieldPath: spec.forProvider.label
          combine: {variables: [{fromFieldPath: metadata.uid}, {fromFieldPath: spec.size}]}
`

func TestAddField(t *testing.T) {
	tests := map[string]struct {
		reason, shop, instance, want string
	}{
		"Patches":    {reason: "A field of an instance is copied from that of the database, and that from the shop.", instance: "cannot create: spec.forProvider.region: no such region", want: "spec.region"},
		"Index":      {reason: "Indices of lists do not matter.", instance: `spec.forProvider["class"]: Unsupported value`, want: "spec.parameters.sizes"},
		"Below":      {reason: "What is below a field is copied with it.", instance: `spec.forProvider.class.name: Required value`, want: "spec.parameters.sizes"},
		"Combined":   {reason: "Of combined fields, that of the spec counts.", instance: `spec.forProvider.label: too long`, want: "spec.parameters.sizes"},
		"Metadata":   {reason: "A name is not a field of the form.", instance: `spec.forProvider.title: too long`},
		"Unknown":    {reason: "A field that nothing copies is set by the Composition.", instance: `spec.forProvider.vpc: not found`},
		"Words":      {reason: "Without a path there is no field.", instance: `the region is full`},
		"Own":        {reason: "A composite may complain about its own field.", shop: "spec.replicas: must be odd", want: "spec.replicas"},
		"Composed":   {reason: "A composite may complain about an object that it composes.", shop: `cannot apply composed resource "database": spec.place: Unsupported value`, want: "spec.region"},
		"Missing":    {reason: "A patch may complain about the field that it copies.", shop: `cannot render composed resource "database": cannot apply the "FromCompositeFieldPath" patch at index 1: spec.region: no such field`, want: "spec.region"},
		"Crossplane": {reason: "Fields of Crossplane itself are not in the form.", shop: "spec.crossplane.compositionRef: not found"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			state := func(says string) string {
				if says == "" {
					return "True"
				}
				return "False"
			}
			w := newWorld(t, strings.NewReplacer(`"SHOP"`, `"`+state(tc.shop)+`"`, `"INSTANCE"`, `"`+state(tc.instance)+`"`, "SHOPSAYS", tc.shop, "INSTANCESAYS", tc.instance).Replace(patched))
			tree, err := composed.Build(t.Context(), w, composed.Ref{APIVersion: "platform.example.org/v1", Kind: "Shop", Namespace: "team-a", Name: "shop"}, composed.Options{})
			if err != nil {
				t.Fatal(err)
			}
			why := tree.Why()
			if why == nil || why.Message != tc.shop+tc.instance {
				t.Fatalf("reason is %+v", why)
			}
			if err := composed.AddField(t.Context(), w, tree, why); err != nil {
				t.Fatal(err)
			}
			if why.Field != tc.want {
				t.Errorf("%s Got %q, want %q", tc.reason, why.Field, tc.want)
			}
		})
	}
}
