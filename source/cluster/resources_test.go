package cluster_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// buckets serves a Bucket in some versions. Its managed fields say that it was written in
// v1alpha1.
func buckets(t *testing.T, versions ...string) *cluster.Cluster {
	t.Helper()
	type object = map[string]any
	group := []object{}
	answers := map[string]object{}
	for _, v := range versions {
		group = append(group, object{"groupVersion": "example.org/" + v, "version": v})
		answers["/apis/example.org/"+v] = object{"kind": "APIResourceList", "resources": []object{{"name": "buckets"}}}
		answers["/apis/example.org/"+v+"/buckets"] = object{
			"kind": "BucketList", "apiVersion": "example.org/" + v, "metadata": object{"resourceVersion": "1"}, "items": []object{{
				"apiVersion": "example.org/" + v, "kind": "Bucket",
				"metadata": object{"name": "b", "namespace": "team", "managedFields": []object{
					{"manager": "kubectl", "apiVersion": "example.org/v1alpha1", "time": "2026-05-01T10:00:00Z", "fieldsV1": object{"f:metadata": object{"f:labels": object{}}, "f:spec": object{"f:size": object{}}}},
					{"manager": "crossplane", "apiVersion": "example.org/v1", "time": "2026-06-01T10:00:00Z", "fieldsV1": object{"f:spec": object{"f:crossplane": object{}}}},
					{"manager": "crossplane", "apiVersion": "example.org/v1", "subresource": "status", "fieldsV1": object{"f:status": object{"f:ready": object{}}}},
				}},
				"spec": object{"size": "small"},
			}},
		}
	}
	if len(group) > 0 {
		answers["/apis/example.org"] = object{"kind": "APIGroup", "name": "example.org", "versions": group}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		if !ok {
			refuse(w, http.StatusNotFound, "not found")
			return
		}
		text, err := json.Marshal(answer)
		if err != nil {
			t.Error(err)
		}
		respond(w, string(text))
	}))
	t.Cleanup(server.Close)
	return connect(t, "east", source.Cluster{URL: server.URL, Token: credential}, cluster.Options{})
}

// TestResources reads the resources of a definition that serves v1, which is preferred, and
// v1alpha1.
func TestResources(t *testing.T) {
	var set xrd.Set
	const text = `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: buckets.example.org}
spec:
  group: example.org
  names: {kind: Bucket, plural: buckets}
  scope: Namespaced
  versions:
  - {name: v1alpha1, served: true, referenceable: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1, served: true, referenceable: true, schema: {openAPIV3Schema: {type: object}}}
`
	if err := set.Read(strings.NewReader(text), xrd.Origin{}); err != nil || len(set.Definitions) != 1 || len(set.Definitions[0].Served) != 2 {
		t.Fatalf("cannot read the definition: %v, %v", err, set.Findings)
	}
	cases := map[string]struct {
		reason string
		served []string
		// want has the version of each list, and err a part of the error.
		want []string
		err  string
	}{
		"Preferred":   {"The preferred version is listed.", []string{"v1alpha1", "v1"}, []string{"example.org/v1"}, ""},
		"Other":       {"A cluster may lack the preferred version.", []string{"v1alpha1"}, []string{"example.org/v1alpha1"}, ""},
		"Unknown":     {"What cannot be read is not skipped silently.", []string{"v2"}, nil, `cluster "east": cannot list buckets.example.org: the cluster serves version v2 of buckets.example.org, which the definition does not serve`},
		"NotServed":   {"A cluster without the definition has no resources.", nil, nil, ""},
		"OtherOfOurs": {"A version that the definition lacks does not matter beside one that it has.", []string{"v2", "v1alpha1"}, []string{"example.org/v1alpha1"}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := buckets(t, tc.served...)
			var got []string
			take := func(n *tree.Node) error {
				got = append(got, n.Get("apiVersion").Str())
				if v, composed := xrd.Written(n.Get("metadata")); v != "v1alpha1" || composed {
					t.Errorf("written in version %q, composed %t: %s", v, composed, tree.AppendJSON(nil, n, ""))
				}
				if text := string(tree.AppendJSON(nil, n, "")); strings.Contains(text, "f:size") || strings.Contains(text, "f:labels") || strings.Contains(text, "f:ready") {
					t.Errorf("the names of managed fields are kept: %s", text)
				}
				return nil
			}
			for _, read := range []func() error{
				func() error { return c.Resources(t.Context(), set.Definitions[0], nil, take) },
				func() error { return c.ResourceMetadata(t.Context(), set.Definitions[0], nil, take) },
			} {
				got = nil
				err := read()
				if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
					t.Errorf("%s\ngot error %v, want %q", tc.reason, err, tc.err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}
