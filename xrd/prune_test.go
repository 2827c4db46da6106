package xrd

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// document returns the only document in a text.
func document(t *testing.T, text string) *tree.Node {
	t.Helper()
	docs, errs := parser.DecodeBytes([]byte(text))
	if len(docs) != 1 || len(errs) > 0 {
		t.Fatalf("%d documents, errors %v", len(docs), errs)
	}
	return docs[0]
}

func TestPrune(t *testing.T) {
	const notes = `managedFields: [{manager: x}], annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}", a: b}`
	cases := map[string]struct {
		reason   string
		role     Role
		in, want string
	}{
		"Definition": {
			"A definition keeps everything except the status and the fields that servers and kubectl add.", RoleDefinition,
			`{apiVersion: v, kind: k, metadata: {name: n, generation: 3, ` + notes + `}, spec: {group: g, status: s}, status: {x: 1}, typo: 1}`,
			`{apiVersion: v, kind: k, metadata: {name: n, generation: 3, annotations: {a: b}}, spec: {group: g, status: s}, typo: 1}`,
		},
		"Conditions": {
			"A definition keeps its conditions without timestamps.", RoleDefinition,
			`{status: {controllers: {x: 1}, conditions: [{type: Other, status: "True"}, {type: Offered, status: "False", reason: R, message: M, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 3}, {type: Established, status: "True"}]}}`,
			`{status: {conditions: [{type: Established, status: "True"}, {type: Offered, status: "False", reason: R, message: M}]}}`,
		},
		"WrongStatus": {"An invalid status is kept, so that it can be reported.", RoleDefinition, `{status: x}`, `{status: x}`},
		"Composition": {
			"A Composition keeps everything except the status and the fields that servers and kubectl add.", RoleComposition,
			`{metadata: {` + notes + `}, spec: {pipeline: [{step: s}]}, status: {x: 1}}`,
			`{metadata: {annotations: {a: b}}, spec: {pipeline: [{step: s}]}}`,
		},
		"Composite": {
			"A composite keeps the fields of Crossplane and no fields of the developer.", RoleComposite,
			`{apiVersion: v, kind: k, metadata: {name: n, uid: u, ` + notes + `}, other: 1, status: {endpoint: e, conditions: [{type: Ready}]},
				spec: {password: hunter2, compositionRef: {name: c, password: hunter2}, resourceRef: {apiVersion: v, kind: k, name: n}, claimRef: {kind: k, namespace: s, name: n},
					compositionSelector: {matchLabels: {a: b}}, writeConnectionSecretToRef: {name: s}}}`,
			`{apiVersion: v, kind: k, metadata: {name: n, uid: u, annotations: {a: b}}, status: {endpoint: e, conditions: [{type: Ready}]},
				spec: {compositionRef: {name: c}, resourceRef: {apiVersion: v, kind: k, name: n}, claimRef: {kind: k, namespace: s, name: n}}}`,
		},
		"Modern": {
			"In v2 only spec.crossplane has fields of Crossplane; fields of the same names elsewhere belong to the developer.", RoleComposite,
			`{spec: {crossplane: {compositionRef: {name: c}, compositionUpdatePolicy: Manual, crossplane: {x: 1}}, resourceRef: hunter2, claimRef: {name: {password: hunter2}, x: 1}}}`,
			`{spec: {crossplane: {compositionRef: {name: c}}, claimRef: {}}}`,
		},
		"Parts": {
			"References to composed objects are kept without other fields; those without a name and what is no reference are removed.", RoleComposite,
			`{spec: {resourceRefs: [{apiVersion: v, kind: k, name: n, namespace: s, password: hunter2}, {apiVersion: v, kind: k}, hunter2, {name: {x: hunter2}}], crossplane: {resourceRefs: [{name: m}, 7]}}}`,
			`{spec: {resourceRefs: [{apiVersion: v, kind: k, name: n, namespace: s}], crossplane: {resourceRefs: [{name: m}]}}}`,
		},
		"OddRefs":  {"A value that is no list of references is removed.", RoleComposite, `{spec: {resourceRefs: {name: hunter2}, crossplane: {resourceRefs: hunter2}}}`, `{spec: {crossplane: {}}}`},
		"OddSpec":  {"An invalid spec may have been written by a developer and is removed.", RoleComposite, `{spec: hunter2, kind: k}`, `{kind: k}`},
		"Workload": {"A workload keeps only its metadata, because the rest may contain secrets.", RoleWorkload, `{kind: Deployment, metadata: {name: n, ownerReferences: [{kind: CronJob}], ` + notes + `}, spec: {env: x}, status: {x: 1}, data: x}`, `{kind: Deployment, metadata: {name: n, ownerReferences: [{kind: CronJob}], annotations: {a: b}}}`},
		"NoObject": {"A value that is not an object is unchanged.", RoleComposite, `[1]`, `[1]`},
		"OddParts": {"Parts of the wrong type are unchanged.", RoleDefinition, `{metadata: x, spec: [1]}`, `{metadata: x, spec: [1]}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n, before := document(t, tc.in), document(t, tc.in)
			if diff := cmp.Diff(document(t, tc.want), Prune(n, tc.role)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if !n.Equal(before) {
				t.Errorf("%s\nargument was changed", tc.reason)
			}
			if once := Prune(n, tc.role); !once.Equal(Prune(once, tc.role)) {
				t.Errorf("%s\npruning again removes more", tc.reason)
			}
		})
	}
	if Prune(nil, RoleDefinition) != nil {
		t.Error("Prune(nil) is not nil")
	}
	at := document(t, "\n\nmetadata:\n  name: n\n")
	if got := Prune(at, RoleDefinition).Get("metadata"); got.Pos != (tree.Pos{Line: 4, Column: 3}) {
		t.Errorf("position is %v", got.Pos)
	}
}

// TestPruneManyParts checks that the number of references that are kept has a limit.
func TestPruneManyParts(t *testing.T) {
	refs := tree.Arr()
	for range mostReferences + 1 {
		refs.Items = append(refs.Items, tree.Obj(tree.F("name", tree.Str("n"))))
	}
	kept := Prune(tree.Obj(tree.F("spec", tree.Obj(tree.F(refResources, refs)))), RoleComposite)
	if got := kept.Get("spec", refResources).Len(); got != mostReferences {
		t.Errorf("%d references are kept, want %d", got, mostReferences)
	}
	if refs.Len() != mostReferences+1 {
		t.Error("the original was changed")
	}
}
