package expression

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
)

func TestFilters(t *testing.T) {
	own := map[string]string{"git.acme.io": GitHub, "lab.acme.io:8443": GitLab, "bb.acme.io": BitbucketServer, "g.acme.io": Gitea, "r.acme.io": Gerrit}
	cases := map[string]struct {
		reason, expression, want string
		hosts                    map[string]string
	}{
		"GitHub":      {"what a picker returns", `"github.com?owner=acme&repo=shop" | parseRepoUrl`, `{host: github.com, owner: acme, repo: shop}`, nil},
		"Slug":        {"as one word", `"github.com?owner=acme&repo=shop" | projectSlug`, `acme/shop`, nil},
		"Escaped":     {"a group within a group", `"gitlab.com?owner=a%2Fb&repo=shop" | projectSlug`, `a/b/shop`, nil},
		"Slashes":     {"slashes around a part go", `"github.com?owner=/acme/&repo=shop/" | parseRepoUrl`, `{host: github.com, owner: acme, repo: shop}`, nil},
		"Case":        {"hosts are written small", `"GitHub.com?repo=shop&owner=acme" | parseRepoUrl | pick("host")`, `github.com`, nil},
		"Project":     {"a project is enough for GitLab", `"gitlab.com?project=12" | parseRepoUrl`, `{host: gitlab.com, project: "12"}`, nil},
		"Azure":       {"what Azure wants", `"dev.azure.com?organization=o&project=p&repo=r&owner=x" | parseRepoUrl`, `{host: dev.azure.com, owner: x, repo: r, organization: o, project: p}`, nil},
		"Bitbucket":   {"what Bitbucket wants", `"bitbucket.org?workspace=w&project=p&repo=r" | parseRepoUrl`, `{host: bitbucket.org, repo: r, workspace: w, project: p}`, nil},
		"Elsewhere":   {"any host, if none is configured", `"git.acme.io?owner=a&repo=r" | projectSlug`, `a/r`, nil},
		"Own":         {"A configured host is supported.", `"git.acme.io?owner=a&repo=r" | projectSlug`, `a/r`, own},
		"Port":        {"with a port", `"lab.acme.io:8443?owner=a&repo=r" | parseRepoUrl | pick("host")`, `lab.acme.io:8443`, own},
		"Server":      {"what a Bitbucket server wants", `"bb.acme.io?project=p&repo=r" | parseRepoUrl`, `{host: bb.acme.io, repo: r, project: p}`, own},
		"Gitea":       {"what Gitea wants", `"g.acme.io?repo=r" | parseRepoUrl`, `{host: g.acme.io, repo: r}`, own},
		"Gerrit":      {"what Gerrit wants", `"r.acme.io?repo=r" | parseRepoUrl`, `{host: r.acme.io, repo: r}`, own},
		"Unknown":     {"a host that is not configured", `"github.com?owner=a&repo=r" | projectSlug`, "error: no integration is configured for host github.com", own},
		"NoRepo":      {"half an address", `"github.com?owner=a" | parseRepoUrl`, "error: repo is missing", nil},
		"NoOwner":     {"the other half", `"github.com?repo=a" | parseRepoUrl`, "error: owner is missing", nil},
		"NoWorkspace": {"A missing parameter is reported.", `"bitbucket.org?project=p&repo=r" | parseRepoUrl`, "error: workspace is missing", nil},
		"NoSlug":      {"no owner, no slug", `"gitlab.com?project=12" | projectSlug`, "error: has no owner", nil},
		"Address":     {"an address of the web", `"https://github.com/acme/shop" | parseRepoUrl`, "error: cannot read repository URL", nil},
		"Nothing":     {"nothing was picked", `parameters.none | parseRepoUrl`, "error: not a string", nil},
		"Ref":         {"a whole reference", `"component:ns/shop" | parseEntityRef`, `{kind: component, namespace: ns, name: shop}`, nil},
		"RefDefault":  {"the namespace may be left out", `"component:shop" | parseEntityRef`, `{kind: component, namespace: default, name: shop}`, nil},
		"RefKind":     {"so may the kind, if there is another", `"shop" | parseEntityRef({defaultKind: "api", defaultNamespace: "x"}) | dump`, `'{"kind":"api","namespace":"x","name":"shop"}'`, nil},
		"RefObject":   {"an object", `{kind: "api", name: "shop"} | parseEntityRef`, `{kind: api, namespace: default, name: shop}`, nil},
		"RefColon":    {"a colon in the name", `"ns/a:b" | parseEntityRef({defaultKind: "api"})`, `{kind: api, namespace: ns, name: "a:b"}`, nil},
		"RefNoKind":   {"no kind at all", `"shop" | parseEntityRef`, "error: kind is missing", nil},
		"RefNoName":   {"no name", `"api:ns/" | parseEntityRef`, "error: name is missing", nil},
		"RefEmpty":    {"nothing", `"" | parseEntityRef`, "error: empty value", nil},
		"Pick":        {"a path", `{a: [{b: 1}]} | pick("a[0].b")`, `1`, nil},
		"PickKey":     {"a key with a dot", `{"a.b": 1, a: {b: 2} } | pick("a.b")`, `1`, nil},
		"PickQuoted":  {"a key in quotes", `{a: {"b c": 2} } | pick('a["b c"]')`, `2`, nil},
		"PickElse":    {"something else", `{a: 1} | pick("b", "c")`, `c`, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Evaluate(tree.Str("${{ "+tc.expression+" }}"), nil, &Env{Filters: Filters(tc.hosts)})
			if why, ok := strings.CutPrefix(tc.want, "error: "); ok {
				if err == nil || !strings.Contains(err.Error(), why) {
					t.Errorf("%s: got %s, %v; want %s", tc.reason, written(got), err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(decoded(t, "a: "+tc.want).Get("a"), got); diff != "" {
				t.Errorf("%s: got %s: %s", tc.reason, written(got), diff)
			}
		})
	}
}
