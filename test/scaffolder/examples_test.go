package scaffolder_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// example is a definition of the folder examples, with the location of the
// form's fields in the resource.
type example struct {
	file string
	// template is the Template that creates, path the API path of the resources
	// without their names; NS stands for the namespace.
	template, path string
	// wrapper is the field of spec that contains the fields of the form, at the
	// location of fields with another name.
	wrapper string
	at      map[string]string
	// v1 means that the settings of Crossplane are in spec itself, not below
	// spec.crossplane.
	v1 bool
	// change has the values that an update changes in the form. Without them
	// there are no Templates for update and delete.
	change string
}

// whole is the location of a field that is the whole spec.
const whole = "."

const claims = "/apis/platform.example.org/v1alpha1/namespaces/NS/"

var examples = map[string]example{
	"v1 claim": {
		file: "database.yaml", template: "xdatabases.platform.example.org", path: claims + "databases/", wrapper: "parameters", v1: true,
		change: "{storageGB: 4096, composition: database-postgres}",
	},
	"v1 claim with hints": {
		file: "kubernetes.yaml", template: "xkubernetesclusters.platform.example.org", path: claims + "kubernetesclusters/", v1: true, change: `{version: "1.36"}`,
	},
	"v1 claim in the contract's words": {
		file: "cache.yaml", template: "xcaches.platform.io", path: "/apis/platform.io/v1/namespaces/NS/caches/", v1: true, change: `{evictionPolicy: ""}`,
	},
	"v1 composite": {
		file: "tenant.yaml", template: "xtenants.iam.example.org", path: "/apis/iam.example.org/v1/xtenants/", v1: true, change: "{quota: {cpu: 0}}",
	},
	"v2 namespaced": {
		file: "bucket.yaml", template: "buckets.storage.example.org", path: "/apis/storage.example.org/v1/namespaces/NS/buckets/",
		change: "{tags: {team: a, another: b}, versioning: false}",
	},
	"v2 cluster-scoped": {
		file: "network.yaml", template: "networks.net.example.org", path: "/apis/net.example.org/v1beta1/networks/",
		change: "{subnets: [{name: only, cidr: 10.1.1.0/24}]}",
	},
	"shapes": {
		file: "app.yaml", template: "apps.apps.example.org", path: "/apis/apps.example.org/v1/namespaces/NS/apps/",
		change: `{port: http, env: [{name: A, value: ""}], helmValues: {other: {values: [1, 2]}}}`,
	},
	"rules": {
		file: "certificate.yaml", template: "certificates.security.example.org", path: "/apis/security.example.org/v1/namespaces/NS/certificates/",
		change: "{validDays: 30, alternativeNames: [only.example.org]}",
	},
	"a choice": {
		file: "notification.yaml", template: "notifications.ops.example.org", path: "/apis/ops.example.org/v1/namespaces/NS/notifications/",
		change: "{email: other@example.org}",
	},
	"names": {
		file: "record.yaml", template: "records.dns.example.org", path: "/apis/dns.example.org/v1/namespaces/NS/records/",
		at: map[string]string{"spec_name": "name", "spec_owner": "owner"}, change: `{spec_name: other, ttl: 60, "geo-weights": {eu: 0}}`,
	},
	"anything": {
		file: "anything.yaml", template: "blobs.lab.example.org", path: "/apis/lab.example.org/v1alpha1/namespaces/NS/blobs/",
		at: map[string]string{"spec": whole}, change: "{spec: {whatever: [{it: takes}]}}",
	},
	"variant B": {
		file: "queue.yaml", template: "queues.messaging.platform.io-v1", path: "/apis/messaging.platform.io/v1/namespaces/NS/queues/",
	},
	"variant B, deprecated": {
		file: "queue.yaml", template: "queues.messaging.platform.io-v1beta1", path: "/apis/messaging.platform.io/v1beta1/namespaces/NS/queues/",
	},
}

// TestExamplesAreAll checks that every definition of the folder examples is
// tested.
func TestExamplesAreAll(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for _, e := range examples {
		tried[e.file] = true
	}
	for _, f := range files {
		if text, err := os.ReadFile(f); err != nil || !tried[filepath.Base(f)] && strings.Contains(string(text), "kind: CompositeResourceDefinition") {
			t.Errorf("no test covers %s: %v", f, err)
		}
	}
}

