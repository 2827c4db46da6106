package forge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePage(t *testing.T) {
	cases := map[string]struct{ reason, address, host, repository, rest, err string }{
		"GitHub":     {"a folder", "https://GitHub.com/acme/live/tree/main/a/b", "github.com", "acme/live", "main/a/b", ""},
		"File":       {"a file", "https://github.com/acme/live/blob/main/a.yaml", "github.com", "acme/live", "main/a.yaml", ""},
		"Raw":        {"a file as it is", "https://github.com/acme/live/raw/v1/a.yaml", "github.com", "acme/live", "v1/a.yaml", ""},
		"Escaped":    {"names with spaces", "https://github.com/acme/live/blob/main/a%20b.yaml", "github.com", "acme/live", "main/a b.yaml", ""},
		"Names":      {"names that look like markers", "https://github.com/tree/blob/tree/tree/blob", "github.com", "tree/blob", "tree/blob", ""},
		"GitLab":     {"groups in groups", "https://gitlab.com/a/b/c/d/-/tree/main/x?ref_type=heads", "gitlab.com", "a/b/c/d", "main/x", ""},
		"Group":      {"a group that looks like a marker", "https://gitlab.com/a/b/-/blob/main/src/branch/x", "gitlab.com", "a/b", "main/src/branch/x", ""},
		"Gitea":      {"a branch", "https://git.example.com:8443/acme/live/src/branch/main/a", "git.example.com:8443", "acme/live", "main/a", ""},
		"GiteaRaw":   {"a tag", "https://git.example.com/acme/live/raw/tag/v1/a", "git.example.com", "acme/live", "v1/a", ""},
		"Bitbucket":  {"no kind of name", "https://bitbucket.org/acme/live/src/main/a", "bitbucket.org", "acme/live", "main/a", ""},
		"Whole":      {"a repository", "https://github.com/acme/live/", "github.com", "acme/live", "", ""},
		"Git":        {"as Git has it, with a folder", "https://host/defs.git/tree/main/x", "host", "defs.git", "main/x", ""},
		"Alone":      {"one name will do", "https://host/defs", "host", "defs", "", ""},
		"SSH":        {"over SSH", "ssh://git@host:2222/acme/live.git", "host:2222", "acme/live.git", "", ""},
		"Short":      {"in the short form", "git@github.com:acme/live.git", "github.com", "acme/live.git", "", ""},
		"Fragment":   {"a line of a file", "https://github.com/acme/live/blob/main/a.yaml#L3", "github.com", "acme/live", "main/a.yaml", ""},
		"Dots":       {"out of the repository", "https://github.com/acme/live/tree/main/../../x", "", "", "", "cannot read the address"},
		"Hidden":     {"the same, written otherwise", "https://github.com/acme/live/tree/main/%2e%2e/x", "", "", "", "cannot read the address"},
		"Option":     {"a name that looks like an option", "https://github.com/--upload-pack=x/live", "", "", "", "cannot read the address"},
		"Query":      {"another way to name a file", "https://dev.azure.com/o/p/_git/r?path=/x", "", "", "", "cannot read the address"},
		"Scheme":     {"a way that is none", "ftp://host/a/b", "", "", "", "cannot read the address"},
		"Disk":       {"a file of this machine", "file:///etc/passwd", "", "", "", "cannot read the address"},
		"NoHost":     {"nowhere", "https:///a/b", "", "", "", "cannot read the address"},
		"NoName":     {"nothing", "https://host/", "", "", "", "cannot read the address"},
		"Password":   {"credentials do not belong there", "https://me:s3cr3t@host/a/b", "", "", "", "there is a user name or password in it"},
		"User":       {"a token neither", "https://s3cr3t@host/a/b", "", "", "", "there is a user name or password in it"},
		"NoURL":      {"not even a URL", "https://me:s3cr3t%@host/a/b", "", "", "", "cannot read the address"},
		"LineBreaks": {"what could forge a line", "https://host/a/b/tree/main/x%0ay", "", "", "", "cannot read the address"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := ParsePage(tc.address)
			if (err == nil) != (tc.err == "") || err != nil && (!strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), "s3cr3t")) {
				t.Fatalf("%s: %v, want %q", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff([]string{tc.host, tc.repository, tc.rest}, []string{p.Host, p.Repository, p.Rest}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if again, err2 := ParsePage(p.String()); err == nil && (err2 != nil || !cmp.Equal(again, p, cmp.AllowUnexported(Page{}))) {
				t.Errorf("%s: %q is read as %v, %v", tc.reason, p, again, err2)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	cases := map[string]struct{ reason, base, to, want, err string }{
		"Beside":  {"beside a file", "https://github.com/a/b/blob/main/t/template.yaml", "./skeleton", "https://github.com/a/b/blob/main/t/skeleton", ""},
		"Up":      {"a folder up", "https://github.com/a/b/blob/main/t/template.yaml", "../shared/x", "https://github.com/a/b/blob/main/shared/x", ""},
		"Folder":  {"in a folder", "https://github.com/a/b/tree/main/t/", "skeleton/", "https://github.com/a/b/tree/main/t/skeleton/", ""},
		"Open":    {"a folder without a slash is taken for a file, as in URLs", "https://github.com/a/b/tree/main/t", "skeleton", "https://github.com/a/b/tree/main/skeleton", ""},
		"Top":     {"from the top", "https://gitlab.com/a/b/c/-/blob/main/t/x.yaml", "/skeleton", "https://gitlab.com/a/b/c/-/blob/main/skeleton", ""},
		"Itself":  {"the folder itself", "https://github.com/a/b/blob/main/t/template.yaml", ".", "https://github.com/a/b/blob/main/t", ""},
		"Slashes": {"a branch with a slash in its name", "https://github.com/a/b/blob/feature/x/template.yaml", "./skeleton", "https://github.com/a/b/blob/feature/x/skeleton", ""},
		"Whole":   {"a repository at no branch", "https://github.com/a/b", "./skeleton", "https://github.com/a/b/tree/HEAD/skeleton", ""},
		"Branch":  {"a branch alone", "https://git.example.com/a/b/src/branch/main", "./skeleton", "https://git.example.com/a/b/src/branch/main/skeleton", ""},
		"Out":     {"above the top", "https://github.com/a/b/blob/main/t/template.yaml", "../../x", "", "leads out of the repository"},
		"OutTop":  {"above the top, from there", "https://github.com/a/b/blob/main/t/template.yaml", "/../x", "", "leads out of the repository"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			base, err := ParsePage(tc.base)
			if err != nil {
				t.Fatal(err)
			}
			p, err := base.Resolve(tc.to)
			if err != nil {
				if tc.err == "" || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if got := strings.TrimSuffix(p.String(), "/"); got != strings.TrimSuffix(tc.want, "/") {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func FuzzParsePage(f *testing.F) {
	for _, s := range []string{"https://github.com/a/b/tree/main/x", "git@h:a/b.git", "https://gitlab.com/a/b/-/blob/m/x?ref_type=heads", "https://h/a%2F..%2Fb", "ssh://git@h/a"} {
		f.Add(s, "../x")
	}
	f.Fuzz(func(t *testing.T, address, to string) {
		p, err := ParsePage(address)
		if err != nil {
			return
		}
		if again, err := ParsePage(p.String()); err != nil || again.Repository != p.Repository || again.Rest != p.Rest || again.Host != p.Host {
			t.Errorf("%q is read as %+v and, written as %q, as %+v (%v)", address, p, p, again, err)
		}
		q, err := p.Resolve(to)
		if err != nil {
			return
		}
		for part := range strings.SplitSeq(q.Repository+"/"+q.Rest, "/") {
			if part == ".." || part == "." || part == "" {
				t.Errorf("%q from %q is %+v", to, address, q)
			}
		}
		if q.Repository != p.Repository || q.Host != p.Host {
			t.Errorf("%q leads from %+v to %+v", to, p, q)
		}
	})
}
