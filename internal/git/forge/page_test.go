package forge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePage(t *testing.T) {
	cases := map[string]struct{ reason, address, host, repository, rest, err string }{
		"GitHub":     {"A folder of GitHub is parsed.", "https://GitHub.com/acme/live/tree/main/a/b", "github.com", "acme/live", "main/a/b", ""},
		"File":       {"A file of GitHub is parsed.", "https://github.com/acme/live/blob/main/a.yaml", "github.com", "acme/live", "main/a.yaml", ""},
		"Raw":        {"A raw file of GitHub is parsed.", "https://github.com/acme/live/raw/v1/a.yaml", "github.com", "acme/live", "v1/a.yaml", ""},
		"Escaped":    {"Names with spaces are unescaped.", "https://github.com/acme/live/blob/main/a%20b.yaml", "github.com", "acme/live", "main/a b.yaml", ""},
		"Names":      {"Names that look like markers are parsed.", "https://github.com/tree/blob/tree/tree/blob", "github.com", "tree/blob", "tree/blob", ""},
		"GitLab":     {"Nested groups of GitLab are parsed.", "https://gitlab.com/a/b/c/d/-/tree/main/x?ref_type=heads", "gitlab.com", "a/b/c/d", "main/x", ""},
		"Group":      {"A GitLab path that looks like a marker is parsed.", "https://gitlab.com/a/b/-/blob/main/src/branch/x", "gitlab.com", "a/b", "main/src/branch/x", ""},
		"Gitea":      {"A branch of Gitea is parsed.", "https://git.example.com:8443/acme/live/src/branch/main/a", "git.example.com:8443", "acme/live", "main/a", ""},
		"GiteaRaw":   {"A tag of Gitea is parsed.", "https://git.example.com/acme/live/raw/tag/v1/a", "git.example.com", "acme/live", "v1/a", ""},
		"Bitbucket":  {"A page of Bitbucket is parsed.", "https://bitbucket.org/acme/live/src/main/a", "bitbucket.org", "acme/live", "main/a", ""},
		"Whole":      {"A repository is parsed.", "https://github.com/acme/live/", "github.com", "acme/live", "", ""},
		"Git":        {"A Git URL with a folder is parsed.", "https://host/defs.git/tree/main/x", "host", "defs.git", "main/x", ""},
		"Alone":      {"A repository of one name is parsed.", "https://host/defs", "host", "defs", "", ""},
		"SSH":        {"An SSH URL is parsed.", "ssh://git@host:2222/acme/live.git", "host:2222", "acme/live.git", "", ""},
		"Short":      {"The short form of SSH is parsed.", "git@github.com:acme/live.git", "github.com", "acme/live.git", "", ""},
		"Fragment":   {"A fragment is ignored.", "https://github.com/acme/live/blob/main/a.yaml#L3", "github.com", "acme/live", "main/a.yaml", ""},
		"Dots":       {"A path that escapes the repository is refused.", "https://github.com/acme/live/tree/main/../../x", "", "", "", "cannot parse address"},
		"Hidden":     {"An escaped path that escapes the repository is refused.", "https://github.com/acme/live/tree/main/%2e%2e/x", "", "", "", "cannot parse address"},
		"Option":     {"A name that looks like an option is refused.", "https://github.com/--upload-pack=x/live", "", "", "", "cannot parse address"},
		"Query":      {"A page of Azure is refused.", "https://dev.azure.com/o/p/_git/r?path=/x", "", "", "", "cannot parse address"},
		"Scheme":     {"Another scheme is refused.", "ftp://host/a/b", "", "", "", "cannot parse address"},
		"Disk":       {"A local file is refused.", "file:///etc/passwd", "", "", "", "cannot parse address"},
		"NoHost":     {"nowhere", "https:///a/b", "", "", "", "cannot parse address"},
		"NoName":     {"nothing", "https://host/", "", "", "", "cannot parse address"},
		"Password":   {"A password in a URL is refused.", "https://me:s3cr3t@host/a/b", "", "", "", "it contains a user name or password"},
		"User":       {"A token in a URL is refused.", "https://s3cr3t@host/a/b", "", "", "", "it contains a user name or password"},
		"NoURL":      {"An invalid URL is refused.", "https://me:s3cr3t%@host/a/b", "", "", "", "cannot parse address"},
		"LineBreaks": {"A line break is refused.", "https://host/a/b/tree/main/x%0ay", "", "", "", "cannot parse address"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := ParsePage(tc.address)
			if (err == nil) != (tc.err == "") || err != nil && (!strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), "s3cr3t")) {
				t.Fatalf("%s: error is %v, want %q", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff([]string{tc.host, tc.repository, tc.rest}, []string{p.Host, p.Repository, p.Rest}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if again, err2 := ParsePage(p.String()); err == nil && (err2 != nil || !cmp.Equal(again, p, cmp.AllowUnexported(Page{}))) {
				t.Errorf("%s: %q is parsed again as %v, %v", tc.reason, p, again, err2)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	cases := map[string]struct{ reason, base, to, want, err string }{
		"Beside":  {"A path is relative to the folder of a file.", "https://github.com/a/b/blob/main/t/template.yaml", "./skeleton", "https://github.com/a/b/blob/main/t/skeleton", ""},
		"Up":      {"A path may lead up.", "https://github.com/a/b/blob/main/t/template.yaml", "../shared/x", "https://github.com/a/b/blob/main/shared/x", ""},
		"Folder":  {"A path is relative to a folder with a slash.", "https://github.com/a/b/tree/main/t/", "skeleton/", "https://github.com/a/b/tree/main/t/skeleton/", ""},
		"Open":    {"A folder without a slash is taken for a file, as in URLs.", "https://github.com/a/b/tree/main/t", "skeleton", "https://github.com/a/b/tree/main/skeleton", ""},
		"Top":     {"A path may start at the root of the repository.", "https://gitlab.com/a/b/c/-/blob/main/t/x.yaml", "/skeleton", "https://gitlab.com/a/b/c/-/blob/main/skeleton", ""},
		"Itself":  {"A dot is the folder itself.", "https://github.com/a/b/blob/main/t/template.yaml", ".", "https://github.com/a/b/blob/main/t", ""},
		"Slashes": {"A branch may have a slash.", "https://github.com/a/b/blob/feature/x/template.yaml", "./skeleton", "https://github.com/a/b/blob/feature/x/skeleton", ""},
		"Whole":   {"A repository without a branch uses HEAD.", "https://github.com/a/b", "./skeleton", "https://github.com/a/b/tree/HEAD/skeleton", ""},
		"Branch":  {"A branch without a path is the root.", "https://git.example.com/a/b/src/branch/main", "./skeleton", "https://git.example.com/a/b/src/branch/main/skeleton", ""},
		"Out":     {"A path above the root is refused.", "https://github.com/a/b/blob/main/t/template.yaml", "../../x", "", "escapes the repository"},
		"OutTop":  {"An absolute path above the root is refused.", "https://github.com/a/b/blob/main/t/template.yaml", "/../x", "", "escapes the repository"},
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
					t.Errorf("%s: error is %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if got := strings.TrimSuffix(p.String(), "/"); got != strings.TrimSuffix(tc.want, "/") {
				t.Errorf("%s: page is %q, want %q", tc.reason, got, tc.want)
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
			t.Errorf("%q is parsed as %+v and, formatted as %q, as %+v (%v)", address, p, p, again, err)
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
			t.Errorf("%q leads from %+v to another repository: %+v", to, p, q)
		}
	})
}