// TestExamples fills the form of each example, checks the resource, updates it,
// and deletes it.
func TestExamples(t *testing.T) {
	for name, e := range examples {
		t.Run(name, func(t *testing.T) {
			w, c := enter(t)
			label := strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(strings.ToLower(name))
			ns := w.namespace(t, "ns-"+label)
			e.path = strings.ReplaceAll(e.path, "NS", ns)
			namespaced := strings.Contains(e.path, "/namespaces/")
			pages := c.form(e.template, "").Get("steps").List()
			base := tree.Obj(tree.F("name", tree.Str(label)), tree.F("owner", tree.Str("group:default/"+label)))
			if namespaced {
				base.Set("namespace", tree.Str(ns))
			}
			full, spec := e.full(t, pages, base, fillPage)
			h := c.completes(e.template, full)
			got := w.find(t, e.path+label)
			same(t, "all fields filled", e.defaulted(t, spec), got.Get("spec"))
			same(t, "the annotations", tree.Obj(
				tree.F(e.owner(), tree.Str("group:default/"+label)),
				tree.F(words.AnnotationFromTemplate, tree.Str("template:default/"+e.template)),
				tree.F(words.AnnotationRequestedBy, tree.Str("service:tests")),
				tree.F(words.AnnotationTask, tree.Str(h.id)),
			), got.Get("metadata", "annotations"))

			few, spec := e.full(t, pages, override(t, base, "{name: few}"), func(t *testing.T, page *tree.Node, n int) *tree.Node {
				return required(page, fillPage(t, page, n))
			})
			c.completes(e.template, few)
			same(t, "only what is required", e.defaulted(t, spec), w.find(t, e.path+"few").Get("spec"))

			if e.change == "" {
				return
			}
			e.update(t, w, c, pages, full)
			for _, one := range []string{label, "few"} {
				values := override(t, base, "{name: "+one+", confirm: true, delivery: apply}")
				values.Delete("owner")
				c.completes(e.template+"-delete", values)
				if left := w.find(t, e.path+one); left != nil {
					t.Errorf("deleted resource still exists: %s", tree.AppendJSON(nil, left, ""))
				}
			}
		})
	}
}

// update fills the form from the resource that was created with some values,
// changes a field, and checks that only that field changes.
func (e *example) update(t *testing.T, w *world, c client, pages []*tree.Node, made *tree.Node) {
	t.Helper()
	template, label := e.template+"-update", made.Get("name").Str()
	query := "?name=" + escape(label)
	if ns := made.Get("namespace").Str(); ns != "" {
		query += "&namespace=" + escape(ns)
	}
	live := c.form(template, query).Get("values")
	generation := w.find(t, e.path+label).Get("metadata", "generation")
	same(t, "the form filled from the resource", override(t, made, "{observed: "+live.Get("observed").Str()+"}"), override(t, live, "{delivery: apply}"))

	changed := override(t, override(t, live, e.change), "{delivery: apply}")
	c.completes(template, changed)
	got := w.find(t, e.path+label)
	_, want := e.placed(t, pages, changed)
	same(t, "after an update", e.defaulted(t, want), got.Get("spec"))
	if now := got.Get("metadata", "generation"); now.Equal(generation) {
		t.Errorf("update changed nothing: generation is still %s", now.Scalar())
	}
	// The same form again is outdated, as the resource has changed since.
	c.fails(template, override(t, override(t, live, "{delivery: apply}"), "{name: "+label+"}"), "the object was changed after the form was filled")
}

// owner returns the annotation with the owner.
func (e *example) owner() string {
	if strings.Contains(e.template, "platform.io") {
		return "portal.io/owner"
	}
	return "backstage.io/owner"
}

