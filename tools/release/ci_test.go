package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// validates runs the steps of the GitHub Action and of the GitLab job in a repository
// with a mistake. They download the release from a server.
func validates(t *testing.T, r release, dir string) {
	hs := httptest.NewServer(http.StripPrefix("/"+r.Version, http.FileServer(http.Dir(dir))))
	defer hs.Close()
	ci := filepath.Join(r.Root, "deploy", "ci")
	read := func(name string, v any) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(ci, name))
		if err == nil {
			err = yaml.Unmarshal(text, v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var action struct {
		Runs struct{ Steps []struct{ Run string } }
	}
	read("github/action.yml", &action)
	var jobs map[string]struct {
		Script    []string
		Variables map[string]string
	}
	read("gitlab.yml", &jobs)
	script, err := os.ReadFile(filepath.Join(ci, "validate.sh"))
	if err != nil {
		t.Fatal(err)
	}
	job := jobs["validate-xrds"]
	if diff := cmp.Diff(string(script), strings.Join(job.Script, "")); diff != "" {
		t.Errorf("script of the GitLab job differs from validate.sh (-want +got):\n%s", diff)
	}
	cases := map[string]struct {
		reason, shell, script string
		env                   []string
		report, want          string
	}{
		"GitHub": {"The action writes SARIF.", "bash", action.Runs.Steps[0].Run,
			[]string{"GITHUB_ACTION_PATH=" + filepath.Join(ci, "github"), "GITHUB_OUTPUT=output"}, "findings.sarif", `"ruleId": "XRD072"`},
		"GitLab": {"The job writes JUnit.", "sh", job.Script[0], []string{"INGESTOR_FORMAT=" + job.Variables["INGESTOR_FORMAT"]}, "report.xml", "XRD072"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			repository := t.TempDir()
			if err := os.WriteFile(filepath.Join(repository, "definition.yaml"), []byte(broken), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), tc.shell, "-e", "-c", tc.script)
			cmd.Dir = repository
			cmd.Env = append(tc.env, "PATH="+os.Getenv("PATH"), "INGESTOR_VERSION="+r.Version, "INGESTOR_DOWNLOADS="+hs.URL, "INGESTOR_REPORT="+tc.report)
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != 2 {
				t.Fatalf("%s It exits with %d: %v\n%s", tc.reason, code, err, out)
			}
			if !strings.Contains(string(out), "definition.yaml:13:") {
				t.Errorf("%s Output does not name the place:\n%s", tc.reason, out)
			}
			report, err := os.ReadFile(filepath.Join(repository, tc.report))
			if err != nil || !strings.Contains(string(report), tc.want) {
				t.Errorf("%s Report is %v\n%s", tc.reason, err, report)
			}
		})
	}
	t.Run("Tampered", func(t *testing.T) {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if strings.HasSuffix(q.URL.Path, ".tar.gz") {
				_, _ = w.Write([]byte("another archive"))
				return
			}
			http.ServeFile(w, q, filepath.Join(dir, "checksums.txt"))
		}))
		defer other.Close()
		cmd := exec.CommandContext(t.Context(), "sh", filepath.Join(ci, "validate.sh"))
		cmd.Dir = t.TempDir()
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "INGESTOR_VERSION=" + r.Version, "INGESTOR_DOWNLOADS=" + other.URL}
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "did NOT match") {
			t.Errorf("archive with another checksum is used: %v\n%s", err, out)
		}
	})
}

// broken is a definition with a mistake in line 13.
const broken = `apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: { name: xvaults.platform.example.org }
spec:
  group: platform.example.org
  names: { kind: XVault, plural: xvaults }
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          { type: object, description: A vault., properties: { spec: { type: object, required: [size] } } }
`
