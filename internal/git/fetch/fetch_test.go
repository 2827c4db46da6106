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
	// root is the folder of the repositories, name that of the server.
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

// put writes files; a name that ends in a star is executable, and a text that
// begins with an arrow is a link.
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

// set creates a stage with the repository acme/live, which has these files on
// the branch main, and one more on the branch feature/x.
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

// hosts returns the server, and one that is a folder.
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
		"Page":       {"The page of a folder is fetched.", files.ActionFetch, "", page + "/skeleton", "", plain, "", ""},
		"Template":   {"A folder beside the Template is fetched.", files.ActionTemplate, page + "/template.yaml", "./skeleton", "", filled, "", ""},
		"Top":        {"A path from the root of the repository is fetched.", files.ActionTemplate, page + "/template.yaml", "/templates/skeleton", "", filled, "", ""},
		"GitHub":     {"A page in the format of another server is fetched.", files.ActionFetch, "", s.url + "/acme/live/tree/main/templates/skeleton/", "", plain, "", ""},
		"Slashes":    {"A branch with a slash is fetched.", files.ActionFetch, "", s.url + "/acme/live/src/branch/feature/x/templates/skeleton", "", newer, "", ""},
		"Beside":     {"A folder beside a Template on a branch with a slash is fetched.", files.ActionFetch, s.url + "/acme/live/src/branch/feature/x/templates/template.yaml", "skeleton", "", newer, "", ""},
		"Disk":       {"A server that is a folder is read.", files.ActionFetch, "", "https://disk.example.com/acme/live.git/tree/main/templates/skeleton", "", plain, "", ""},
		"Token":      {"A token of the step is used.", files.ActionFetch, "", "https://open.example.com/acme/live.git/tree/main/templates/skeleton", token, plain, "", ""},
		"NoToken":    {"A server that requires credentials is reported.", files.ActionFetch, "", "https://open.example.com/acme/live.git/tree/main/templates/skeleton", "", nil, "server requires credentials", "set a token"},
		"WrongToken": {"A wrong token of the step has precedence over that of the host.", files.ActionFetch, "", page, "wr0ng", nil, "server rejected the credentials", "check that the token"},
		"Whole":      {"A repository with a link that escapes is refused.", files.ActionFetch, "", s.url + "/acme/live.git", "", nil, "link leads out of the fetched files", "replace the link"},
		"Out":        {"A path that escapes the repository is refused.", files.ActionFetch, page + "/template.yaml", "../../x", "", nil, "path escapes the repository", "in the repository"},
		"NoBranch":   {"An unknown branch is reported with the available ones.", files.ActionFetch, "", s.url + "/acme/live/src/branch/nope/x", "", nil, `no branch, tag or commit "nope"`, "available: feature/x, main"},
		"NoFolder":   {"A missing folder is reported.", files.ActionFetch, "", page + "/nope", "", nil, "file or folder does not exist", "check the URL"},
		"NoRepo":     {"A missing repository is reported.", files.ActionFetch, "", s.url + "/acme/nope/src/branch/main", "", nil, "repository not found", "check the spelling"},
		"NoHost":     {"An unknown host is refused.", files.ActionFetch, "", "https://evil.example.com/a/b", "", nil, `cannot fetch from "evil.example.com": host is not allowed`, "configuration"},
		"Metadata":   {"A link-local address is refused.", files.ActionFetch, "", "http://169.254.169.254/latest/meta-data", "", nil, "host is not allowed", "configuration"},
		"Plain":      {"Plain HTTP must be configured.", files.ActionFetch, "", "http://github.com/a/b", "", nil, "without encryption", "write https"},
		"Broken":     {"An invalid host configuration is reported.", files.ActionFetch, "", "https://broken.example.com/a/b", "", nil, "invalid URL of host", "write https://host"},
		"Password":   {"Credentials in a URL are refused.", files.ActionFetch, "", "https://me:s3cr3t@github.com/a/b", "", nil, "it contains a user name or password", "write ./folder"},
		"Local":      {"A local file by URL is refused.", files.ActionFetch, "file:///etc/template.yaml", "file:///etc", "", nil, "cannot fetch local files by URL", "./folder"},
		"NoBase":     {"A Template without a location has no relative URLs.", files.ActionFetch, "", "./skeleton", "", nil, "location of the Template is unknown", "write an absolute URL"},
		"Odd":        {"A Template that is not from a repository has no relative URLs.", files.ActionFetch, "cluster:live", "./skeleton", "", nil, "the Template was not read from a repository", ""},
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
			checkError(t, tc.reason, err, tc.err, tc.hint)
			if tc.want == nil {
				return
			}
			if diff := cmp.Diff(tc.want, stage.Files()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFetchFolder fetches relative to a local Template.
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
		"Beside":   {"A folder beside the Template is fetched.", base, "./skeleton", map[string]string{"x": "x", "y": "x"}, ""},
		"Short":    {"A base without slashes is accepted.", strings.Replace(base, "file://", "file:", 1), "skeleton", map[string]string{"x": "x", "y": "x"}, ""},
		"Link":     {"A link within the folder is followed.", base, "here", map[string]string{"x": "x", "y": "x"}, ""},
		"Up":       {"A path that escapes is refused.", base, "../b", nil, "path escapes the folder of the Template"},
		"Root":     {"An absolute path is refused.", base, outside, nil, "path escapes the folder of the Template"},
		"LinkUp":   {"A relative link that escapes is refused.", base, "./up", nil, "link leads out of the fetched files"},
		"LinkAway": {"An absolute link that escapes is refused.", base, "./abs", nil, "link leads out of the fetched files"},
		"Outside":  {"A Template in another folder is refused.", "file://" + outside + "/template.yaml", ".", nil, "folder of the Template is not allowed"},
		"Through":  {"A Template in a folder behind a link is refused.", "file://" + top + "/link/template.yaml", ".", nil, "path escapes from parent"},
		"Sly":      {"A Template in a folder behind dots is refused.", "file://" + top + "/../" + filepath.Base(outside) + "/template.yaml", ".", nil, "folder of the Template is not allowed"},
		"Relative": {"A relative base is refused.", "file:template.yaml", ".", nil, "folder of the Template is not allowed"},
		"Gone":     {"A missing folder is reported.", "file://" + top + "/nope/template.yaml", ".", nil, "no such file or directory"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := actiontest.New(t, files.Actions(files.Options{Fetcher: New(Options{Folders: []string{top}})}))
			_, err := s.Run(files.ActionFetch, "url: "+tc.url, func(c *action.Call) { c.Base = tc.base })
			checkError(t, tc.reason, err, tc.err, "")
			if err != nil && tc.url != outside && (strings.Contains(err.Error(), top) || strings.Contains(err.Error(), outside)) {
				t.Errorf("%s: error contains the path: %v", tc.reason, err)
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
		checkError(t, "Without configured folders local files are refused.", err, "folder of the Template is not allowed", "configuration")
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
		"Known":   {"A public host is known.", "https://github.com/a/b/tree/main/x", "https://github.com/a/b.git", "x-access-token"},
		"Prefix":  {"A server below a path is found with the path.", "https://ghe.example.com/git/a/b/tree/main/x", "https://ghe.example.com/git/a/b.git", "x-access-token"},
		"Without": {"A server below a path is found without the path.", "https://ghe.example.com/a/b/tree/main/x", "https://ghe.example.com/git/a/b.git", "x-access-token"},
		"SSH":     {"A server can be read over SSH.", "https://ssh.example.com/a/b/c/-/tree/main/x", "ssh://git@ssh.example.com:2222/a/b/c.git", ""},
		"Short":   {"An SSH address is kept.", "git@lab.example.com:a/b.git", "ssh://git@lab.example.com/a/b.git", ""},
		"GitLab":  {"A host has its configured kind.", "https://lab.example.com/a/b", "https://lab.example.com/a/b.git", "oauth2"},
		"Allowed": {"A host that may be read is known.", "https://also.example.com/a/b.git", "https://also.example.com/a/b.git", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			page, err := forge.ParsePage(tc.address)
			if err != nil {
				t.Fatal(err)
			}
			at, auth, err := f.place(page, "")
			if err != nil || at != tc.want || auth.Username != tc.user {
				t.Errorf("%s: address is %q as %q (%v), want %q as %q", tc.reason, at, auth.Username, err, tc.want, tc.user)
			}
		})
	}
}

// checkError checks the message and hint of an error, and that it contains no secret.
func checkError(t *testing.T, reason string, err error, want, hint string) {
	t.Helper()
	got, out := "", ""
	if err != nil {
		got = err.Error()
	}
	if e, ok := errors.AsType[*action.Error](err); ok {
		out = e.Hint
	}
	if (got == "") != (want == "") || !strings.Contains(got, want) || !strings.Contains(out, hint) || want != "" && out == "" {
		t.Errorf("%s: error is %q, hint %q\nwant %q, %q", reason, got, out, want, hint)
	}
	if shown := fmt.Sprintf("%v %+v %#v %s", err, err, err, out); strings.Contains(shown, "s3cr3t") || strings.Contains(shown, "wr0ng") {
		t.Errorf("%s: error contains the secret: %s", reason, shown)
	}
}
