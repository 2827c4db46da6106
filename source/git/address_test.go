package git

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseAddress(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	cases := map[string]struct {
		reason string
		given  string
		shown  string
		want   string // kind, where, user and password
		err    string
	}{
		"HTTPS":       {"the usual one", "https://git.example.com/org/repo.git", "https://git.example.com/org/repo.git", "web https://git.example.com/org/repo.git", ""},
		"Slash":       {"a final slash means nothing", "http://h:8080/r/", "http://h:8080/r/", "web http://h:8080/r", ""},
		"Password":    {"credentials are taken out", "https://me:s3cret@h/r", "https://h/r", "web https://h/r me s3cret", ""},
		"Token":       {"a user alone may be a token", "https://s3cret@h/r", "https://h/r", "web https://h/r s3cret", ""},
		"Escaped":     {"special characters are escaped", "https://me:p%40ss%2Fw@h/r", "https://h/r", "web https://h/r me p@ss/w", ""},
		"Upper":       {"a scheme has no case", "HTTPS://me:s3cret@h/r", "https://h/r", "web https://h/r me s3cret", ""},
		"Broken":      {"what cannot be read shows nothing either", "https://me:s3%zzcret@h/r", "https://h/r", "", "the address is not the URL of a repository"},
		"BrokenPort":  {"a password with a slash", "https://me:s3cret/x@h/r", "https://h/r", "", "the address is not the URL of a repository"},
		"LikePort":    {"a password that looks like a port", "https://me:12/s3cret@h/r", "https://h/r", "", "the address is not the URL of a repository"},
		"Query":       {"a token in the query", "https://h/r?private_token=s3cret", "https://h/r", "", "the address is not the URL of a repository"},
		"NoHost":      {"a host is needed", "https:///r", "https:///r", "", "the address names no host, or no repository"},
		"NoPath":      {"a host is not enough", "https://h/", "https://h/", "", "the address names no host, or no repository"},
		"Scheme":      {"not all schemes are known", "git://h/r", "git://h/r", "", `there is no way to read "git"`},
		"SSH":         {"the usual one", "ssh://git@h:2222/org/r.git", "ssh://h:2222/org/r.git", "shell h 2222 /org/r.git git", ""},
		"SSHPassword": {"a password over SSH", "ssh://git:s3cret@h/r", "ssh://h/r", "shell h  /r git s3cret", ""},
		"SSHHome":     {"a path below a home folder", "ssh://h/~me/r", "ssh://h/~me/r", "shell h  ~me/r", ""},
		"Short":       {"as many copy it", "git@github.com:org/r.git", "git@github.com:org/r.git", "shell github.com  org/r.git git", ""},
		"ShortNoUser": {"a host of the network", "h:r", "h:r", "shell h  r", ""},
		"ShortV6":     {"an address with colons", "git@[::1]:org/r", "git@[::1]:org/r", "shell ::1  org/r git", ""},
		"ShortSecret": {"no place for a password", "me:s3cret@h:r", "h:r", "", "an address of this form holds no password"},
		"OneSlash":    {"a slip that looks short", "https:/me:s3cret@h/r", "https:/h/r", "", "holds no password"},
		"NoColon":     {"a slip that looks like a path", "https//me:s3cret@h/r", "https//h/r", "local " + filepath.Join(here, "https/me:s3cret@h/r"), ""},
		"Relative":    {"a folder", "a/b", "a/b", "local " + filepath.Join(here, "a/b"), ""},
		"Colon":       {"a folder with a colon in its name", "./a:b", "./a:b", "local " + filepath.Join(here, "a:b"), ""},
		"File":        {"a folder as a URL", "file:///srv/a%20b", "file:///srv/a%20b", "local " + filepath.FromSlash("/srv/a b"), ""},
		"FileHost":    {"a folder elsewhere", "file://h/srv", "file://h/srv", "", `a file is on this machine, not on "h"`},
		"ColonAt":     {"an at sign in the path", "h:a/b@c", "h:a/b@c", "shell h  a/b@c", ""},
		"Empty":       {"nothing", "", "", "", "the address is empty"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			at, err := parseAddress(tc.given)
			if at.shown != tc.shown {
				t.Errorf("%s\nshown as %q, want %q", tc.reason, at.shown, tc.shown)
			}
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(fmt.Sprintf("%+v", err), "s3cret") {
					t.Errorf("%s\nerror %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			got := "local " + at.dir
			switch {
			case at.url != nil && at.url.Scheme == shell:
				got = "shell " + at.url.Hostname() + " " + at.url.Port() + " " + at.url.Path
			case at.url != nil:
				got = "web " + at.url.String()
			}
			for _, s := range []string{at.user.Reveal(), at.password.Reveal()} {
				if s != "" {
					got += " " + s
				}
			}
			if got != tc.want {
				t.Errorf("%s\nparsed as %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// FuzzParseAddress holds that a password in a URL is shown nowhere.
func FuzzParseAddress(f *testing.F) {
	f.Add("https", "me", "p@ss", "h", "org/repo.git")
	f.Add("ssh", "", "12/x", "h:22", "r")
	f.Fuzz(func(t *testing.T, scheme, user, password, host, path string) {
		const mark = "xQzSECRETzQx"
		for _, userinfo := range []string{
			url.UserPassword(user, mark+password).String(), user + ":" + mark + password, user + ":" + password + mark,
		} {
			given := scheme + "://" + userinfo + "@" + host + "/" + path
			if strings.Contains(host+path+scheme, mark) || strings.Contains(scheme+user+host, "/") {
				return
			}
			s := New(given, Options{})
			shown := s.Repository()
			if s.bad != nil {
				shown += s.fail(t.Context(), s.bad, credentials{}).Error()
			}
			if strings.Contains(shown, mark) {
				t.Errorf("%q is shown as %q", given, shown)
			}
		}
	})
}

func TestLocation(t *testing.T) {
	branch := target{kind: "branch", name: "main"}
	cases := map[string]struct {
		reason string
		given  string
		ref    target
		path   string
		opts   Options
		want   string
	}{
		"GitHub":    {"the rule", "https://me:s3cret@github.com/org/repo.git", branch, "d/a.yaml", Options{}, "url:https://github.com/org/repo/blob/main/d/a.yaml"},
		"Short":     {"pages are at the same host", "git@github.com:org/repo.git", branch, "d/a.yaml", Options{}, "url:https://github.com/org/repo/blob/main/d/a.yaml"},
		"SSH":       {"but not at the same port", "ssh://git@git.example.com:2222/org/repo", branch, "a.yaml", Options{}, "url:https://git.example.com/org/repo/blob/main/a.yaml"},
		"GitLab":    {"has another", "https://gitlab.example.com/a/b/repo.git/", branch, "a.yaml", Options{}, "url:https://gitlab.example.com/a/b/repo/-/blob/main/a.yaml"},
		"Bitbucket": {"and another", "https://bitbucket.org/org/repo", branch, "a.yaml", Options{}, "url:https://bitbucket.org/org/repo/src/main/a.yaml"},
		"Codeberg":  {"says what the name is", "https://codeberg.org/org/repo", target{kind: "tag", name: "v1"}, "a.yaml", Options{}, "url:https://codeberg.org/org/repo/src/tag/v1/a.yaml"},
		"Azure":     {"as a query", "https://org@dev.azure.com/org/p/_git/repo", target{kind: "commit", name: "abc"}, "d/a.yaml", Options{}, "url:https://dev.azure.com/org/p/_git/repo?path=/d/a.yaml&version=GCabc"},
		"Slashes":   {"slashes stay, the rest is escaped", "https://h/r", target{kind: "branch", name: "feature/#1"}, "a b/c?.yaml", Options{}, "url:https://h/r/blob/feature/%231/a%20b/c%3F.yaml"},
		"NotUTF8":   {"any byte can be escaped", "https://h/r", branch, "\xff.yaml", Options{}, "url:https://h/r/blob/main/%FF.yaml"},
		"Port":      {"the port belongs to the host", "http://h:8080/r", branch, "a.yaml", Options{}, "url:http://h:8080/r/blob/main/a.yaml"},
		"Local":     {"a folder", "/srv/my defs", branch, "d/a.yaml", Options{}, "url:file:///srv/my%20defs/d/a.yaml"},
		"Web":       {"as the user says", "git@git.example.com:org/repo.git", branch, "d/a b.yaml", Options{Web: "https://code.example.com/repo/-/blob/{ref}/{path}"}, "url:https://code.example.com/repo/-/blob/main/d/a%20b.yaml"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := New(tc.given, tc.opts).origin(tc.ref, tc.path).SourceLocation()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nlocation (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
