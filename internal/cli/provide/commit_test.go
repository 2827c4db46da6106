package provide

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
)

// api returns an API entity in the portal vocabulary.
func api(name, more string) string {
	return "apiVersion: backstage.io/v1alpha1\nkind: API\nmetadata:\n  name: " + name + more +
		"\nspec:\n  type: openapi\n  lifecycle: production\n  owner: group:default/team\n  definition: \"{}\"\n"
}

// bare is a bare repository on the disk.
type bare struct {
	t   *testing.T
	dir string
}

func newBare(t *testing.T) bare {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	b := bare{t, filepath.Join(t.TempDir(), "catalog.git")}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "--quiet", "--bare", "--initial-branch=main", b.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return b
}

func (b bare) git(args ...string) string {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "git", append([]string{"-c", "safe.directory=*"}, args...)...)
	cmd.Dir = b.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// files returns the names of the files of a branch.
func (b bare) files(branch string) []string {
	b.t.Helper()
	return strings.Fields(b.git("ls-tree", "-r", "--name-only", branch))
}

// commits returns the number of commits.
func (b bare) commits() string { return strings.TrimSpace(b.git("rev-list", "--all", "--count")) }

// outcome is the result of a run.
type outcome struct {
	code        int
	out, errors string
}

// provide runs the program with documents on its standard input.
func provide(t *testing.T, environ map[string]string, in string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := &app.Env{
		Args: args, Stdin: strings.NewReader(in), Stdout: &stdout, Stderr: &stderr,
		Getenv: func(name string) string { return environ[name] },
		Now:    func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
	}
	code := app.Run(t.Context(), Name, env, Run)
	return outcome{code, stdout.String(), stderr.String()}
}

func (o outcome) String() string { return fmt.Sprintf("exit code %d\n%s%s", o.code, o.out, o.errors) }

