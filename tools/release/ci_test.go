package main

import (
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// validates runs the steps of the GitHub Action, of the GitLab job and of the pre-commit
// hook in a repository with a mistake. They download the release from a server.
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
	job := jobs["validate-xrds"]
	cases := map[string]struct {
		reason, shell, script string
		env                   []string
		report, want          string
	}{
		"GitHub": {"The action writes SARIF.", "bash", action.Runs.Steps[0].Run,
			[]string{"GITHUB_ACTION_PATH=" + filepath.Join(ci, "github"), "GITHUB_OUTPUT=output"}, "findings.sarif", `"ruleId": "XRD072"`},
		"GitLab": {"The job writes JUnit.", "sh", job.Script[0], []string{"INGESTOR_FORMAT=" + job.Variables["INGESTOR_FORMAT"], "INGESTOR_REPOSITORY=" + job.Variables["INGESTOR_REPOSITORY"]}, "report.xml", "XRD072"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			repository := t.TempDir()
			if err := os.WriteFile(filepath.Join(repository, "definition.yaml"), []byte(broken), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), tc.shell, "-e", "-c", tc.script)
			cmd.Dir = repository
			cmd.Env = append(tc.env, "HOME="+t.TempDir(), "PATH="+os.Getenv("PATH"), "INGESTOR_VERSION="+r.Version, "INGESTOR_DOWNLOADS="+hs.URL, "INGESTOR_REPORT="+tc.report)
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
	t.Run("PreCommit", func(t *testing.T) { preCommit(t, r, hs.URL) })
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
		cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "INGESTOR_VERSION=" + r.Version, "INGESTOR_DOWNLOADS=" + other.URL}
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "did NOT match") {
			t.Errorf("archive with another checksum is used: %v\n%s", err, out)
		}
	})
}

// preCommit runs the hook in a repository, with the program pre-commit. The hook
// downloads the release that the changelog names, because pre-commit fetches no tags.
func preCommit(t *testing.T, r release, downloads string) {
	if _, err := exec.LookPath("pre-commit"); err != nil {
		t.Skip(err)
	}
	home, hooks, repository := t.TempDir(), t.TempDir(), t.TempDir()
	run := func(dir, name string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "INGESTOR_DOWNLOADS=" + downloads,
			"GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@example.org", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@example.org"}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(dir, name string, args ...string) {
		t.Helper()
		if out, err := run(dir, name, args...); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	write := func(dir, name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	// The repository of the hook has what a tag of this one has.
	for _, name := range []string{".pre-commit-hooks.yaml", "deploy/ci/validate.sh", "deploy/chart/product.yaml"} {
		text, err := os.ReadFile(filepath.Join(r.Root, name))
		if err != nil {
			t.Fatal(err)
		}
		write(hooks, name, string(text))
	}
	write(hooks, "CHANGELOG.md", "# Changelog\n\n## ["+r.plain()+"] - 2026-01-31\n\n## [0.1.0] - 2026-01-01\n")
	for _, dir := range []string{hooks, repository} {
		must(dir, "git", "init", "--quiet")
	}
	must(hooks, "git", "add", ".")
	must(hooks, "git", "commit", "--quiet", "--message", "hooks")
	must(hooks, "git", "tag", r.Version)

	write(repository, ".pre-commit-config.yaml", "repos: [{repo: "+hooks+", rev: "+r.Version+", hooks: [{id: validate-xrds}]}]\n")
	write(repository, "service.yaml", "kind: Service\nmetadata: {name: a}\n")
	must(repository, "pre-commit", "install")
	must(repository, "git", "add", ".")
	must(repository, "git", "commit", "--message", "a file that is not an XRD")
	write(repository, "definition.yaml", broken)
	must(repository, "git", "add", ".")
	out, err := run(repository, "git", "commit", "--message", "a mistake")
	if err == nil || !strings.Contains(out, "definition.yaml:13:") {
		t.Errorf("commit with a mistake returned %v\n%s", err, out)
	}
	write(repository, "definition.yaml", strings.Replace(broken, "required: [size]", "description: Its settings.", 1))
	must(repository, "git", "add", ".")
	must(repository, "git", "commit", "--message", "the mistake is fixed")
}

var update = flag.Bool("update", false, "rewrite deploy/ci/gitlab.yml")

// TestGitLab checks that the template has the script and the repository: GitLab includes
// one file.
func TestGitLab(t *testing.T) {
	r := checkout(t)
	script, err := os.ReadFile(filepath.Join(r.Root, "deploy", "ci", "validate.sh"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(r.Root, "deploy", "ci", "gitlab.yml")
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`INGESTOR_REPOSITORY: .*`).ReplaceAllLiteralString(string(got), "INGESTOR_REPOSITORY: "+r.Repository)
	before, rest, _ := strings.Cut(want, "    - |\n")
	_, after, ok := strings.Cut(rest, "\n  artifacts:")
	if !ok {
		t.Fatalf("%s has no script", file)
	}
	var text strings.Builder
	for line := range strings.Lines(string(script)) {
		if line != "\n" {
			line = "      " + line
		}
		text.WriteString(line)
	}
	want = before + "    - |\n" + strings.TrimSuffix(text.String(), "\n") + "\n  artifacts:" + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s differs from validate.sh and product.yaml; run make manifests (-want +got):\n%s", file, diff)
	}
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
