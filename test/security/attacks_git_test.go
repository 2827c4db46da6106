package security_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestPrivateRepository reads a repository that only the portal's token opens.
func TestPrivateRepository(t *testing.T) {
	w := enter(t)
	page := w.git.url + "/acme/private"
	show := `, {id: show, action: "debug:log", input: {listWorkspace: with-contents}}`
	fetch := func(url string) string {
		return `{id: fetch, action: "fetch:plain", input: {url: "` + url + `"}}` + show
	}
	cases := map[string]struct{ reason, annotations, steps string }{
		"address":         {"by its address", "", fetch(page)},
		"git":             {"by the address of Git", "", fetch(page + ".git")},
		"page":            {"by the page of a branch", "", fetch(page + "/src/branch/main")},
		"capitals":        {"in capitals", "", fetch(strings.Replace(page, "acme/private", "ACME/Private", 1))},
		"dots":            {"past a repository that others may read", "", fetch(w.git.url + "/acme/named/../private")},
		"escaped":         {"with escaped dots", "", fetch(w.git.url + "/acme/named/%2e%2e/private")},
		"beside":          {"as the place the Template comes from", `backstage.io/source-location: "url:` + page + `/src/branch/main/x.yaml"`, fetch("./")},
		"managed":         {"as the place it is managed by", `backstage.io/managed-by-location: "url:` + page + `/src/branch/main/x.yaml"`, fetch("./")},
		"from the top":    {"from the top of that repository", `backstage.io/source-location: "url:` + page + `/src/branch/main/x/x.yaml"`, fetch("/")},
		"template":        {"as a skeleton", "", `{id: fetch, action: "fetch:template", input: {url: "` + page + `", values: {}}}` + show},
		"file":            {"as one file", "", `{id: fetch, action: "fetch:plain:file", input: {url: "` + page + `/src/branch/main/plan.txt", targetPath: a.txt}}` + show},
		"empty token":     {"with a token that is empty", "", `{id: fetch, action: "fetch:plain", input: {url: "` + page + `", token: ""}}` + show},
		"expression":      {"by an address that is put together", "", fetch("${{ 'http://" + w.git.name + "/acme/' ~ 'private' }}")},
		"after a step":    {"by an address from a step before", "", `{id: say, action: "debug:log", input: {message: x}}, ` + fetch("${{ steps.say.output.x or '"+page+"' }}")},
		"each":            {"in a loop", "", `{id: fetch, action: "fetch:plain", each: ["` + page + `"], input: {url: "${{ each.value }}"}}` + show},
		"change request":  {"as the base of a change", "", `{id: x, action: "publish:change-request", input: {repoUrl: "` + page + `", manifest: ` + configMap("a", "b", "") + `}}`},
		"commit":          {"by committing to it", "", `{id: x, action: "git:commit", input: {repoUrl: "` + page + `", branch: main, manifest: ` + configMap("a", "b", "") + `}}`},
		"commit ?":        {"by the other spelling", "", `{id: x, action: "git:commit", input: {repoUrl: "` + w.git.name + `?owner=acme&repo=private", branch: main, manifest: ` + configMap("a", "b", "") + `}}`},
		"commit .git":     {"with a suffix", "", `{id: x, action: "git:commit", input: {repoUrl: "` + page + `.git", branch: main, manifest: ` + configMap("a", "b", "") + `}}`},
		"commit capitals": {"in capitals", "", `{id: x, action: "git:commit", input: {host: "` + w.git.name + `", repository: "ACME/private", branch: main, manifest: ` + configMap("a", "b", "") + `}}`},
	}
	before := w.git.refs(t, "acme/private")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := w.as(t, bob)
			dry := c.do(http.MethodPost, api+"/dry-run", `{"template":`+asJSON(t, template(unique("private"), tc.annotations, tc.steps))+`,"values":{}}`)
			hides(t, dry.body, privateText, gitToken)
			if !strings.Contains(dry.body, `"name":"`) {
				t.Errorf("%s: a dry run is refused: %d %s", tc.reason, dry.status, dry.body)
			}
			made := unique("private")
			c.pushed("granted", template(made, tc.annotations, tc.steps))
			hides(t, c.stopped(made, "{}").told, privateText, gitToken)
			if after := w.git.refs(t, "acme/private"); after != before {
				t.Errorf("%s: the repository was changed:\n%s", tc.reason, after)
			}
		})
	}
	t.Run("filled in", func(t *testing.T) {
		t.Parallel()
		c := w.as(t, bob)
		if r := c.completes("trusted-fetch", `{"url":"`+w.git.url+`/acme/named"}`); !strings.Contains(r.told, privateText) {
			t.Errorf("a Template of the operator reads the repository that it names: %s", r.told)
		}
		hides(t, c.stopped("trusted-fetch", `{"url":"`+page+`"}`, "git.repository.read").told, privateText)
	})
	t.Run("dry run of a trusted spec", func(t *testing.T) {
		t.Parallel()
		// The spec is that of the operator; where it comes from is claimed.
		c := w.as(t, bob)
		var spec string
		found := c.want(http.StatusOK, http.MethodGet, "/api/catalog/entities/by-name/template/default/trusted-beside", "").body
		_, spec, _ = strings.Cut(found, `"spec":`)
		spec, _, _ = strings.Cut(spec, `,"relations"`)
		for _, at := range []string{"url:" + page + "/src/branch/main/x.yaml", "url:file://" + w.portal.dir + "/x.yaml", "file:" + w.portal.dir + "/x.yaml"} {
			a := c.do(http.MethodPost, api+"/dry-run", `{"values":{},"template":{"apiVersion":"scaffolder.backstage.io/v1beta3","kind":"Template","metadata":{"name":"trusted-beside","annotations":{"backstage.io/source-location":"`+at+`","backstage.io/managed-by-location":"`+at+`"}},"spec":`+strings.TrimSuffix(spec, "}")+`}}}`)
			if a.status == http.StatusOK {
				t.Errorf("a dry run from %s works: %s", at, a.body)
			}
			hides(t, a.body, append(w.secrets(), privateText, "beside the Template")...)
		}
	})
}

