package composer

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/ingestor"
)

// found matches annotations of where or when an object was found.
var found = regexp.MustCompile(`(?m)^    \S+/(source-location|managed-by-location|managed-by-origin-location|discovered-at|discovered-from): .*\n`)

// texts returns the entities below a directory by file name, without where and
// when they were found.
func texts(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range files(t, dir) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = found.ReplaceAllString(string(data), "")
	}
	return out
}

// TestAgree checks that ingestor-cli, with the configuration of the service,
// writes for files what export writes for the same objects in a cluster.
func TestAgree(t *testing.T) {
	a := newStandIn(t, definition("apps.example.org", "team=red"), definition("bees.example.org", "team=blue"),
		definition("cats.example.com", "team=red"), definition("dogs.example.org", "team=red"), unlabelled("eels.example.org"))
	a.compositions = []object{{
		"apiVersion": group + "/v1", "kind": "Composition", "metadata": object{"name": "small-app", "labels": object{"size": "small"}},
		"spec": object{"compositeTypeRef": object{"apiVersion": "example.org/v1", "kind": "App"}, "mode": "Pipeline", "pipeline": []object{
			{"step": "make", "functionRef": object{"name": "patch"}},
		}},
	}}
	input, err := json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": append(append([]object{}, a.definitions...), a.compositions...)})
	if err != nil {
		t.Fatal(err)
	}
	objects := write(t, "objects.json", string(input))
	cases := map[string]struct {
		reason string
		config string
		args   []string
		// want is the number of entities.
		want int
	}{
		"Defaults": {"A configuration with only clusters gives the same entities.", "", nil, 13},
		"Options": {"All options of the entities give the same entities.", "defaultOwner: team-config\ndefaultSystem: shop\ntemplateGeneration:\n" +
			"  generateApiEntities: false\n  includeCompositionDetails: false\n  addGitOpsActions: true\n  defaultNamespace: apps\n", nil, 9},
		"Filters": {"All filters give the same entities.", "xrdFilters:\n  labelSelector: team=red\n  annotationSelector: '!hidden'\n" +
			"  groups: [example.org]\n  exclude: [dogs.example.org]\n", nil, 4},
		"Words": {"A selected vocabulary gives the same entities.", "", []string{"--words", "portal"}, 13},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			config := configure(t, tc.config, a)
			theirs, ours := filepath.Join(t.TempDir(), "theirs"), filepath.Join(t.TempDir(), "ours")
			if _, notes, code := run(t, append([]string{"export", "--config", config, "--output", theirs}, tc.args...)...); code != app.ExitOK {
				t.Fatalf("export returned exit code %d\n%s", code, notes)
			}
			var out, notes bytes.Buffer
			env := &app.Env{
				Args:  append([]string{objects, "--config", config, "--profile", "composerIngestor", "--organize", "--output", ours}, tc.args...),
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &notes, Now: time.Now, Getenv: func(string) string { return "" },
			}
			if code := app.Run(t.Context(), ingestor.Name, env, ingestor.Run); code != app.ExitOK {
				t.Fatalf("ingestor-cli returned exit code %d\n%s", code, notes.String())
			}
			want, got := texts(t, theirs), texts(t, ours)
			// Each also writes a file for its readers.
			delete(want, "catalog-info.yaml")
			for name := range got {
				if strings.HasPrefix(name, "System/") {
					delete(got, name)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || len(want) != tc.want {
				t.Errorf("%s: %d entities, want %d; export (-), ingestor-cli (+):\n%s", tc.reason, len(want), tc.want, diff)
			}
		})
	}
}
