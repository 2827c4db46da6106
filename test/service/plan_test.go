package service_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/plan"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/crossplane"
	"example.dev/ingestor/test/gitserver/forge"
)

// TestPlanned asks portals with different sections plan for the plan of a composite, in a
// cluster with the real Crossplane.
func TestPlanned(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{CRDs: "none"})
	core := crossplane.Start(t, s)
	core.Define(t, crossplane.Definitions)
	s.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shops}\n")
	program, err := core.Program()
	if err != nil {
		t.Fatal(err)
	}
	files := certificateFiles(t, core)
	silent := silentListener(t)
	const manifest = "apiVersion: shops.example.org/v1\nkind: Shop\nmetadata: {name: books, namespace: shops}\nspec: {title: Books, pods: 5}\n"
	with := func(more sections) sections {
		out := sections{"program": program}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	function := func(endpoint string) []any {
		return []any{sections{"name": crossplane.Function, "endpoint": endpoint}}
	}
	cases := map[string]struct {
		reason   string
		plan     sections
		manifest any
		status   int
		says     string
	}{
		"Text":        {"The manifest may be YAML.", with(nil), manifest, 200, ""},
		"Object":      {"The manifest may be an object.", with(nil), sections{"apiVersion": "shops.example.org/v1", "kind": "Shop", "metadata": sections{"name": "books", "namespace": "shops"}, "spec": sections{"title": "Books"}}, 200, ""},
		"Files":       {"The client certificate may come from files.", with(sections{"clientCertificate": files}), manifest, 200, ""},
		"NoSecret":    {"Without the certificate functions cannot be called.", with(sections{"clientCertificate": sections{"name": "other"}}), manifest, 503, "let the account of the portal read Secret crossplane-system/other"},
		"NoNamespace": {"The Secret is read in its namespace.", with(sections{"clientCertificate": sections{"namespace": "other"}}), manifest, 503, "Secret other/crossplane-tls-client"},
		"Endpoint":    {"Configured endpoints are used.", with(sections{"functions": function("127.0.0.1:1")}), manifest, 503, "cannot connect to function " + crossplane.Function},
		"Timeout":     {"A plan has a timeout.", with(sections{"functions": function(silent), "timeout": "1s"}), manifest, 503, "did not answer within 1s"},
		"Off":         {"Without a program there are no plans.", sections{}, manifest, 503, "set plan.program"},
		"Other":       {"Other kinds have no plan.", with(nil), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shops}\n", 400, "is defined by no XRD"},
		"Refused":     {"The cluster would reject the manifest.", with(nil), strings.Replace(manifest, "title: Books", "title: 5", 1), 400, "the cluster would reject the manifest: spec.title"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := start(t, setup{sections: sections{
				"composerIngestor": sections{"clusters": []any{sections{"name": "test", "kubeconfig": s.Kubeconfig}}}, "plan": tc.plan,
			}})
			body, err := json.Marshal(sections{"cluster": "test", "manifest": tc.manifest})
			if err != nil {
				t.Fatal(err)
			}
			var got plan.Plan
			status, err := w.ask(http.MethodPost, "/api/composer-ingestor/plan", strings.NewReader(string(body)), &got)
			if status != tc.status {
				t.Fatalf("%s: status is %d, want %d: %v", tc.reason, status, tc.status, err)
			}
			if tc.status == http.StatusOK && (err != nil || got.Counts.Create != 5) {
				t.Errorf("%s: plan is %s: %v", tc.reason, got.Counts, err)
			}
			if tc.status != http.StatusOK && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: error is %v, want %q", tc.reason, err, tc.says)
			}
			if strings.Contains(w.log.String(), "PRIVATE KEY") {
				t.Error("log contains the key of the client certificate")
			}
		})
	}
	for name, tc := range map[string]struct {
		reason    string
		plan      sections
		clusters  int
		want, not string
		log       string
	}{
		"Proposed": {"The text of a change request has the plan.", with(nil), 1, "### Shop shops/books\n\n**Plan: 5 to create, 0 to change, 0 to delete**", "No plan", ""},
		"Silent":   {"The configuration can leave it out.", with(sections{"changeRequests": false}), 1, "Proposed by", "Plan", ""},
		"Failing":  {"A plan that fails does not prevent the change request.", with(sections{"functions": function("127.0.0.1:1")}), 1, "No plan: the log of the task says why.", "127.0.0.1", "no plan of Shop shops/books: Cannot make a plan: cannot connect to function"},
		"Several":  {"Without a cluster there is no plan.", with(nil), 2, "Proposed by", "Plan", "no plan: the step names no cluster"},
	} {
		t.Run("ChangeRequest"+name, func(t *testing.T) {
			requests, host := forge.Start(t, "a-token-of-git")
			template := filepath.Join(t.TempDir(), "template.yaml")
			if err := os.WriteFile(template, []byte(fmt.Sprintf(proposing, host, strings.ReplaceAll(manifest, "\n", "\n            "))), 0o600); err != nil {
				t.Fatal(err)
			}
			var clusters []any
			for i := range tc.clusters {
				clusters = append(clusters, sections{"name": fmt.Sprintf("test-%d", i), "kubeconfig": s.Kubeconfig})
			}
			w := start(t, setup{sections: sections{
				"composerIngestor": sections{"clusters": clusters}, "plan": tc.plan,
				"catalog":      sections{"locations": []any{sections{"type": "file", "target": template}}},
				"integrations": sections{"gitea": []any{sections{"host": host, "baseUrl": "http://" + host, "token": "a-token-of-git"}}},
			}})
			w.until("the template", func() error {
				_, err := w.get("/api/catalog/entities/by-name/template/default/proposing", nil)
				return err
			})
			var made struct{ ID string }
			if _, err := w.ask(http.MethodPost, "/api/scaffolder/v2/tasks", strings.NewReader(`{"templateRef":"template:default/proposing","values":{}}`), &made); err != nil {
				t.Fatal(err)
			}
			w.until("the task", func() error {
				var task struct{ Status string }
				if _, err := w.get("/api/scaffolder/v2/tasks/"+made.ID, &task); err != nil || task.Status != "completed" {
					return fmt.Errorf("task is %s: %w", task.Status, err)
				}
				return nil
			})
			if len(requests.All) != 1 || !strings.Contains(requests.All[0].Body, tc.want) || strings.Contains(requests.All[0].Body, tc.not) {
				t.Errorf("%s: %d change requests, the first says\n%s", tc.reason, len(requests.All), requests.All[0].Body)
			}
			var events json.RawMessage
			if _, err := w.get("/api/scaffolder/v2/tasks/"+made.ID+"/events", &events); err != nil || !strings.Contains(string(events), tc.log) {
				t.Errorf("%s: log is %s: %v", tc.reason, events, err)
			}
		})
	}
}

// proposing is a Template that proposes a manifest, with its host and the manifest.
const proposing = `apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: {name: proposing}
spec:
  type: service
  owner: group:default/team
  steps:
    - id: propose
      action: publish:change-request
      input:
        host: "%s"
        repository: acme/live
        path: live
        branch: main
        manifest:
            %s
`

// certificateFiles writes Crossplane's client certificate to files, and returns the keys
// with their paths.
func certificateFiles(t *testing.T, core *crossplane.Core) sections {
	t.Helper()
	var secret struct{ Data map[string]string }
	if err := core.Get("/api/v1/namespaces/crossplane-system/secrets/crossplane-tls-client", &secret); err != nil {
		t.Fatal(err)
	}
	out := sections{}
	for key, name := range map[string]string{"certFile": "tls.crt", "keyFile": "tls.key", "caFile": "ca.crt"} {
		data, err := base64.StdEncoding.DecodeString(secret.Data[name])
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		out[key] = path
	}
	return out
}

// silentListener accepts connections and never answers.
func silentListener(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			time.AfterFunc(time.Minute, func() { _ = c.Close() })
		}
	}()
	return l.Addr().String()
}
