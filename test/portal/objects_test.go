package portal_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// entityCase is a request for something that belongs to an entity, by the kind, namespace
// and name of the entity.
type entityCase struct {
	reason, path, token string
	status              int
	says                string
}

// checkEntityCases sends the requests below base. No response may contain secret.
func (c caller) checkEntityCases(base, secret string, cases map[string]entityCase) {
	c.t.Helper()
	for name, tc := range cases {
		c.t.Run(name, func(t *testing.T) {
			r := c.in(t).send(call{path: base + tc.path, token: tc.token})
			if r.status != tc.status || !strings.Contains(string(r.body), tc.says) || strings.Contains(string(r.body), secret) {
				t.Errorf("got %d %s, want %d with %q: %s", r.status, brief(r.body), tc.status, tc.says, tc.reason)
			}
		})
	}
}

// TestConditions checks that callers who may read an entity, and no others, see
// the conditions of its object, and nothing else of it.
func TestConditions(t *testing.T) {
	sections := ingesting(t)
	sections["permission"] = map[string]any{"rules": []any{
		map[string]any{"who": []string{"guest"}, "permissions": []string{"catalog.entity.read"}, "kinds": []string{"Resource"}, "result": "deny"},
	}}
	w := start(t, setup{sections: sections})
	const photos = "photos-ac4740c5"
	w.until("the composite is in the catalog", func() bool { return w.exists("resource/default/" + photos) })
	w.push("other", strings.Replace(component("copy"), `"name":"copy"`, `"name":"copy","annotations":{"crossplane.terasky.io/xr-name":"photos",`+
		`"crossplane.terasky.io/xr-kind":"Bucket","crossplane.terasky.io/xr-apiversion":"storage.example.org/v1","backstage.io/kubernetes-namespace":"shop"}`, 1))
	guest := w.guest()
	w.checkEntityCases("/api/composer-ingestor/conditions/", "password", map[string]entityCase{
		"Service": {"A service may read everything.", "resource/default/" + photos, "", 200, `"reason":"Creating"`},
		"Case":    {"References are case-insensitive.", "Resource/Default/PHOTOS-ac4740c5", "", 200, `"reason":"Creating"`},
		"Guest":   {"An entity that a guest may not read is not found.", "resource/default/" + photos, guest, 404, "NotFoundError"},
		"Other":   {"A Template has no object.", "template/default/" + ingested, "", 404, "NotFoundError"},
		"Copied":  {"Copied annotations in another entity reveal nothing.", "component/default/copy", "", 404, "NotFoundError"},
		"None":    {"An unknown entity is not found.", "resource/default/nosuch", "", 404, "nosuch"},
		"Strange": {"An invalid name is not found.", "resource/default/a%00b", "", 404, "NotFoundError"},
	})
}

// fastBuckets is a Composition of the ingested definition, as an API server returns it.
const fastBuckets = `
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata:
  name: fast-buckets
  uid: a-uid-0815
  managedFields: [{ manager: kubectl }]
  annotations: { kubectl.kubernetes.io/last-applied-configuration: '{"spec":"a-copy-0815"}' }
spec:
  compositeTypeRef: { apiVersion: storage.example.org/v1, kind: Bucket }
  mode: Pipeline
  pipeline: [{ step: one, functionRef: { name: function-one }, input: { kind: Resources } }]
`

