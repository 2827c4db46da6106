package composer

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
)

const filters = `defaultOwner: team-a
xrdFilters:
  labelSelector: team=red
  groups: [example.org, example.com]
  exclude: [apps.example.org]
`

func TestExplain(t *testing.T) {
	a := newStandIn(t, definition("apps.example.org", "team=red"))
	changed := definition("apps.example.org", "team=blue", "openportal.dev/ingest=no")
	changed["metadata"].(object)["generation"] = 7
	changed["metadata"].(object)["annotations"] = map[string]string{"backstage.io/owner": "team-b"}
	b, c, d := newStandIn(t, changed), newStandIn(t), newStandIn(t)
	d.refuse["/apis"] = http.StatusUnauthorized
	config := configure(t, filters, a, b, c, d)
	out, notes, code := run(t, "explain", "--config", config, "--xrd", "apps.example.org")
	want := `apps.example.org
  cluster a (` + a.URL + `): found
    admits  profile composerIngestor: label example.dev/ingest or openportal.dev/ingest: "true"
    refuses xrdFilters.exclude: name "apps.example.org" is excluded
    admits  xrdFilters.groups: example.org, example.com
    admits  xrdFilters.labelSelector: team=red
  cluster b (` + b.URL + `): found
    refuses profile composerIngestor: label openportal.dev/ingest: "true" is missing
    refuses xrdFilters.exclude: name "apps.example.org" is excluded
    admits  xrdFilters.groups: example.org, example.com
    refuses xrdFilters.labelSelector: label "team" is "blue", which selector "team=red" does not match
  cluster c (` + c.URL + `): not found
  cluster d (` + d.URL + `): not read
  used: the copy of cluster b; the copies differ
  the service does not ingest it; if it did:

  VALUE              IS                                      FROM
  namespace          default                                 default
  owner              team-b                                  annotation backstage.io/owner
  system             platform                                default
  default-namespace  default                                 default
  title              App                                     definition spec.names.kind
  description        A App.                                  definition schema.openAPIV3Schema.description
  tags               crossplane, source:crossplane-ingestor  default
  type               infrastructure                          default
  api-version        v1                                      default

  ENTITY    NAME
  Template  default/apps.example.org
  API       default/apps.example.org-api
  Resource  default/apps.example.org-xrd
`
	if diff := cmp.Diff(want, out); diff != "" || code != app.ExitFailed {
		t.Errorf("exit code %d (-want +got):\n%s\n%s", code, diff, notes)
	}
	if !strings.Contains(notes, `cluster "d": cannot find definitions`) || !strings.Contains(notes, "XRD003") {
		t.Errorf("standard error lacks the failure or the difference:\n%s", notes)
	}
	for _, call := range a.calls() {
		if strings.Contains(call, "compositeresourcedefinitions") && !strings.HasSuffix(call, " metadata.name=apps.example.org") {
			t.Errorf("request is not limited to one definition: %s", call)
		}
	}
}

func TestExplainNowhere(t *testing.T) {
	a := newStandIn(t, definition("apps.example.org"))
	out, notes, code := run(t, "explain", "--config", configure(t, "", a), "zebras.example.org")
	if want := "zebras.example.org\n  cluster a (" + a.URL + "): not found\n"; out != want || code != app.ExitNothing {
		t.Errorf("exit code is %d, output %q, want %q\n%s", code, out, want, notes)
	}
}

// TestExplainFile checks that files are distinguished from names, and that
// values of the configuration are named by their keys.
func TestExplainFile(t *testing.T) {
	text, err := json.Marshal(definition("apps.example.org"))
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, "apps.json", string(text))
	// No cluster is used, so missing settings of clusters are no errors.
	config := write(t, "app-config.yaml", "composerIngestor:\n  defaultOwner: team-a\n  clusters:\n    - {name: a, url: https://example.org, serviceAccountToken: \"${NOT_SET}\"}\n")
	for _, given := range []string{path, "-"} {
		out, notes, code := runIn(t, &app.Env{
			Args: []string{"explain", "--config", config, "--xrd", given, "--output", "json"}, Stdin: strings.NewReader(string(text)),
		})
		var got struct {
			Definitions []struct {
				Name, Used string
				Taken      bool
				Places     []struct{ State string }
				Values     []struct{ Field, Value, From, Key string }
				Entities   []struct{ Kind, Name string }
			}
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Definitions) != 1 || code != app.ExitOK {
			t.Fatalf("exit code %d, %v\n%s\n%s", code, err, out, notes)
		}
		d := got.Definitions[0]
		if d.Name != "apps.example.org" || !d.Taken || len(d.Places) != 1 || d.Places[0].State != "found" || len(d.Entities) != 3 {
			t.Errorf("explanation of %s is %+v", given, d)
		}
		owner := d.Values[1]
		if owner.Field != "owner" || owner.Value != "team-a" || owner.From != "option" || owner.Key != "composerIngestor.defaultOwner" {
			t.Errorf("owner is %+v, want that of the configuration", owner)
		}
	}
}

func TestIsFile(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   bool
	}{
		"Name":      {"The name of a definition is not a file.", "databases.platform.io", false},
		"YAML":      {"A name with the suffix .yaml is a file.", "database.yaml", true},
		"YML":       {"A name with the suffix .yml is a file.", "database.yml", true},
		"JSON":      {"A name with the suffix .json is a file.", "database.json", true},
		"Path":      {"A path is a file.", "./databases.platform.io", true},
		"Backslash": {"A Windows path is a file.", `xrds\databases.platform.io`, true},
		"Stdin":     {"A dash is standard input.", "-", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := isFile(tc.in); got != tc.want {
				t.Errorf("%s: isFile(%q) = %v", tc.reason, tc.in, got)
			}
		})
	}
}
