package publish

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/git/forge/contract"
	"example.dev/ingestor/sink/git"
	"example.dev/ingestor/test/gitserver"
)

const token = "t0ps3cr3t"

// stage is a server with a real repository and a fake forge.
type stage struct {
	*contract.Server
	t   testing.TB
	dir string
	// guard answers requests for the repository, and reports whether it did.
	guard func(w http.ResponseWriter, req *http.Request) bool
	host  Host
	// plan makes plans; nil means that there are none.
	plan  func(ctx context.Context, c *action.Call, p Proposal) (string, error)
	name  string
	space string
}

// set builds a stage with these files on the branch main. Without a kind it has
// no forge.
func set(t testing.TB, kind string, files map[string]string) *stage {
	t.Helper()
	gitserver.Need(t)
	root := t.TempDir()
	s := &stage{t: t, dir: filepath.Join(root, "acme", "live.git"), space: t.TempDir(),
		Server: &contract.Server{Kind: kind, Repository: "acme/live", Token: token, Same: map[string]bool{}}}
	s.git("init", "--quiet", "--bare", "--initial-branch=main", s.dir)
	s.seed("main", files)
	backend := gitserver.Basic("", token)(gitserver.Handler(t, root))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.HasPrefix(req.URL.Path, "/api/") {
			s.ServeHTTP(w, req)
			return
		}
		if s.guard != nil && s.guard(w, req) {
			return
		}
		backend.ServeHTTP(w, req)
	}))
	t.Cleanup(srv.Close)
	s.URL, s.name = srv.URL, strings.TrimPrefix(srv.URL, "http://")
	s.host = Host{URL: srv.URL, Auth: git.Auth{Token: token}}
	return s
}

// git runs Git in the repository.
func (s *stage) git(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "git", append([]string{"-c", "safe.directory=*", "--git-dir", s.dir}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// seed commits files to a branch.
func (s *stage) seed(branch string, files map[string]string) {
	s.t.Helper()
	all := map[string][]byte{"README.md": []byte("hello\n")}
	for name, text := range files {
		all[name] = []byte(text)
	}
	if _, err := git.New(s.dir, git.Options{Branch: branch}).Commit(s.t.Context(), all); err != nil {
		s.t.Fatal(err)
	}
}

// branches returns the branches of the repository.
func (s *stage) branches() []string {
	return strings.Fields(s.git("for-each-ref", "--format=%(refname:short)", "refs/heads"))
}

// files returns the files of a branch.
func (s *stage) files(branch string) map[string]string {
	s.t.Helper()
	all := map[string]string{}
	for _, name := range strings.Split(strings.TrimSuffix(s.git("ls-tree", "-r", "-z", "--name-only", branch), "\x00"), "\x00") {
		all[name] = s.git("show", branch+":"+name)
	}
	return all
}

// write writes a file to the workspace.
func (s *stage) write(name, text string) {
	s.t.Helper()
	at := filepath.Join(s.space, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// run is the result of a step.
type run struct {
	log     string
	outputs map[string]*tree.Node
	err     error
}

// call returns a step with the input, in YAML, in which HOST is the server.
func (s *stage) call(input string) *action.Call {
	s.t.Helper()
	docs, errs := parser.DecodeBytes([]byte(strings.ReplaceAll(input, "HOST", s.name)))
	if len(errs) > 0 || len(docs) != 1 {
		s.t.Fatalf("%d documents, %v", len(docs), errs)
	}
	return &action.Call{Input: docs[0], Task: "task-1", Step: "propose", Key: "task-1/propose", User: "user:default/alice",
		Caller:    action.Caller{Ref: "user:default/alice", Name: "Alice", Email: "alice@example.com"},
		Authorize: func(context.Context, string, action.Target) error { return nil }}
}

// run runs an action.
func (s *stage) run(id string, c *action.Call) run {
	s.t.Helper()
	w, err := action.OpenWorkspace(s.space)
	if err != nil {
		s.t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	got := run{outputs: map[string]*tree.Node{}}
	var lines strings.Builder
	c.Workspace = w
	c.Logf = func(format string, args ...any) { fmt.Fprintf(&lines, format+"\n", args...) }
	c.Output = func(name string, value *tree.Node) { got.outputs[name] = value }
	actions := Actions(Options{
		Hosts: HostsFunc(func(name string) (Host, bool) { return s.host, name == s.name }),
		Now:   func() time.Time { return time.Unix(1_700_000_000, 0) }, Pause: 1, Timeout: time.Minute, Plan: s.plan,
	})
	for _, a := range actions {
		if a.ID == id {
			got.err = a.Run(s.t.Context(), c)
		}
	}
	got.log = lines.String()
	if shown := fmt.Sprintf("%s %v %+v %q", got.log, got.err, got.err, hint(got.err)); strings.Contains(shown, token) {
		s.t.Errorf("secret is in the output: %s", shown)
	}
	return got
}

func hint(err error) string {
	if e, ok := err.(*action.Error); ok { //nolint:errorlint // the outermost is what is shown
		return e.Hint
	}
	return ""
}
