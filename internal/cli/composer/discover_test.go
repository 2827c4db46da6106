package composer

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
)

// TestDiscoverForms compares every format of the list with the contract.
func TestDiscoverForms(t *testing.T) {
	a := newStandIn(t, definition("queues.example.org"), definition("apps.example.org"), unlabelled("bees.example.org"))
	b := newStandIn(t, definition("apps.example.org"))
	config := configure(t, "", a, b)
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Table": {"The same definition in two clusters is one row, with the preferred version first.", nil,
			"NAME                GROUP        KIND   VERSIONS     CLUSTERS\n" +
				"apps.example.org    example.org  App    v1,v1alpha1  a,b\n" +
				"queues.example.org  example.org  Queue  v1,v1alpha1  a\n"},
		"All": {"With --all skipped definitions are listed with the reason.", []string{"--all"},
			"NAME                GROUP        KIND   VERSIONS     CLUSTERS  SKIPPED BECAUSE\n" +
				"apps.example.org    example.org  App    v1,v1alpha1  a,b\n" +
				"bees.example.org    example.org  Bee    v1,v1alpha1  a         label openportal.dev/ingest: \"true\" is missing\n" +
				"queues.example.org  example.org  Queue  v1,v1alpha1  a\n"},
		"Name": {"The format name has one name per line.", []string{"--output", "name"}, "apps.example.org\nqueues.example.org\n"},
		"JSON": {"The format json is that of the contract.", []string{"--output", "json", "--group", "example.org", "--name-pattern", "^q"}, `{
  "discovered": [
    {
      "apiVersion": "apiextensions.crossplane.io/v1",
      "kind": "CompositeResourceDefinition",
      "metadata": {
        "name": "queues.example.org"
      },
      "spec": {
        "group": "example.org",
        "versions": [
          "v1alpha1",
          "v1"
        ]
      }
    }
  ],
  "count": 1
}
`},
		"YAML": {"The format yaml has the same content.", []string{"-o", "yaml", "--name-pattern", "^q"}, `discovered:
  - apiVersion: apiextensions.crossplane.io/v1
    kind: CompositeResourceDefinition
    metadata:
      name: queues.example.org
    spec:
      group: example.org
      versions:
        - v1alpha1
        - v1
count: 1
`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, notes, code := run(t, append([]string{"discover", "--config", config}, tc.args...)...)
			if diff := cmp.Diff(tc.want, out); diff != "" || code != app.ExitOK {
				t.Errorf("%s: exit code %d (-want +got):\n%s\n%s", tc.reason, code, diff, notes)
			}
		})
	}
	_, notes, _ := run(t, "discover", "--config", config)
	want := "cluster a (" + a.URL + "): 3 definitions\ncluster b (" + b.URL + "): 1 definition\n" +
		"1 definition not selected (bees.example.org: label openportal.dev/ingest: \"true\" is missing; see --all or explain)\n"
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Errorf("standard error (-want +got):\n%s", diff)
	}
	if _, notes, _ := run(t, "discover", "--config", config, "--quiet"); notes != "" {
		t.Errorf("--quiet printed %q", notes)
	}
}

// TestDiscoverPushed checks that selectors are sent to the server, except the
// label of the profile, as definitions without it are reported.
func TestDiscoverPushed(t *testing.T) {
	const path = "/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions"
	a := newStandIn(t, definition("apps.example.org", "team=red", "env=dev"), definition("bees.example.org", "team=blue"), unlabelled("cats.example.org"))
	config := configure(t, "xrdFilters:\n  labelSelector: team=red\n", a)
	cases := map[string]struct {
		reason string
		args   []string
		pushed string
		want   string
		code   int
	}{
		"Config":  {"The selector of the configuration is sent.", nil, path + " team=red", "apps.example.org\n", app.ExitOK},
		"Both":    {"The selector of the flag is sent too.", []string{"--selector", "env in (dev, test)"}, path + " env in (dev,test),team=red", "apps.example.org\n", app.ExitOK},
		"Nothing": {"Both selectors must match.", []string{"--selector", "team=blue"}, path + " team=blue,team=red", "", app.ExitNothing},
		"All":     {"With --all no selector is sent.", []string{"--all"}, path, "apps.example.org\nbees.example.org\ncats.example.org\n", app.ExitOK},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a.calls()
			out, notes, code := run(t, append([]string{"discover", "--config", config, "--output", "name"}, tc.args...)...)
			if out != tc.want || code != tc.code {
				t.Errorf("%s: exit code is %d, want %d; output is %q, want %q\n%s", tc.reason, code, tc.code, out, tc.want, notes)
			}
			if calls := a.calls(); !slices.Contains(calls, tc.pushed) {
				t.Errorf("%s: request %q is missing in %q", tc.reason, tc.pushed, calls)
			}
		})
	}
}

