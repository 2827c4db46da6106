package cluster_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	actions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/source/cluster"
)

// TestDropped runs an admission webhook that removes a field which the schema has,
// in dry runs too or only in writes. Both fail the step with an error that names
// the field.
func TestDropped(t *testing.T) {
	s := server(t)
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	for name, tc := range map[string]struct {
		reason  string
		trials  bool
		written bool
	}{
		"Always":  {"A field dropped in the dry run fails the step before anything is written.", true, false},
		"Written": {"A field dropped only in the write fails the step after the write.", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var review struct {
					Request struct {
						UID    string
						DryRun bool
						Object struct{ Spec map[string]any }
					}
				}
				if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
					t.Error(err)
				}
				answer := map[string]any{"uid": review.Request.UID, "allowed": true}
				if _, there := review.Request.Object.Spec["note"]; there && (tc.trials || !review.Request.DryRun) {
					answer["patchType"] = "JSONPatch"
					answer["patch"] = base64.StdEncoding.EncodeToString([]byte(`[{"op":"remove","path":"/spec/note"}]`))
				}
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer})
			}))
			defer hook.Close()
			ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw})
			s.Apply(t, fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: drop-%[1]s}
webhooks:
  - name: drop.example.org
    admissionReviewVersions: [v1]
    sideEffects: None
    clientConfig: {url: %[2]q, caBundle: %[3]s}
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    rules: [{apiGroups: [test.example.org], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [things]}]
`, ns, hook.URL, base64.StdEncoding.EncodeToString(ca)))
			defer remove(t, "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/drop-"+ns)

			// It takes a moment until the server calls the webhook.
			n := 0
			eventually(t, "the webhook is called", func() bool {
				n++
				return do(t.Context(), t, apply, with(thing(ns, fmt.Sprint("probe-", n), "{size: small, note: x}"), "")).err != nil
			})
			r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small, note: x}"), ""))
			if want := "cannot apply Thing " + ns + "/one: spec.note: the cluster dropped the value"; !strings.Contains(r.message(), want) {
				t.Errorf("%s: %s", tc.reason, r.message())
			}
			if there := find(t, fmt.Sprintf(things, ns, "one")) != nil; there != tc.written {
				t.Errorf("%s: object exists: %v", tc.reason, there)
			}
		})
	}
}

// remove deletes an object.
func remove(t *testing.T, path string) {
	t.Helper()
	c, err := fleet(t).Cluster("real")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), cluster.Call{Doing: "remove", Method: http.MethodDelete, Path: path}); err != nil {
		t.Error(err)
	}
}