// TestPipelines writes CI definitions, and to branches that the Template does not
// name.
func TestPipelines(t *testing.T) {
	w := enter(t)
	cases := map[string]struct{ reason, values string }{
		"workflow":       {"a workflow", `{"path":".github/workflows/x.yml","content":"x"}`},
		"capitals":       {"in capitals", `{"path":".GitHub/Workflows/X.yml","content":"x"}`},
		"dots":           {"past a folder", `{"path":"a/../.github/workflows/x.yml","content":"x"}`},
		"slashes":        {"with slashes", `{"path":"./.github//workflows/x.yml","content":"x"}`},
		"gitlab":         {"of GitLab", `{"path":".gitlab-ci.yml","content":"x"}`},
		"gitea":          {"of Gitea", `{"path":".gitea/workflows/x.yml","content":"x"}`},
		"jenkins":        {"of Jenkins", `{"path":"deep/Jenkinsfile","content":"x"}`},
		"codeowners":     {"who reviews", `{"path":".github/CODEOWNERS","content":"x"}`},
		"modules":        {"modules of elsewhere", `{"path":".gitmodules","content":"x"}`},
		"main":           {"another branch", `{"branch":"main","content":"x"}`},
		"ref":            {"another branch by its reference", `{"branch":"refs/heads/main","content":"x"}`},
		"branch case":    {"another branch by its case", `{"branch":"Teams","content":"x"}`},
		"no branch":      {"the default branch", `{"branch":"","content":"x"}`},
		"repository":     {"another repository", `{"repository":"acme/granted","content":"x"}`},
		"private":        {"a private repository", `{"repository":"acme/private","content":"x"}`},
		"private page":   {"a private repository by its address", `{"repository":"` + w.git.url + `/acme/private","content":"x"}`},
		"dots in it":     {"dots in a repository", `{"repository":"acme/named/../private","content":"x"}`},
		"prefix dots":    {"a branch that leads out of the portal's", `{"branch":"portal/../main","content":"x"}`},
		"prefix capital": {"a branch like the portal's", `{"branch":"Portal/x","content":"x"}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.as(t, bob).stopped("trusted-commit", tc.values)
			for _, repository := range []string{"acme/named", "acme/private"} {
				if files := w.git.git(t, repository, "log", "--all", "--name-only", "--format="); strings.Contains(strings.ToLower(files), "github") ||
					strings.Contains(files, ".git") || strings.Contains(files, "Jenkins") {
					t.Errorf("%s: the repository %s has %s", tc.reason, repository, files)
				}
			}
			if n := w.git.git(t, "acme/named", "rev-list", "--count", "main"); n != "1" {
				t.Errorf("%s: main has %s commits", tc.reason, n)
			}
		})
	}
}

// TestAuthor commits with an author of the form's choice.
func TestAuthor(t *testing.T) {
	w := enter(t)
	w.as(t, bob).completes("trusted-commit", `{"repository":"acme/named","branch":"teams","path":"`+unique("author")+`.txt","content":"x","author":"Olivia the operator"}`)
	got := w.git.git(t, "acme/named", "log", "-1", "--format=%an <%ae>|%cn <%ce>|%b", "teams")
	author, rest, _ := strings.Cut(got, "|")
	if strings.Contains(got, "Olivia") || strings.Contains(got, "root@example.org") || !strings.Contains(author, bob) {
		t.Errorf("the author is the person who asked, not %s", got)
	}
	if strings.Contains(rest[:strings.Index(rest, "|")], bob) || !strings.Contains(rest, "Requested-by: user:default/bob") {
		t.Errorf("the committer is the portal, and the message names who asked, not %s", rest)
	}
}

// TestGrantedRepository pushes where a rule lets Templates of a provider push.
func TestGrantedRepository(t *testing.T) {
	w := enter(t)
	commit := func(repository, branch, name string) string {
		return `{id: write, action: "catalog:write", input: {filePath: "` + name + `", entity: {a: b}}}, {id: commit, action: "git:commit", input: {host: "` + w.git.name + `", repository: ` + repository + `, branch: "` + branch + `"}}`
	}
	name := unique("granted")
	cases := map[string]struct {
		reason, provider, steps string
		works                   bool
	}{
		"granted":     {"repository and branch of the rule", "granted", commit("acme/granted", "main", name+".txt"), true},
		"branch":      {"another branch", "granted", commit("acme/granted", "release", name+".txt"), false},
		"reference":   {"the branch of the rule by its reference", "granted", commit("acme/granted", "refs/heads/main", name+".txt"), true},
		"repository":  {"another repository", "granted", commit("acme/named", "main", name+".txt"), false},
		"provider":    {"another provider", "grantedx", commit("acme/granted", "main", name+".txt"), false},
		"pipeline":    {"a CI definition", "granted", commit("acme/granted", "main", ".github/workflows/x.yml"), false},
		"in a folder": {"a CI definition behind a path", "granted", strings.Replace(commit("acme/granted", "main", "workflows/x.yml"), "branch:", "path: .github, branch:", 1), false},
	}
	for caseName, tc := range cases {
		t.Run(caseName, func(t *testing.T) {
			t.Parallel()
			c := w.as(t, bob)
			made := unique("granted")
			c.pushed(tc.provider, template(made, "", tc.steps))
			if tc.works {
				c.completes(made, "{}")
				return
			}
			c.stopped(made, "{}")
			if files := w.git.git(t, "acme/granted", "log", "--all", "--name-only", "--format="); strings.Contains(files, "workflows") {
				t.Errorf("%s: the repository has %s", tc.reason, files)
			}
			if refs := w.git.refs(t, "acme/granted"); strings.Contains(refs, "release") || strings.Contains(refs, "refs/heads/refs") {
				t.Errorf("%s: the repository has %s", tc.reason, refs)
			}
		})
	}
}

// TestRetry has another caller retry a task: what it does is decided by, and
// recorded with, the caller who retries it.
func TestRetry(t *testing.T) {
	w := enter(t)
	name := unique("retry")
	// The task of ada passes the check at its creation and fails later.
	failed := w.as(t, ada).run("trusted-late", `{"manifests":[`+asJSON(t, configMap("team-b", name, ""))+`]}`)
	if failed.status != "failed" {
		t.Fatalf("the task is %s: %s", failed.status, failed.told)
	}
	retry := api + "/tasks/" + failed.id + "/retry"
	w.as(t, bob).want(http.StatusNotFound, http.MethodPost, retry, "")
	w.as(t, ada).want(http.StatusCreated, http.MethodPost, retry, "")
	if r := w.as(t, ada).follow(failed.id); r.status != "failed" || w.find(t, configMaps+name) != nil {
		t.Errorf("a retry by the same caller is refused too, and is %s: %s", r.status, r.told)
	}
	// An operator may do it, and would do it with rights that ada does not have.
	w.as(t, olivia).want(http.StatusForbidden, http.MethodPost, retry, "")
	if w.find(t, configMaps+name) != nil {
		t.Error("the retry of another caller created the object")
	}
}

// TestFencedBranch pushes to a branch that a rule denies, by other names.
func TestFencedBranch(t *testing.T) {
	w := enter(t)
	commit := func(branch string) string {
		return `{id: commit, action: "git:commit", input: {host: "` + w.git.name + `", repository: acme/fenced` + branch + `, manifest: ` + configMap("a", "b", "") + `}}`
	}
	cases := map[string]struct{ reason, branch string }{
		"name":        {"by its name", `, branch: main`},
		"reference":   {"by its reference", `, branch: refs/heads/main`},
		"twice":       {"by its reference, with the beginning twice", `, branch: refs/heads/refs/heads/main`},
		"space":       {"with a space", `, branch: " main "`},
		"inner space": {"with a space behind the beginning", `, branch: "refs/heads/ main"`},
		"other key":   {"by the other key", `, targetBranchName: main`},
		"none":        {"as the default branch", ``},
		"empty":       {"as an empty name", `, branch: ""`},
		"HEAD":        {"as HEAD", `, branch: HEAD`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, made := w.as(t, bob), unique("fenced")
			c.pushed("fenced", template(made, "", commit(tc.branch)))
			r := c.run(made, "{}")
			if n := w.git.git(t, "acme/fenced", "rev-list", "--count", "main"); n != "1" {
				t.Errorf("%s: main has %s commits: %s", tc.reason, n, r.told)
			}
		})
	}
	c, made := w.as(t, bob), unique("fenced")
	c.pushed("fenced", template(made, "", commit(", branch: other")))
	c.completes(made, "{}")
}