// TestCommit follows a catalog in a repository through several commits.
func TestCommit(t *testing.T) {
	b := newBare(t)
	run := func(in string, args ...string) outcome {
		t.Helper()
		return provide(t, nil, in, append([]string{"commit", "--repo", b.dir}, args...)...)
	}
	two := api("databases", "\n  flavour: mine") + "---\n" + api("queues", "")
	head := func() string { return strings.TrimSpace(b.git("rev-parse", "main")) }
	steps := []struct {
		reason string
		in     string
		args   []string
		out    string // {head} is the commit the branch is at afterwards
		code   int
		notes  string // a part of what standard error has
		files  []string
	}{
		{"A dry run writes nothing.", two, []string{"--dry-run"},
			"added   catalog/API/databases.yaml\nadded   catalog/API/queues.yaml\ndry run, nothing was written to new branch main of {repo}: added 2, changed 0, removed 0, unchanged 0\n", 0, "", nil},
		{"The first commit creates the branch.", two, nil,
			"added   catalog/API/databases.yaml\nadded   catalog/API/queues.yaml\ncommit {head} to new branch main of {repo}: added 2, changed 0, removed 0, unchanged 0\n", 0, "",
			[]string{"catalog/.portal-provide.json", "catalog/API/databases.yaml", "catalog/API/queues.yaml"}},
		{"The same entities in another order change nothing.", api("queues", "") + "---\n" + api("databases", "\n  flavour: mine"), nil,
			"nothing changed in branch main of {repo}: added 0, changed 0, removed 0, unchanged 2\n", 0, "",
			[]string{"catalog/.portal-provide.json", "catalog/API/databases.yaml", "catalog/API/queues.yaml"}},
		{"A Location lists the entities.", two, []string{"--location"},
			"added   catalog/catalog-info.yaml\ncommit {head} to branch main of {repo}: added 1, changed 0, removed 0, unchanged 2\n", 0, "",
			[]string{"catalog/.portal-provide.json", "catalog/API/databases.yaml", "catalog/API/queues.yaml", "catalog/catalog-info.yaml"}},
		{"One entity is removed, and one changes.", api("databases", "\n  flavour: theirs"), []string{"--location", "-m", "less", "--author", "Ann Otter <ann@example.com>"},
			"changed catalog/API/databases.yaml\nchanged catalog/catalog-info.yaml\nremoved catalog/API/queues.yaml\ncommit {head} to branch main of {repo}: added 0, changed 2, removed 1, unchanged 0\n", 0, "",
			[]string{"catalog/.portal-provide.json", "catalog/API/databases.yaml", "catalog/catalog-info.yaml"}},
		{"A removal of most entities is refused.", api("topics", ""), nil, "", 1, "nothing was committed: 2 of 2 files would be removed\n  check that the input is complete; pass --allow-removals",
			[]string{"catalog/.portal-provide.json", "catalog/API/databases.yaml", "catalog/catalog-info.yaml"}},
		{"Incomplete input is refused.", api("databases", "") + "---\nerror: {message: the cluster is gone}\n", nil, "", 1, "nothing was committed: the input is not complete: the cluster is gone",
			[]string{"catalog/.portal-provide.json", "catalog/API/databases.yaml", "catalog/catalog-info.yaml"}},
		{"An invalid entity is refused.", api("data bases", ""), nil, "", 2, "nothing was committed: not all entities are valid",
			[]string{"catalog/.portal-provide.json", "catalog/API/databases.yaml", "catalog/catalog-info.yaml"}},
		{"Empty input is refused.", "", nil, "", 3, "nothing was committed: no entities found",
			[]string{"catalog/.portal-provide.json", "catalog/API/databases.yaml", "catalog/catalog-info.yaml"}},
		{"A single file with confirmed removals is written.", api("topics", "") + "---\n" + api("databases", ""), []string{"--single-file", "--location=all", "--allow-removals"},
			"added   catalog/catalog.yaml\nchanged catalog/catalog-info.yaml\nremoved catalog/API/databases.yaml\ncommit {head} to branch main of {repo}: added 1, changed 1, removed 1, unchanged 0\n", 0, "",
			[]string{"catalog/.portal-provide.json", "catalog/catalog-info.yaml", "catalog/catalog.yaml"}},
	}
	for i, s := range steps {
		got := run(s.in, s.args...)
		out := got.out
		if len(s.files) > 0 {
			out = strings.ReplaceAll(out, head(), "{head}")
		}
		out = strings.ReplaceAll(out, b.dir, "{repo}")
		if got.code != s.code || out != s.out || !strings.Contains(got.errors, s.notes) || s.notes == "" && got.errors != "" {
			t.Errorf("%d: %s\n%s\n%s", i, s.reason, cmp.Diff(s.out, out), got)
		}
		if len(s.files) == 0 {
			continue
		}
		if diff := cmp.Diff(s.files, b.files("main")); diff != "" {
			t.Errorf("%d: %s\nfiles (-want +got):\n%s", i, s.reason, diff)
		}
	}
	if got := b.commits(); got != "4" {
		t.Errorf("branch has %s commits, want 4", got)
	}
	if got := b.git("log", "--format=%an <%ae>: %s"); got != `portal-provide <portal-provide@localhost>: Update entities: 1 added, 1 changed, 1 removed
Ann Otter <ann@example.com>: less
portal-provide <portal-provide@localhost>: Update entities: 1 added
portal-provide <portal-provide@localhost>: Update entities: 2 added
` {
		t.Errorf("log:\n%s", got)
	}
	if got := b.git("show", "main:catalog/catalog-info.yaml"); got != "apiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata:\n  name: all\nspec:\n  targets:\n    - \"./catalog.yaml\"\n" {
		t.Errorf("Location is\n%s", got)
	}
	want := "---\n" + api("databases", "") + "---\n" + api("topics", "")
	if got := b.git("show", "main:catalog/catalog.yaml"); got != want {
		t.Errorf("catalog (-want +got):\n%s", cmp.Diff(want, got))
	}
	if got := b.git("show", "main~1:catalog/API/databases.yaml"); !strings.Contains(got, "flavour: theirs") {
		t.Errorf("entity was changed:\n%s", got)
	}
}

