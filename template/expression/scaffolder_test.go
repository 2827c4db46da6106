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
		"GitHub":      {"The result of a repository picker is parsed.", `"github.com?owner=acme&repo=shop" | parseRepoUrl`, `{host: github.com, owner: acme, repo: shop}`, nil},
		"Slug":        {"projectSlug returns owner and repository.", `"github.com?owner=acme&repo=shop" | projectSlug`, `acme/shop`, nil},
		"Escaped":     {"An owner may be a nested group.", `"gitlab.com?owner=a%2Fb&repo=shop" | projectSlug`, `a/b/shop`, nil},
		"Slashes":     {"Slashes around a part are removed.", `"github.com?owner=/acme/&repo=shop/" | parseRepoUrl`, `{host: github.com, owner: acme, repo: shop}`, nil},
		"Case":        {"Hosts are converted to lower case.", `"GitHub.com?repo=shop&owner=acme" | parseRepoUrl | pick("host")`, `github.com`, nil},
		"Project":     {"GitLab accepts a project.", `"gitlab.com?project=12" | parseRepoUrl`, `{host: gitlab.com, project: "12"}`, nil},
		"Azure":       {"Azure needs an organization, a project and a repository.", `"dev.azure.com?organization=o&project=p&repo=r&owner=x" | parseRepoUrl`, `{host: dev.azure.com, owner: x, repo: r, organization: o, project: p}`, nil},
		"Bitbucket":   {"Bitbucket Cloud needs a workspace, a project and a repository.", `"bitbucket.org?workspace=w&project=p&repo=r" | parseRepoUrl`, `{host: bitbucket.org, repo: r, workspace: w, project: p}`, nil},
		"Elsewhere":   {"Without configured integrations any host is accepted.", `"git.acme.io?owner=a&repo=r" | projectSlug`, `a/r`, nil},
		"Own":         {"A configured host is supported.", `"git.acme.io?owner=a&repo=r" | projectSlug`, `a/r`, own},
		"Port":        {"A host may have a port.", `"lab.acme.io:8443?owner=a&repo=r" | parseRepoUrl | pick("host")`, `lab.acme.io:8443`, own},
		"Server":      {"Bitbucket Server needs a project and a repository.", `"bb.acme.io?project=p&repo=r" | parseRepoUrl`, `{host: bb.acme.io, repo: r, project: p}`, own},
		"Gitea":       {"Gitea needs only a repository.", `"g.acme.io?repo=r" | parseRepoUrl`, `{host: g.acme.io, repo: r}`, own},
		"Gerrit":      {"Gerrit needs only a repository.", `"r.acme.io?repo=r" | parseRepoUrl`, `{host: r.acme.io, repo: r}`, own},
		"Unknown":     {"A host without an integration is refused.", `"github.com?owner=a&repo=r" | projectSlug`, "error: no integration is configured for host github.com", own},
		"NoRepo":      {"A missing repository is reported.", `"github.com?owner=a" | parseRepoUrl`, "error: repo is missing", nil},
		"NoOwner":     {"A missing owner is reported.", `"github.com?repo=a" | parseRepoUrl`, "error: owner is missing", nil},
		"NoWorkspace": {"A missing parameter is reported.", `"bitbucket.org?project=p&repo=r" | parseRepoUrl`, "error: workspace is missing", nil},
		"NoSlug":      {"A slug needs an owner.", `"gitlab.com?project=12" | projectSlug`, "error: has no owner", nil},
		"Address":     {"A web URL is refused.", `"https://github.com/acme/shop" | parseRepoUrl`, "error: cannot read repository URL", nil},
		"Nothing":     {"A missing value is refused.", `parameters.none | parseRepoUrl`, "error: not a string", nil},
		"Ref":         {"A complete reference is parsed.", `"component:ns/shop" | parseEntityRef`, `{kind: component, namespace: ns, name: shop}`, nil},
		"RefDefault":  {"The namespace may be left out.", `"component:shop" | parseEntityRef`, `{kind: component, namespace: default, name: shop}`, nil},
		"RefKind":     {"The kind may be left out if there is a default.", `"shop" | parseEntityRef({defaultKind: "api", defaultNamespace: "x"}) | dump`, `'{"kind":"api","namespace":"x","name":"shop"}'`, nil},
		"RefObject":   {"An object is accepted.", `{kind: "api", name: "shop"} | parseEntityRef`, `{kind: api, namespace: default, name: shop}`, nil},
		"RefColon":    {"A name may contain a colon.", `"ns/a:b" | parseEntityRef({defaultKind: "api"})`, `{kind: api, namespace: ns, name: "a:b"}`, nil},
		"RefNoKind":   {"A missing kind is reported.", `"shop" | parseEntityRef`, "error: kind is missing", nil},
		"RefNoName":   {"A missing name is reported.", `"api:ns/" | parseEntityRef`, "error: name is missing", nil},
		"RefEmpty":    {"An empty reference is reported.", `"" | parseEntityRef`, "error: empty value", nil},
		"Pick":        {"pick accepts a path.", `{a: [{b: 1}]} | pick("a[0].b")`, `1`, nil},
		"PickKey":     {"pick prefers a key that contains a dot.", `{"a.b": 1, a: {b: 2} } | pick("a.b")`, `1`, nil},
		"PickQuoted":  {"pick accepts a quoted key.", `{a: {"b c": 2} } | pick('a["b c"]')`, `2`, nil},
		"PickElse":    {"pick returns the default for a missing key.", `{a: 1} | pick("b", "c")`, `c`, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Evaluate(tree.Str("${{ "+tc.expression+" }}"), nil, &Env{Filters: Filters(tc.hosts)})
			if why, ok := strings.CutPrefix(tc.want, "error: "); ok {
				if err == nil || !strings.Contains(err.Error(), why) {
					t.Errorf("%s\ngot %s, %v; want %s", tc.reason, written(got), err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if diff := cmp.Diff(decoded(t, "a: "+tc.want).Get("a"), got); diff != "" {
				t.Errorf("%s\ngot %s: %s", tc.reason, written(got), diff)
			}
		})
	}
}
