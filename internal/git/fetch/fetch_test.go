package fetch

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/actiontest"
	"example.dev/ingestor/action/files"
	"example.dev/ingestor/action/publish"
	"example.dev/ingestor/internal/git/forge"
	"example.dev/ingestor/sink/git"
	"example.dev/ingestor/test/gitserver"
)

const token = "t0ps3cr3t"

// stage is a server with a real repository.
type stage struct {
	t testing.TB
	// root is the folder of the repositories, name the server's.
	root, name, url string
}

// run runs Git in a folder.
func run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// put writes files; a name that ends in a star is one that can be run, and a
// text that begins with an arrow a link.
func put(t testing.TB, dir string, all map[string]string) {
	t.Helper()
	for name, text := range all {
		mode := os.FileMode(0o600)
		if n, ok := strings.CutSuffix(name, "*"); ok {
			name, mode = n, 0o700
		}
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(to, at)
		} else {
			err = os.WriteFile(at, []byte(text), mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// set builds a stage with the repository acme/live, which has these files on the
// branch main, and one more on the branch feature/x.
func set(t testing.TB, all map[string]string) *stage {
	t.Helper()
	gitserver.Need(t)
	s := &stage{t: t, root: t.TempDir()}
	work := t.TempDir()
	run(t, work, "init", "--quiet", "--initial-branch=main")
	put(t, work, all)
	run(t, work, "add", "--all")
	run(t, work, "commit", "--quiet", "--message=one")
	run(t, work, "checkout", "--quiet", "-b", "feature/x")
	put(t, work, map[string]string{"templates/skeleton/new.txt": "new"})
	run(t, work, "add", "--all")
	run(t, work, "commit", "--quiet", "--message=two")
	run(t, work, "checkout", "--quiet", "main")
	run(t, s.root, "clone", "--quiet", "--bare", work, filepath.Join(s.root, "acme", "live.git"))
	srv := httptest.NewServer(gitserver.Basic("", token)(gitserver.Handler(t, s.root)))
	t.Cleanup(srv.Close)
	s.url, s.name = srv.URL, strings.TrimPrefix(srv.URL, "http://")
	return s
}

// hosts knows the server, and one that is a folder.
func (s *stage) hosts(name string) (publish.Host, bool) {
	switch name {
	case s.name:
		return publish.Host{Kind: "gitea", URL: s.url, Auth: git.Auth{Token: token}}, true
	case "open.example.com":
		return publish.Host{URL: s.url}, true
	case "disk.example.com":
		return publish.Host{URL: "file://" + s.root}, true
	case "broken.example.com":
		return publish.Host{URL: "no url s3cr3t"}, true
	}
	return publish.Host{}, false
}

var skeleton = map[string]string{
	"LICENSE": "free", "templates/template.yaml": "t",
	"templates/skeleton/${{ values.name }}.txt": "Hi ${{ values.name }}",
	"templates/skeleton/bin/run*":               "echo ${{ values.name }}",
	"templates/skeleton/LICENSE":                "-> ../../LICENSE",
	"templates/skeleton/logo":                   "\x00\x01\x02${{",
	"bad/out":                                   "-> ../../../etc/passwd",
}

func TestFetch(t *testing.T) {
	s := set(t, skeleton)
	plain := map[string]string{"${{ values.name }}.txt": "Hi ${{ values.name }}", "bin/run*": "echo ${{ values.name }}", "LICENSE": "free", "logo": "\x00\x01\x02${{"}
	filled := map[string]string{"ann.txt": "Hi ann", "bin/run*": "echo ann", "LICENSE": "free", "logo": "\x00\x01\x02${{"}
	newer := map[string]string{"new.txt": "new"}
	for k, v := range plain {
		newer[k] = v
	}
	page := s.url + "/acme/live/src/branch/main/templates"
	cases := map[string]struct {
		reason, id, base, url, token string
		want                         map[string]string
		err, hint                    string
	}{
		"Page":       {"the page of a folder", files.ActionFetch, "", page + "/skeleton", "", plain, "", ""},
		"Template":   {"beside the Template", files.ActionTemplate, page + "/template.yaml", "./skeleton", "", filled, "", ""},
		"Top":        {"from the top of the repository", files.ActionTemplate, page + "/template.yaml", "/templates/skeleton", "", filled, "", ""},
		"GitHub":     {"as others write it", files.ActionFetch, "", s.url + "/acme/live/tree/main/templates/skeleton/", "", plain, "", ""},
		"Slashes":    {"a branch with a slash", files.ActionFetch, "", s.url + "/acme/live/src/branch/feature/x/templates/skeleton", "", newer, "", ""},
		"Beside":     {"beside a Template on one", files.ActionFetch, s.url + "/acme/live/src/branch/feature/x/templates/template.yaml", "skeleton", "", newer, "", ""},
		"Disk":       {"a server that is a folder", files.ActionFetch, "", "https://disk.example.com/acme/live.git/tree/main/templates/skeleton", "", plain, "", ""},
		"Token":      {"a token of one's own", files.ActionFetch, "", "https://open.example.com/acme/live.git/tree/main/templates/skeleton", token, plain, "", ""},
		"NoToken":    {"a server that asks for one", files.ActionFetch, "", "https://open.example.com/acme/live.git/tree/main/templates/skeleton", "", nil, "the server asks for credentials", "give a token"},
		"WrongToken": {"the wrong one, which goes before the host's", files.ActionFetch, "", page, "wr0ng", nil, "the server does not accept the credentials", "check that the token"},
		"Whole":      {"a repository, with a link that leads out", files.ActionFetch, "", s.url + "/acme/live.git", "", nil, "it is a link that leads out of what was fetched", "replace the link"},
		"Out":        {"out of the repository", files.ActionFetch, page + "/template.yaml", "../../x", "", nil, "it leads out of the repository", "in the repository"},
		"NoBranch":   {"no such branch", files.ActionFetch, "", s.url + "/acme/live/src/branch/nope/x", "", nil, `it has no branch, tag or commit "nope"`, "there are feature/x, main"},
		"NoFolder":   {"no such folder", files.ActionFetch, "", page + "/nope", "", nil, "there is no such file or folder", "check the address"},
		"NoRepo":     {"no such repository", files.ActionFetch, "", s.url + "/acme/nope/src/branch/main", "", nil, "there is no such repository", "check the spelling"},
		"NoHost":     {"a server nobody knows", files.ActionFetch, "", "https://evil.example.com/a/b", "", nil, `cannot fetch from "evil.example.com": it is not a host that may be read`, "configuration"},
		"Metadata":   {"nor a neighbour", files.ActionFetch, "", "http://169.254.169.254/latest/meta-data", "", nil, "not a host that may be read", "configuration"},
		"Plain":      {"without encryption only if the configuration says so", files.ActionFetch, "", "http://github.com/a/b", "", nil, "without encryption", "write https"},
		"Broken":     {"a configuration that is broken", files.ActionFetch, "", "https://broken.example.com/a/b", "", nil, "in the configuration is none", "write https://host"},
		"Password":   {"credentials in the address", files.ActionFetch, "", "https://me:s3cr3t@github.com/a/b", "", nil, "there is a user name or password in it", "write ./folder"},
		"Local":      {"a file of this machine", files.ActionFetch, "file:///etc/template.yaml", "file:///etc", "", nil, "cannot fetch files of this machine by their address", "./folder"},
		"NoBase":     {"a Template from nowhere", files.ActionFetch, "", "./skeleton", "", nil, "nobody knows where the Template was read from", "write the whole address"},
		"Odd":        {"a Template from somewhere else", files.ActionFetch, "cluster:live", "./skeleton", "", nil, "the Template was not read from a repository", ""},
	}
	fetcher := New(Options{Hosts: publish.HostsFunc(s.hosts)})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stage := actiontest.New(t, files.Actions(files.Options{Fetcher: fetcher}))
			input := "url: '" + tc.url + "'\n"
			if tc.token != "" {
				input += "token: " + tc.token + "\n"
			}
			if tc.id == files.ActionTemplate {
				input += "values: {name: ann}\n"
			}
			_, err := stage.Run(tc.id, input, func(c *action.Call) { c.Base = tc.base })
			hold(t, tc.reason, err, tc.err, tc.hint)
			if tc.want == nil {
				return
			}
			if diff := cmp.Diff(tc.want, stage.Files()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFetchFolder fetches from beside a Template on this machine.
func TestFetchFolder(t *testing.T) {
	top, outside := t.TempDir(), t.TempDir()
	put(t, outside, map[string]string{"secret": "s3cr3t"})
	put(t, top, map[string]string{
		"a/template.yaml": "t", "a/skeleton/x": "x", "a/skeleton/y": "-> x", "b/secret": "s3cr3t",
		"a/up/x": "-> ../../b/secret", "a/abs/x": "-> " + filepath.Join(outside, "secret"), "link": "-> " + outside, "a/here": "-> skeleton",
	})
	base := "file://" + filepath.Join(top, "a", "template.yaml")
	cases := map[string]struct {
		reason, base, url string
		want              map[string]string
		err               string
	}{
		"Beside":   {"a folder beside it", base, "./skeleton", map[string]string{"x": "x", "y": "x"}, ""},
		"Short":    {"a base without slashes", strings.Replace(base, "file://", "file:", 1), "skeleton", map[string]string{"x": "x", "y": "x"}, ""},
		"Link":     {"a link beside it", base, "here", map[string]string{"x": "x", "y": "x"}, ""},
		"Up":       {"away from it", base, "../b", nil, "it leads away from the Template"},
		"Root":     {"from the root", base, outside, nil, "it leads away from the Template"},
		"LinkUp":   {"away by a link", base, "./up", nil, "it is a link that leads out of what was fetched"},
		"LinkAway": {"far away by a link", base, "./abs", nil, "it is a link that leads out of what was fetched"},
		"Outside":  {"a Template in another folder", "file://" + outside + "/template.yaml", ".", nil, "its folder is not one that may be read"},
		"Through":  {"which is reached through a link", "file://" + top + "/link/template.yaml", ".", nil, "path escapes from parent"},
		"Sly":      {"or dots", "file://" + top + "/../" + filepath.Base(outside) + "/template.yaml", ".", nil, "its folder is not one that may be read"},
		"Relative": {"a base that depends on where one is", "file:template.yaml", ".", nil, "its folder is not one that may be read"},
		"Gone":     {"a folder that is gone", "file://" + top + "/nope/template.yaml", ".", nil, "no such file or directory"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := actiontest.New(t, files.Actions(files.Options{Fetcher: New(Options{Folders: []string{top}})}))
			_, err := s.Run(files.ActionFetch, "url: "+tc.url, func(c *action.Call) { c.Base = tc.base })
			hold(t, tc.reason, err, tc.err, "")
			if err != nil && tc.url != outside && (strings.Contains(err.Error(), top) || strings.Contains(err.Error(), outside)) {
				t.Errorf("%s: it tells where it is: %v", tc.reason, err)
			}
			if tc.want == nil {
				tc.want = map[string]string{}
			}
			if diff := cmp.Diff(tc.want, s.Files()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("None", func(t *testing.T) {
		s := actiontest.New(t, files.Actions(files.Options{Fetcher: New(Options{})}))
		_, err := s.Run(files.ActionFetch, "url: skeleton", func(c *action.Call) { c.Base = base })
		hold(t, "no folder was named", err, "its folder is not one that may be read", "configuration")
	})
}

func TestPlace(t *testing.T) {
	hosts := publish.HostsFunc(func(name string) (publish.Host, bool) {
		switch name {
		case "ghe.example.com":
			return publish.Host{Kind: "github", URL: "https://ghe.example.com/git", Auth: git.Auth{Token: "h"}}, true
		case "ssh.example.com":
			return publish.Host{Kind: "gitlab", URL: "ssh://git@ssh.example.com:2222", Auth: git.Auth{Token: "h"}}, true
		case "lab.example.com":
			return publish.Host{Kind: "gitlab"}, true
		}
		return publish.Host{}, false
	})
	f := New(Options{Hosts: hosts, Allow: func(host string) bool { return host == "also.example.com" }})
	cases := map[string]struct{ reason, address, want, user string }{
		"Known":   {"one everybody knows", "https://github.com/a/b/tree/main/x", "https://github.com/a/b.git", "x-access-token"},
		"Prefix":  {"a server below a path", "https://ghe.example.com/git/a/b/tree/main/x", "https://ghe.example.com/git/a/b.git", "x-access-token"},
		"Without": {"named without it", "https://ghe.example.com/a/b/tree/main/x", "https://ghe.example.com/git/a/b.git", "x-access-token"},
		"SSH":     {"read over SSH", "https://ssh.example.com/a/b/c/-/tree/main/x", "ssh://git@ssh.example.com:2222/a/b/c.git", ""},
		"Short":   {"named so", "git@lab.example.com:a/b.git", "ssh://git@lab.example.com/a/b.git", ""},
		"GitLab":  {"a kind that is configured", "https://lab.example.com/a/b", "https://lab.example.com/a/b.git", "oauth2"},
		"Allowed": {"one that may be read", "https://also.example.com/a/b.git", "https://also.example.com/a/b.git", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			page, err := forge.ParsePage(tc.address)
			if err != nil {
				t.Fatal(err)
			}
			at, auth, err := f.place(page, "")
			if err != nil || at != tc.want || auth.Username != tc.user {
				t.Errorf("%s: %q as %q (%v), want %q as %q", tc.reason, at, auth.Username, err, tc.want, tc.user)
			}
		})
	}
}

// hold wants an error to have these words and that way out, and no secret.
func hold(t *testing.T, reason string, err error, want, hint string) {
	t.Helper()
	got, out := "", ""
	if err != nil {
		got = err.Error()
	}
	if e, ok := errors.AsType[*action.Error](err); ok {
		out = e.Hint
	}
	if (got == "") != (want == "") || !strings.Contains(got, want) || !strings.Contains(out, hint) || want != "" && out == "" {
		t.Errorf("%s: %q, %q\nwant %q, %q", reason, got, out, want, hint)
	}
	if shown := fmt.Sprintf("%v %+v %#v %s", err, err, err, out); strings.Contains(shown, "s3cr3t") || strings.Contains(shown, "wr0ng") {
		t.Errorf("%s: the secret is shown: %s", reason, shown)
	}
}