// TestExitCodes checks that a failing cluster does not affect the results of
// others, and that the exit code tells how much is missing.
func TestExitCodes(t *testing.T) {
	good := newStandIn(t, definition("apps.example.org"))
	bare := newStandIn(t)
	other := newStandIn(t, unlabelled("bees.example.org"))
	refusing := newStandIn(t, definition("cats.example.org"))
	refusing.refuse["/apis"] = http.StatusUnauthorized
	partly := newStandIn(t, definition("dogs.example.org"))
	partly.refuse["/apis/apiextensions.crossplane.io/v1/compositions"] = http.StatusForbidden
	differing := newStandIn(t, definition("apps.example.org", "team=red"))
	cases := map[string]struct {
		reason   string
		clusters []*standIn
		args     []string
		code     int
		out      string
		notes    []string
	}{
		"Fine":        {"Without failures the exit code is 0.", []*standIn{good}, []string{"discover", "-o", "name"}, app.ExitOK, "apps.example.org\n", nil},
		"OneRefuses":  {"The results of the other cluster are printed.", []*standIn{good, refusing}, []string{"discover", "-o", "name"}, app.ExitFailed, "apps.example.org\n", []string{`composer-ingestor: cluster "b": cannot find definitions: `, "\n  renew the credential", "cluster b (" + refusing.URL + "): not read"}},
		"AllRefuse":   {"If all clusters fail, the exit code tells so.", []*standIn{refusing, refusing}, []string{"discover", "-o", "name"}, app.ExitUnreachable, "", []string{`cluster "a": cannot`, `cluster "b": cannot`}},
		"NotAsked":    {"A list that is not requested cannot fail.", []*standIn{partly}, []string{"discover", "-o", "name"}, app.ExitOK, "dogs.example.org\n", nil},
		"Partly":      {"Definitions are read, but Compositions cannot be.", []*standIn{partly}, []string{"transform", "--cluster", "a", "--stdout"}, app.ExitFailed, "", []string{"but some objects could not be read", "\n  the account lacks a permission; add this rule to its ClusterRole:\n  - apiGroups: ", "\n    verbs: [\"list\"]"}},
		"Bare":        {"Clusters without definitions are reported.", []*standIn{bare}, []string{"discover"}, app.ExitNothing, "", []string{"nothing matched\n  no definition in the clusters"}},
		"NoneTaken":   {"Definitions that are not selected are reported with the reason.", []*standIn{other}, []string{"discover"}, app.ExitNothing, "", []string{"nothing matched\n  1 definition found, none selected: bees.example.org because label openportal.dev/ingest: \"true\" is missing"}},
		"Differ":      {"Different definitions with one name are reported.", []*standIn{good, differing}, []string{"discover", "-o", "name"}, app.ExitOK, "apps.example.org\n", []string{"XRD003"}},
		"NoSuchName":  {"A name that no cluster has is reported.", []*standIn{good, bare}, []string{"validate", "--cluster", "all", "--xrd", "zebras.example.org"}, app.ExitNothing, "", []string{`definition "zebras.example.org" not found in clusters "a" and "b"`}},
		"OneNameLess": {"The other definition is checked anyway.", []*standIn{good}, []string{"validate", "--cluster", "a", "--xrd", "apps.example.org", "--xrd", "zebras.example.org", "--quiet"}, app.ExitNothing, "apps.example.org\n", []string{`definition "zebras.example.org" not found in cluster "a"`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			config := configure(t, "", tc.clusters...)
			out, notes, code := run(t, append(tc.args, "--config", config)...)
			if code != tc.code || !strings.HasPrefix(out, tc.out) {
				t.Errorf("%s: exit code is %d, want %d; standard output is %q, want the prefix %q\n%s", tc.reason, code, tc.code, out, tc.out, notes)
			}
			for _, want := range tc.notes {
				if !strings.Contains(notes, want) {
					t.Errorf("%s: %q is missing in\n%s", tc.reason, want, notes)
				}
			}
		})
	}
}

