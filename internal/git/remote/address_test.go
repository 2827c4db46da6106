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
		"HTTPS":       {"An HTTPS URL is accepted.", "https://git.example.com/org/repo.git", "https://git.example.com/org/repo.git", "web https://git.example.com/org/repo.git", ""},
		"Slash":       {"A trailing slash is ignored.", "http://h:8080/r/", "http://h:8080/r/", "web http://h:8080/r", ""},
		"Password":    {"Credentials are separated from the URL.", "https://me:s3cret@h/r", "https://h/r", "web https://h/r me s3cret", ""},
		"Token":       {"A user without a password may be a token.", "https://s3cret@h/r", "https://h/r", "web https://h/r s3cret", ""},
		"Escaped":     {"Credentials are unescaped.", "https://me:p%40ss%2Fw@h/r", "https://h/r", "web https://h/r me p@ss/w", ""},
		"Upper":       {"A scheme is not case-sensitive.", "HTTPS://me:s3cret@h/r", "https://h/r", "web https://h/r me s3cret", ""},
		"Broken":      {"An invalid escape shows no credentials.", "https://me:s3%zzcret@h/r", "https://h/r", "", "address is not the URL of a repository"},
		"BrokenPort":  {"A password with a slash shows no credentials.", "https://me:s3cret/x@h/r", "https://h/r", "", "address is not the URL of a repository"},
		"LikePort":    {"A password that looks like a port shows no credentials.", "https://me:12/s3cret@h/r", "https://h/r", "", "address is not the URL of a repository"},
		"Query":       {"A token in the query is refused, and not shown.", "https://h/r?private_token=s3cret", "https://h/r", "", "address is not the URL of a repository"},
		"NoHost":      {"A URL needs a host.", "https:///r", "https:///r", "", "address has no host or no repository"},
		"NoPath":      {"A URL needs a repository.", "https://h/", "https://h/", "", "address has no host or no repository"},
		"Scheme":      {"Another scheme is refused.", "git://h/r", "git://h/r", "", `unsupported scheme "git"`},
		"SSH":         {"An SSH URL is accepted.", "ssh://git@h:2222/org/r.git", "ssh://h:2222/org/r.git", "shell h 2222 /org/r.git git", ""},
		"SSHPassword": {"A password over SSH is accepted.", "ssh://git:s3cret@h/r", "ssh://h/r", "shell h  /r git s3cret", ""},
		"SSHHome":     {"A path below a home folder is accepted.", "ssh://h/~me/r", "ssh://h/~me/r", "shell h  ~me/r", ""},
		"Short":       {"The short form of SSH is accepted.", "git@github.com:org/r.git", "git@github.com:org/r.git", "shell github.com  org/r.git git", ""},
		"ShortNoUser": {"The short form may have no user.", "h:r", "h:r", "shell h  r", ""},
		"ShortV6":     {"The short form may have an IPv6 address.", "git@[::1]:org/r", "git@[::1]:org/r", "shell ::1  org/r git", ""},
		"ShortSecret": {"The short form cannot have a password.", "me:s3cret@h:r", "h:r", "", "an address of this form cannot contain a password"},
		"OneSlash":    {"A URL with a missing slash shows no password.", "https:/me:s3cret@h/r", "https:/h/r", "", "cannot contain a password"},
		"NoColon":     {"A URL with a missing colon is a path, and shows no password.", "https//me:s3cret@h/r", "https//h/r", "local " + filepath.Join(here, "https/me:s3cret@h/r"), ""},
		"Relative":    {"A folder is accepted.", "a/b", "a/b", "local " + filepath.Join(here, "a/b"), ""},
		"Colon":       {"A folder may have a colon in its name.", "./a:b", "./a:b", "local " + filepath.Join(here, "a:b"), ""},
		"File":        {"A file URL is accepted.", "file:///srv/a%20b", "file:///srv/a%20b", "local " + filepath.FromSlash("/srv/a b"), ""},
		"FileHost":    {"A file URL with a host is refused.", "file://h/srv", "file://h/srv", "", `file URL names host "h"`},
		"ColonAt":     {"A path may have an at sign.", "h:a/b@c", "h:a/b@c", "shell h  a/b@c", ""},
		"Empty":       {"nothing", "", "", "", "address is empty"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			at, err := ParseAddress(tc.given)
			if at.Shown != tc.shown {
				t.Errorf("%s\naddress is shown as %q, want %q", tc.reason, at.Shown, tc.shown)
			}
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(fmt.Sprintf("%+v", err), "s3cret") {
					t.Errorf("%s\nerror is %v, want %q", tc.reason, err, tc.err)
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
				t.Errorf("%s\naddress is parsed as %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// FuzzParseAddress checks that a password in a URL is never shown.
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
