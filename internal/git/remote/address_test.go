package remote

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
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
		"Scheme":      {"not all schemes are known", "git://h/r", "git://h/r", "", `there is no way to reach "git"`},
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
			at, err := ParseAddress(tc.given)
			if at.Shown != tc.shown {
				t.Errorf("%s\nshown as %q, want %q", tc.reason, at.Shown, tc.shown)
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
			got := "local " + at.Dir
			switch {
			case at.URL != nil && at.URL.Scheme == Shell:
				got = "shell " + at.URL.Hostname() + " " + at.URL.Port() + " " + at.URL.Path
			case at.URL != nil:
				got = "web " + at.URL.String()
			}
			for _, s := range []string{at.User.Reveal(), at.Password.Reveal()} {
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
			at, err := ParseAddress(given)
			shown := at.Shown
			if err != nil {
				shown += fmt.Sprintf("%+v", err) + Explain(err).Hint
			}
			if strings.Contains(shown, mark) {
				t.Errorf("%q is shown as %q", given, shown)
			}
		}
	})
}
