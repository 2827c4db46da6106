package git

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		"GitHub":    {"GitHub has blob URLs.", "https://me:s3cret@github.com/org/repo.git", branch, "d/a.yaml", Options{}, "url:https://github.com/org/repo/blob/main/d/a.yaml"},
		"Short":     {"A short SSH address is converted to HTTPS.", "git@github.com:org/repo.git", branch, "d/a.yaml", Options{}, "url:https://github.com/org/repo/blob/main/d/a.yaml"},
		"SSH":       {"The SSH port is not used for HTTPS.", "ssh://git@git.example.com:2222/org/repo", branch, "a.yaml", Options{}, "url:https://git.example.com/org/repo/blob/main/a.yaml"},
		"GitLab":    {"GitLab has its own URL format.", "https://gitlab.example.com/a/b/repo.git/", branch, "a.yaml", Options{}, "url:https://gitlab.example.com/a/b/repo/-/blob/main/a.yaml"},
		"Bitbucket": {"Bitbucket has its own URL format.", "https://bitbucket.org/org/repo", branch, "a.yaml", Options{}, "url:https://bitbucket.org/org/repo/src/main/a.yaml"},
		"Codeberg":  {"Codeberg has the type of the ref in the URL.", "https://codeberg.org/org/repo", target{kind: "tag", name: "v1"}, "a.yaml", Options{}, "url:https://codeberg.org/org/repo/src/tag/v1/a.yaml"},
		"Azure":     {"Azure DevOps has path and ref in the query.", "https://org@dev.azure.com/org/p/_git/repo", target{kind: "commit", name: "abc"}, "d/a.yaml", Options{}, "url:https://dev.azure.com/org/p/_git/repo?path=/d/a.yaml&version=GCabc"},
		"Slashes":   {"Slashes are kept, other characters are escaped.", "https://h/r", target{kind: "branch", name: "feature/#1"}, "a b/c?.yaml", Options{}, "url:https://h/r/blob/feature/%231/a%20b/c%3F.yaml"},
		"NotUTF8":   {"Bytes that are not UTF-8 are escaped.", "https://h/r", branch, "\xff.yaml", Options{}, "url:https://h/r/blob/main/%FF.yaml"},
		"Port":      {"The port is kept.", "http://h:8080/r", branch, "a.yaml", Options{}, "url:http://h:8080/r/blob/main/a.yaml"},
		"Local":     {"A local folder becomes a file URL.", "/srv/my defs", branch, "d/a.yaml", Options{}, "url:file:///srv/my%20defs/d/a.yaml"},
		"Web":       {"The web address can be configured.", "git@git.example.com:org/repo.git", branch, "d/a b.yaml", Options{Web: "https://code.example.com/repo/-/blob/{ref}/{path}"}, "url:https://code.example.com/repo/-/blob/main/d/a%20b.yaml"},
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