// TestCommitForeign checks that files of others are not changed.
func TestCommitForeign(t *testing.T) {
	b := newBare(t)
	file := filepath.Join(t.TempDir(), "info")
	if err := os.WriteFile(file, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	blob := strings.TrimSpace(b.git("hash-object", "-w", file))
	tree := strings.TrimSpace(mktree(b, "100644 blob "+blob+"\tcatalog-info.yaml\n"))
	commit := strings.TrimSpace(b.git("-c", "user.name=someone", "-c", "user.email=someone@example.com", "commit-tree", "-m", "mine", tree))
	b.git("update-ref", "refs/heads/main", commit)
	got := provide(t, nil, api("databases", ""), "commit", "--repo", b.dir, "--path", ".", "--location")
	if got.code != 1 || !strings.Contains(got.errors, `file "catalog-info.yaml" exists and was not written by this program`) || b.commits() != "1" {
		t.Errorf("%s", got)
	}
	got = provide(t, nil, api("databases", ""), "commit", "--repo", b.dir, "--path", ".", "--location", "--overwrite", "--branch", "new", "--base", "main")
	if got.code != 0 || !strings.Contains(got.out, "changed catalog-info.yaml") || b.commits() != "2" {
		t.Errorf("%s", got)
	}
}

func mktree(b bare, entries string) string {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "git", "mktree")
	cmd.Dir, cmd.Stdin = b.dir, strings.NewReader(entries)
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatal(err)
	}
	return string(out)
}

// TestCommitFlags checks invalid flags, and a server that refuses.
func TestCommitFlags(t *testing.T) {
	const token = "s3cr3t-token"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, password, _ := req.BasicAuth()
		http.Error(w, "no "+password, http.StatusUnauthorized)
	}))
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	here := t.TempDir()
	cases := map[string]struct {
		reason string
		args   []string
		env    map[string]string
		code   int
		notes  string
	}{
		"NoRepo":       {"A repository is required.", nil, nil, 4, "no repository given\n  set --repo"},
		"Scheme":       {"An unsupported scheme is refused.", []string{"--repo", "ftp://me:" + token + "@h/r"}, nil, 4, `cannot write to repository "ftp://h/r": unsupported scheme "ftp"`},
		"Branch":       {"An invalid branch is refused.", []string{"--repo", here, "--branch", "a b"}, nil, 4, `"a b" is not a valid branch name`},
		"Path":         {"An invalid path is refused.", []string{"--repo", here, "--path", "../x"}, nil, 4, `"../x" is not a valid path`},
		"Author":       {"An invalid author is refused.", []string{"--repo", here, "--author", "Ann"}, nil, 4, "cannot use author \"Ann\"\n  write --author"},
		"Location":     {"An invalid name of the Location is refused.", []string{"--repo", here, "--location=a b"}, nil, 4, `cannot use "a b" as the name of the Location`},
		"LocationName": {"An empty name of the Location is refused.", []string{"--repo", here, "--location="}, nil, 4, `cannot use "" as the name of the Location`},
		"Quiet":        {"--quiet and --verbose exclude each other.", []string{"--repo", here, "--quiet", "--verbose"}, nil, 4, "cannot use --quiet and --verbose together"},
		"Unknown":      {"An unknown flag is refused.", []string{"--repo", here, "--nope"}, nil, 4, "see portal-provide commit --help"},
		"NotThere":     {"A missing folder is reported.", []string{"--repo", filepath.Join(here, "x")}, nil, 1, "folder not found"},
		"Asked":        {"A server that requires credentials is reported.", []string{"--repo", srv.URL + "/r"}, nil, 1, "server requires credentials\n  set a token that may write to it"},
		"TokenEnv":     {"A token from the environment is sent.", []string{"--repo", srv.URL + "/r"}, map[string]string{"GIT_TOKEN": token}, 1, "server rejected the credentials"},
		"TokenFile":    {"A token from a file has precedence.", []string{"--repo", srv.URL + "/r", "--token-file", file}, map[string]string{"GIT_TOKEN": "other"}, 1, "server rejected the credentials"},
		"TokenURL":     {"A token in the URL is sent and not shown.", []string{"--repo", strings.Replace(srv.URL, "://", "://me:"+token+"@", 1) + "/r"}, nil, 1, `repository "` + srv.URL + `/r"`},
		"NoTokenFile":  {"A missing token file is reported.", []string{"--repo", srv.URL + "/r", "--token-file", file + "x"}, nil, 1, "cannot read token file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := provide(t, tc.env, api("databases", ""), append([]string{"commit"}, tc.args...)...)
			if got.code != tc.code || !strings.Contains(got.errors, tc.notes) || got.out != "" {
				t.Errorf("%s\n%s", tc.reason, got)
			}
			if strings.Contains(got.String(), token) {
				t.Errorf("%s\noutput contains the token: %s", tc.reason, got)
			}
		})
	}
}
