package composer

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
)

func TestConnectionText(t *testing.T) {
	a := newStandIn(t, definition("apps.example.org"), unlabelled("bees.example.org"))
	a.forbidden = []string{"watch compositeresourcedefinitions", "watch compositions", "list apps"}
	b := newStandIn(t)
	b.refuse["/apis"] = http.StatusUnauthorized
	out, notes, code := run(t, "test-connection", "--config", configure(t, "", a, b), "--composites")
	host := strings.TrimPrefix(a.URL, "http://")
	other := strings.TrimPrefix(b.URL, "http://")
	want := `cluster a (` + a.URL + `)
  ok      address: ` + host + `, no DNS lookup needed
  skipped TLS: URL is http; traffic is not encrypted
  ok      authentication: reader
  ok      version: v1.99.0
  ok      definitions: apiextensions.crossplane.io v1
  ok      list compositeresourcedefinitions.apiextensions.crossplane.io
  ok      get compositeresourcedefinitions.apiextensions.crossplane.io
  failed  watch compositeresourcedefinitions.apiextensions.crossplane.io: not allowed for this account
  ok      list compositions.apiextensions.crossplane.io
  ok      get compositions.apiextensions.crossplane.io
  failed  watch compositions.apiextensions.crossplane.io: not allowed for this account
  failed  list apps.example.org: not allowed for this account
  ok      get apps.example.org
  ok      watch apps.example.org
  add these rules to the ClusterRole of its account:
    - apiGroups: ["apiextensions.crossplane.io"]
      resources: ["compositeresourcedefinitions", "compositions"]
      verbs: ["get", "list", "watch"]
    - apiGroups: ["example.org"]
      resources: ["apps"]
      verbs: ["get", "list", "watch"]
cluster b (` + b.URL + `)
  ok      address: ` + other + `, no DNS lookup needed
  skipped TLS: URL is http; traffic is not encrypted
  failed  authentication: the server returned 401: Unauthorized
          renew the credential, which is invalid or has expired; for a service account, run kubectl create token
  skipped version: authentication failed
  skipped definitions: authentication failed
  skipped permissions: authentication failed
`
	if diff := cmp.Diff(want, out); diff != "" || code != app.ExitFailed || notes != "" {
		t.Errorf("exit code is %d, output (-want +got):\n%s\n%s", code, diff, notes)
	}
}

func TestConnectionCodes(t *testing.T) {
	fine := newStandIn(t, definition("apps.example.org"))
	refusing := newStandIn(t)
	refusing.refuse["/apis"] = http.StatusUnauthorized
	lacking := newStandIn(t)
	lacking.forbidden = []string{"list compositeresourcedefinitions", "list compositions", "watch compositeresourcedefinitions", "watch compositions"}
	watching := newStandIn(t)
	watching.forbidden = []string{"watch compositions"}
	cases := map[string]struct {
		reason   string
		clusters []*standIn
		code     int
		ok       []bool
	}{
		"Fine":     {"All checks of all clusters pass.", []*standIn{fine, fine}, app.ExitOK, []bool{true, true}},
		"One":      {"One of two clusters refuses the account.", []*standIn{refusing, fine}, app.ExitFailed, []bool{false, true}},
		"None":     {"All clusters refuse the account.", []*standIn{refusing, refusing}, app.ExitUnreachable, []bool{false, false}},
		"Lacking":  {"A cluster that allows no read counts as unreachable.", []*standIn{lacking}, app.ExitUnreachable, []bool{false}},
		"Watching": {"The service needs the permission to watch.", []*standIn{watching}, app.ExitFailed, []bool{false}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, notes, code := run(t, "test-connection", "--config", configure(t, "", tc.clusters...), "--output", "json")
			var got struct {
				Clusters []struct {
					Name   string
					OK     bool
					Checks []struct{ Name, Result, Hint string }
				}
			}
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("output cannot be decoded: %v in\n%s\n%s", err, out, notes)
			}
			var ok []bool
			for _, c := range got.Clusters {
				ok = append(ok, c.OK)
				for _, k := range c.Checks {
					if k.Result == "failed" && k.Hint == "" {
						t.Errorf("%s: failed check %s of %s has no hint", tc.reason, k.Name, c.Name)
					}
				}
			}
			if diff := cmp.Diff(tc.ok, ok); diff != "" || code != tc.code {
				t.Errorf("%s: exit code %d, want %d (-want +got):\n%s", tc.reason, code, tc.code, diff)
			}
		})
	}
}

// TestConnectionSettings checks that a cluster with invalid settings is reported
// like the others.
func TestConnectionSettings(t *testing.T) {
	good := newStandIn(t)
	empty := write(t, "kubeconfig", "apiVersion: v1\nkind: Config\n")
	config := write(t, "app-config.yaml", "composerIngestor:\n  clusters:\n    - {name: lost, kubeconfig: "+empty+", context: nowhere}\n    - {name: good, url: "+good.URL+", serviceAccountToken: "+secret+"}\n")
	out, notes, code := run(t, "test-connection", "--config", config)
	if code != app.ExitFailed || !strings.HasPrefix(out, "cluster lost\n  failed  settings: cannot find context \"nowhere\"") || !strings.Contains(out, "\ncluster good (") {
		t.Errorf("exit code %d\n%s\n%s", code, out, notes)
	}
}