// TestSource checks that callers who may read an entity, and no others, see the XRD or
// Composition that it was built from, and no other object.
func TestSource(t *testing.T) {
	sections := ingesting(t)
	folder := sections["composerIngestor"].(map[string]any)["sources"].([]any)[0].(map[string]any)["path"].(string)
	if err := os.WriteFile(filepath.Join(folder, "fast.yaml"), []byte(fastBuckets), 0o600); err != nil {
		t.Fatal(err)
	}
	sections["permission"] = map[string]any{"rules": []any{
		map[string]any{"who": []string{"guest"}, "permissions": []string{"catalog.entity.read"}, "kinds": []string{"Resource"}, "result": "deny"},
	}}
	w := start(t, setup{sections: sections})
	w.until("the Composition is in the catalog", func() bool { return w.exists("resource/default/fast-buckets-composition") })
	w.push("other", strings.Replace(component("copy"), `"name":"copy"`, `"name":"copy","annotations":{"crossplane.io/xrd-name":"`+ingested+`"}`, 1))
	guest := w.guest()
	const definition, composition = `"kind":"CompositeResourceDefinition"`, `"kind":"Composition","metadata":{"name":"fast-buckets"`
	w.checkEntityCases("/api/composer-ingestor/source/", "0815", map[string]entityCase{
		"Definition":  {"The Resource of an XRD has the XRD.", "resource/default/" + ingested + "-xrd", "", 200, definition},
		"Template":    {"A Template is built from an XRD.", "template/default/" + ingested, "", 200, definition},
		"API":         {"An API is built from an XRD.", "api/default/" + ingested + "-api", "", 200, definition},
		"Composition": {"The Resource of a Composition has the Composition.", "resource/default/fast-buckets-composition", "", 200, composition},
		"Case":        {"References are case-insensitive.", "Resource/Default/FAST-buckets-composition", "", 200, composition},
		"Reader":      {"A guest who may read the Template may read its XRD.", "template/default/" + ingested, guest, 200, definition},
		"Guest":       {"An entity that a guest may not read is not found.", "resource/default/" + ingested + "-xrd", guest, 404, "NotFoundError"},
		"Composite":   {"A composite is no source.", "resource/default/photos-ac4740c5", "", 404, "NotFoundError"},
		"Copied":      {"Copied annotations in another entity reveal nothing.", "component/default/copy", "", 404, "NotFoundError"},
		"None":        {"An unknown entity is not found.", "resource/default/nosuch", "", 404, "nosuch"},
		"Strange":     {"An invalid name is not found.", "resource/default/a%00b", "", 404, "NotFoundError"},
	})
}

// TestValidate checks that callers who may read a Template, and no others, can validate
// what its form makes.
func TestValidate(t *testing.T) {
	sections := ingesting(t)
	sections["permission"] = map[string]any{"rules": []any{
		map[string]any{"who": []string{"guest"}, "permissions": []string{"catalog.entity.read"}, "kinds": []string{"Template"}, "result": "deny"},
	}}
	w := start(t, setup{sections: sections})
	w.until("the Template is in the catalog", func() bool { return w.exists("template/default/" + ingested) })
	w.push("other", strings.Replace(component("copy"), `"name":"copy"`, `"name":"copy","annotations":{"crossplane.io/xrd-name":"`+ingested+`"}`, 1))
	bucket := func(region string) string {
		return `{"apiVersion":"storage.example.org/v1","kind":"Bucket","metadata":{"name":"photos"},"spec":{"region":"` + region + `"}}`
	}
	ask := func(template, more string) string { return `{"template":"` + template + `",` + more + `}` }
	cases := map[string]struct {
		reason, body, token string
		status              int
		want                string
	}{
		"Accepted":  {"A valid resource is accepted.", ask("template:default/"+ingested, `"manifest":`+bucket("eu-west-1")), "", 200, `"accepted":true`},
		"Refused":   {"The API server's message names the values.", ask("template:default/"+ingested, `"manifest":`+bucket("moon")), "", 200, `"formPath":["region"]`},
		"Immutable": {"A rule compares with the old resource.", ask("template:default/"+ingested, `"manifest":`+bucket("eu-west-1")+`,"old":`+bucket("us-east-1")), "", 200, "The region cannot be changed."},
		"Guest":     {"A Template that the caller may not read does not exist.", ask("template:default/"+ingested, `"manifest":`+bucket("moon")), w.guest(), 404, "NotFoundError"},
		"Anonymous": {"A caller has a token.", ask("template:default/"+ingested, `"manifest":`+bucket("moon")), noToken, 401, "AuthenticationError"},
		"API":       {"Only Templates have forms.", ask("api:default/"+ingested+"-api", `"manifest":`+bucket("moon")), "", 404, "NotFoundError"},
		"Copied":    {"Copied annotations in another entity reveal nothing.", ask("component:default/copy", `"manifest":`+bucket("moon")), "", 404, "NotFoundError"},
		"None":      {"An unknown Template is not found.", ask("template:default/nosuch", `"manifest":`+bucket("moon")), "", 404, "nosuch"},
		"Strange":   {"A reference must be one.", ask("a:b:c", `"manifest":`+bucket("moon")), "", 400, "not an entity reference"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := w.send(call{method: http.MethodPost, path: "/api/crossplane-ingestor/validate", body: tc.body, token: tc.token})
			if r.status != tc.status || !strings.Contains(string(r.body), tc.want) {
				t.Errorf("%s\ngot %d %s, want %d with %s", tc.reason, r.status, brief(r.body), tc.status, tc.want)
			}
		})
	}
}