// full returns the values for the pages, and the expected spec.
func (e *example) full(t *testing.T, pages []*tree.Node, base *tree.Node, filler func(*testing.T, *tree.Node, int) *tree.Node) (values, spec *tree.Node) {
	t.Helper()
	values = tree.Obj()
	for _, page := range pages {
		for _, f := range filler(t, page.Get("schema"), 0).Fields {
			values.Set(f.Key, f.Value)
		}
	}
	for _, f := range base.Fields {
		values.Set(f.Key, f.Value)
	}
	if values.Has("delivery") {
		values.Set("delivery", tree.Str("apply"))
	}
	if values.Has("composition") {
		// A suggested Composition is dropped in favour of labels.
		values.Delete("compositionSelector")
	}
	return e.placed(t, pages, values)
}

// placed returns values and the spec that they result in. It covers the pages
// between the first, about the resource itself, and the last, about delivery.
func (e *example) placed(t *testing.T, pages []*tree.Node, values *tree.Node) (*tree.Node, *tree.Node) {
	t.Helper()
	spec := tree.Obj()
	if e.at["spec"] == whole {
		// Without a value there is no spec.
		spec = nil
	}
	if e.wrapper != "" {
		spec.Set(e.wrapper, tree.Obj())
	}
	for _, page := range pages[1:] {
		title := page.Get("title").Str()
		if title == "Delivery" {
			continue
		}
		schema := page.Get("schema")
		for _, part := range append(schema.Get("oneOf").List(), schema) {
			properties := part.Get("properties")
			if properties == nil {
				continue
			}
			for _, f := range properties.Fields {
				if v := values.Get(f.Key); v != nil {
					spec = e.put(spec, title, f.Key, v)
				}
			}
		}
	}
	return values, spec
}

// put sets the value of a field in a spec.
func (e *example) put(spec *tree.Node, title, field string, v *tree.Node) *tree.Node {
	path, moved := e.at[field]
	switch {
	case path == whole:
		return v
	case title == "Crossplane":
		path = told[field]
		if !e.v1 {
			path = "crossplane." + path
		}
	case moved:
	case e.wrapper != "":
		path = e.wrapper + "." + field
	default:
		path = field
	}
	steps := strings.Split(path, ".")
	at := spec
	for _, step := range steps[:len(steps)-1] {
		if !at.Has(step) {
			at.Set(step, tree.Obj())
		}
		at = at.Get(step)
	}
	at.Set(steps[len(steps)-1], v)
	return spec
}

// told has the location in spec of the fields of the Crossplane page.
var told = map[string]string{
	"composition": "compositionRef.name", "compositionSelector": "compositionSelector.matchLabels",
	"compositionRevision": "compositionRevisionRef.name", "compositionRevisionSelector": "compositionRevisionSelector.matchLabels",
	"compositionUpdatePolicy": "compositionUpdatePolicy", "compositeDeletePolicy": "compositeDeletePolicy",
	"connectionSecret": "writeConnectionSecretToRef.name", "connectionSecretNamespace": "writeConnectionSecretToRef.namespace",
}

// defaulted adds what the API server adds to a spec: the defaults of the
// definition for missing fields.
func (e *example) defaulted(t *testing.T, spec *tree.Node) *tree.Node {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../examples", e.file))
	if err != nil {
		t.Fatal(err)
	}
	docs, errs := parser.DecodeBytes(text)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	// An object that is stored in another version also gets the defaults of
	// that version.
	version := strings.Split(e.path, "/")[3]
	for _, v := range docs[0].Get("spec", "versions").List() {
		if v.Get("name").Str() == version || v.Get("referenceable").IsTrue() {
			addDefaults(v.Get("schema", "openAPIV3Schema", "properties", "spec"), spec)
		}
	}
	return spec
}

// addDefaults adds the defaults of a schema to an object.
func addDefaults(schema, n *tree.Node) {
	properties := schema.Get("properties")
	if properties == nil || !n.IsMap() {
		return
	}
	for _, f := range properties.Fields {
		if d := f.Value.Get("default"); d != nil && !n.Has(f.Key) {
			n.Set(f.Key, d)
		}
		addDefaults(f.Value, n.Get(f.Key))
	}
}

// same checks that two values are equal, whatever the order of their keys.
func same(t *testing.T, what string, want, got *tree.Node) {
	t.Helper()
	if diff := cmp.Diff(want.Any(), got.Any()); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}
