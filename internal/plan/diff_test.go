package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
)

// parse parses one document.
func parse(t *testing.T, text string) *tree.Node {
	t.Helper()
	if text == "" {
		return nil
	}
	docs, errs := parser.DecodeBytes([]byte(text))
	if len(errs) > 0 || len(docs) != 1 {
		t.Fatalf("cannot parse %q: %v", text, errs)
	}
	return docs[0]
}

func TestDescribe(t *testing.T) {
	const managed = "managedFields: [{manager: apiextensions.crossplane.io/composed/abc, operation: Apply, fieldsV1: {\"f:spec\": {\"f:a\": {}, \"f:b\": {}}}}"
	// Crossplane and a mesh have items of the same lists.
	const lists = `{managedFields: [
		{manager: apiextensions.crossplane.io/composed/abc, operation: Apply, fieldsV1: {"f:spec": {"f:tags": {"v:\"a\"": {}}, "f:ports": {
			"k:{\"name\":\"web\"}": {".": {}, "f:name": {}, "f:port": {}, "f:extra": {}}, "k:{\"name\":\"old\"}": {".": {}, "f:name": {}, "f:port": {}}}}}},
		{manager: mesh, operation: Apply, fieldsV1: {"f:spec": {"f:tags": {"v:\"b\"": {}}, "f:ports": {"k:{\"name\":\"mesh\"}": {".": {}, "f:name": {}, "f:port": {}}}}}}]}`
	cases := map[string]struct {
		reason        string
		desired, live string
		action        Action
		diff          []string
	}{
		"New":      {reason: "An object that does not exist is created.", desired: "{kind: X, spec: {a: 1}}", action: Create},
		"Same":     {reason: "Fields that others set are not compared.", desired: "{kind: X, spec: {a: 1}}", live: "{kind: X, spec: {a: 1, z: 2}, status: {b: 1}}", action: Unchanged},
		"Value":    {reason: "A value changes.", desired: "{spec: {a: 2}}", live: "{spec: {a: 1}}", action: Change, diff: []string{"- spec.a: 1", "+ spec.a: 2"}},
		"Added":    {reason: "A field is added.", desired: "{spec: {a: {b: x}}}", live: "{spec: {}}", action: Change, diff: []string{`+ spec.a: {"b":"x"}`}},
		"Defaults": {reason: "The API server fills in fields of items.", desired: "{spec: {ports: [{port: 80}]}}", live: "{spec: {ports: [{port: 80, protocol: TCP}]}}", action: Unchanged},
		"Shorter":  {reason: "A list with fewer items is replaced.", desired: "{spec: {l: [1]}}", live: "{spec: {l: [1, 2]}}", action: Change, diff: []string{"- spec.l: [1,2]", "+ spec.l: [1]"}},
		"Removed": {
			reason: "A field that only Crossplane set, and sets no more, is removed.", desired: "{spec: {a: 1}}", action: Change,
			live: "{spec: {a: 1, b: 2}, metadata: {" + managed + "]}}", diff: []string{"- spec.b: 2"},
		},
		"Shared": {
			reason: "A field that another manager has stays.", desired: "{spec: {a: 1}}", action: Unchanged,
			live: "{spec: {a: 1, b: 2}, metadata: {" + managed + ", {manager: kubectl, operation: Apply, fieldsV1: {\"f:spec\": {\"f:b\": {}}}}]}}",
		},
		"Owners":     {reason: "Other owners stay.", desired: "{metadata: {ownerReferences: [{uid: a}]}}", live: "{metadata: {ownerReferences: [{uid: b}, {uid: a, x: 1}]}}", action: Unchanged},
		"Annotation": {reason: "Keys with slashes are quoted.", desired: "{metadata: {annotations: {a.b/c: x}}}", live: "{metadata: {annotations: {}}}", action: Change, diff: []string{`+ metadata.annotations["a.b/c"]: "x"`}},
		"Secret": {
			reason: "Of a Secret only the metadata is read and compared.", action: Change, diff: []string{`- metadata.labels.a: "x"`, `+ metadata.labels.a: "y"`, `- metadata.labels.b: "z"`},
			desired: "{apiVersion: v1, kind: Secret, metadata: {labels: {a: y}}, type: Opaque, immutable: true, data: {p: eA==}}",
			live:    `{apiVersion: v1, kind: Secret, metadata: {labels: {a: x, b: z}, managedFields: [{manager: apiextensions.crossplane.io/composed/abc, operation: Apply, fieldsV1: {"f:data": {"f:p": {}}, "f:type": {}, "f:metadata": {"f:labels": {"f:a": {}, "f:b": {}}}}}]}}`,
		},
		"Version":      {reason: "An object has the version that it is asked for in.", desired: "{apiVersion: e.org/v2, kind: X, spec: {a: 1}}", live: "{apiVersion: e.org/v1, kind: X, spec: {a: 1}}", action: Unchanged},
		"Quantities":   {reason: "The API server shortens quantities of its own kinds.", desired: `{apiVersion: v1, kind: Pod, spec: {resources: {limits: {cpu: 1000m, memory: 1024Mi, e.org/gpu: "2"}}}}`, live: `{apiVersion: v1, kind: Pod, spec: {resources: {limits: {cpu: "1", memory: 1Gi, e.org/gpu: "2"}}}}`, action: Unchanged},
		"OtherAmount":  {reason: "Another quantity is a change.", desired: `{apiVersion: v1, kind: Pod, spec: {resources: {limits: {cpu: 1500m}}}}`, live: `{apiVersion: v1, kind: Pod, spec: {resources: {limits: {cpu: "1"}}}}`, action: Change, diff: []string{`- spec.resources.limits.cpu: "1"`, `+ spec.resources.limits.cpu: "1500m"`}},
		"Text":         {reason: "A text that looks like a quantity is none.", desired: `{apiVersion: v1, kind: ConfigMap, data: {max: 1000m}}`, live: `{apiVersion: v1, kind: ConfigMap, data: {max: "1"}}`, action: Change, diff: []string{`- data.max: "1"`, `+ data.max: "1000m"`}},
		"CustomAmount": {reason: "Custom resources are stored as they are written.", desired: `{apiVersion: e.org/v1, kind: X, spec: {limits: {cpu: 1000m}}}`, live: `{apiVersion: e.org/v1, kind: X, spec: {limits: {cpu: "1"}}}`, action: Change, diff: []string{`- spec.limits.cpu: "1"`, `+ spec.limits.cpu: "1000m"`}},
		"EmptyList":    {reason: "The API server drops empty lists of its own kinds.", desired: "{apiVersion: v1, kind: Pod, spec: {env: []}}", live: "{apiVersion: v1, kind: Pod, spec: {}}", action: Unchanged},
		"Set": {
			reason: "Values of others stay in a set.", desired: "{spec: {tags: [a]}}", live: "{spec: {tags: [b, a]}, metadata: " + lists + "}", action: Unchanged,
		},
		"SetChanged": {
			reason: "A value is added to a set, and the own one removed.", desired: "{spec: {tags: [c]}}", live: "{spec: {tags: [b, a]}, metadata: " + lists + "}", action: Change,
			diff: []string{`+ spec.tags[0]: "c"`, `- spec.tags[1]: "a"`},
		},
		"Merged": {
			reason: "Items are merged by their keys, in any order, and those of others stay.", desired: "{spec: {ports: [{name: web, port: 80}, {name: old, port: 1}]}}",
			live: "{spec: {ports: [{name: old, port: 1}, {name: mesh, port: 9}, {name: web, port: 80, protocol: TCP}]}, metadata: " + lists + "}", action: Unchanged,
		},
		"MergedChanged": {
			reason: "An item changes, one is added, and one is removed.", desired: "{spec: {ports: [{name: new, port: 2}, {name: web, port: 81}]}}",
			live: "{spec: {ports: [{name: old, port: 1}, {name: mesh, port: 9}, {name: web, port: 80, extra: x}]}, metadata: " + lists + "}", action: Change,
			diff: []string{`+ spec.ports[0]: {"name":"new","port":2}`, `- spec.ports[0]: {"name":"old","port":1}`, `- spec.ports[1].extra: "x"`, `- spec.ports[1].port: 80`, `+ spec.ports[1].port: 81`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := (&job{}).describe(parse(t, tc.desired), parse(t, tc.live), tc.live == "")
			if o.Action != tc.action {
				t.Errorf("%s: action is %s, want %s", tc.reason, o.Action, tc.action)
			}
			if diff := cmp.Diff(tc.diff, o.Diff()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSecretsHidden checks that no part of a plan has the data of a Secret.
func TestSecretsHidden(t *testing.T) {
	const value = "aHVudGVyMg=="
	o := (&job{}).describe(parse(t, `{apiVersion: v1, kind: Secret, metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: "`+value+`"}}, data: {p: `+value+`}, stringData: {q: `+value+`}}`), nil, true)
	text := (&Plan{Objects: []Object{o}}).Markdown() + string(tree.AppendJSON(nil, o.Manifest.Node, ""))
	if strings.Contains(text, value) || !strings.Contains(text, engine.Hidden) {
		t.Errorf("plan shows a Secret:\n%s", text)
	}
}

// TestHidden checks that what may be secret is hidden wherever it is, and that a change of it
// shows.
func TestHidden(t *testing.T) {
	const object = `{apiVersion: e/v1, kind: Release, metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: "{SECRET}"}}, spec: {
		adminPassword: SECRET, adminPasswords: [SECRET, SECRET], passwordSecretRef: {name: plain}, size: 3, env: [{name: DB_PASSWORD, value: SECRET}, {name: LOG, value: debug}],
		manifest: {apiVersion: v1, kind: Secret, stringData: {dsn: SECRET}, data: {cert: SECRET, n: {m: SECRET}}}}}`
	was, will := parse(t, strings.ReplaceAll(object, "SECRET", "hunter1")), parse(t, strings.ReplaceAll(strings.Replace(object, "size: 3", "size: 4", 1), "SECRET", "hunter2"))
	o := (&job{}).describe(will, was, false)
	text := strings.Join(o.Diff(), "\n") + string(tree.AppendJSON(nil, o.Manifest.Node, ""))
	if strings.Contains(text, "hunter") {
		t.Errorf("plan shows a secret:\n%s", text)
	}
	var paths []string
	for _, f := range o.Fields {
		paths = append(paths, f.Path)
	}
	want := []string{
		`metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]`, "spec.adminPassword", "spec.adminPasswords[0]", "spec.adminPasswords[1]", "spec.env[0].value",
		"spec.manifest.data.cert", "spec.manifest.data.n.m", "spec.manifest.stringData.dsn", "spec.size",
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("changed fields (-want +got):\n%s", diff)
	}
	for _, plain := range []string{"debug", `"plain"`, "spec.size: 4"} {
		if !strings.Contains(text, plain) {
			t.Errorf("plan lacks %s:\n%s", plain, text)
		}
	}
}

// TestRename checks that invented names are replaced once, also if names contain each other.
func TestRename(t *testing.T) {
	j := &job{plan: &Plan{}, generated: map[string]string{"books-0x0x0": "books-(generated)", "books-0x0x0-abc": "books-(generated)-(generated)", "ge": "ge(generated)", "e": "e(generated)"}}
	j.finish()
	for text, want := range map[string]string{
		"books-0x0x0": "books-(generated)", "a books-0x0x0-abc b": "a books-(generated)-(generated) b", "generated": "ge(generated)ne(generated)rate(generated)d",
	} {
		if got := j.rename(text); got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}

// TestMarkdown checks that values cannot leave their place in Markdown, and the limit.
func TestMarkdown(t *testing.T) {
	p := &Plan{Composition: Composition{Name: "a`b"}, Counts: Counts{Create: 1}, Unknown: []Unknown{{Subject: "x", Message: "[link](http://example.org)\n# title"}}}
	want := "**Plan: 1 to create, 0 to change, 0 to delete** (Composition `` a`b ``)\n\n- Known only after apply: `x`: `[link](http://example.org) # title`\n"
	if diff := cmp.Diff(want, p.Markdown()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for range 5000 {
		p.Objects = append(p.Objects, Object{Kind: "ConfigMap", Name: strings.Repeat("n", 60), Action: Create, Manifest: &Manifest{tree.Obj()}})
	}
	if n := len(p.Markdown()); n > mostMarkdown {
		t.Errorf("Markdown has %d bytes, want at most %d", n, mostMarkdown)
	}
}