// TestSettings checks that invalid settings affect one cluster, unless all have
// them.
func TestSettings(t *testing.T) {
	good := newStandIn(t, definition("apps.example.org"))
	lost := "clusters:\n    - {name: lost, kubeconfig: " + write(t, "kubeconfig", "apiVersion: v1\nkind: Config\n") + ", context: nowhere}\n"
	both := write(t, "app-config.yaml", "composerIngestor:\n  "+lost+"    - {name: good, url: "+good.URL+", serviceAccountToken: "+secret+"}\n")
	out, notes, code := run(t, "discover", "--config", both, "-o", "name")
	if code != app.ExitFailed || out != "apps.example.org\n" || !strings.Contains(notes, `cluster "lost": cannot connect: cannot find context "nowhere"`) {
		t.Errorf("with one invalid cluster the exit code is %d, output %q\n%s", code, out, notes)
	}
	out, notes, code = run(t, "discover", "--config", write(t, "app-config.yaml", "composerIngestor:\n  "+lost))
	if code != app.ExitUsage || out != "" || !strings.Contains(notes, `cluster "lost": cannot connect`) {
		t.Errorf("with only invalid clusters the exit code is %d, output %q\n%s", code, out, notes)
	}
}

// TestUnreachable checks that an address without a server is reported as
// unreachable.
func TestUnreachable(t *testing.T) {
	gone := &standIn{URL: "http://127.0.0.1:1"}
	_, notes, code := run(t, "discover", "--config", configure(t, "", gone), "--timeout", "1s")
	if code != app.ExitUnreachable || !strings.Contains(notes, `composer-ingestor: cluster "a": cannot find definitions: `) || !strings.Contains(notes, "\n  check that the API server is running") {
		t.Errorf("exit code %d\n%s", code, notes)
	}
}

// TestSecrets checks that no command shows a secret; run searches the output for
// them.
func TestSecrets(t *testing.T) {
	good := newStandIn(t, definition("apps.example.org"))
	refusing := newStandIn(t)
	refusing.refuse["/"] = http.StatusForbidden
	config := configure(t, "", good, refusing)
	dir := t.TempDir()
	for _, args := range [][]string{
		{"discover", "--all"}, {"transform", "--cluster", "all", "--stdout"}, {"export", "--output", dir}, {"validate", "--cluster", "all"},
		{"test-connection"}, {"test-connection", "--output", "json"}, {"explain", "apps.example.org"},
	} {
		_, notes, _ := run(t, append(args, "--config", config, "--debug")...)
		if !strings.Contains(notes, "level=DEBUG") && args[0] != "test-connection" {
			t.Errorf("%q --debug logs nothing:\n%s", args, notes)
		}
	}
	env := map[string]string{"ORCHESTRATOR_API_URL": good.URL, "ORCHESTRATOR_SERVICE_ACCOUNT_TOKEN": secret}
	out, notes, code := runIn(t, &app.Env{Args: []string{"discover", "-o", "name", "--debug"}, Getenv: func(k string) string { return env[k] }})
	if code != app.ExitOK || out != "apps.example.org\n" || !strings.Contains(notes, "cluster default (") {
		t.Errorf("with the cluster of the environment the exit code is %d, output %q\n%s", code, out, notes)
	}
}

// TestDiscoverCopies checks that a newer copy of a definition that is not
// selected hides no selected one, for all commands.
func TestDiscoverCopies(t *testing.T) {
	newer := unlabelled("apps.example.org")
	newer["metadata"].(object)["generation"] = 7
	config := configure(t, "", newStandIn(t, definition("apps.example.org")), newStandIn(t, newer))
	for name, args := range map[string][]string{
		"Plain": {"discover", "--output", "name"}, "All": {"discover", "--output", "name", "--all"},
		"Selector": {"discover", "--output", "name", "--selector", "openportal.dev/ingest=true"},
	} {
		stdout, notes, code := run(t, append(args, "--config", config)...)
		if code != app.ExitOK || stdout != "apps.example.org\n" {
			t.Errorf("%s: exit code %d, %q\n%s", name, code, stdout, notes)
		}
	}
	stdout, notes, code := run(t, "explain", "--config", config, "--xrd", "apps.example.org")
	if code != app.ExitOK || !strings.Contains(stdout, "the service ingests it") || !strings.Contains(stdout, "used: the copy of cluster a") {
		t.Errorf("explain returned exit code %d\n%s\n%s", code, stdout, notes)
	}
}
