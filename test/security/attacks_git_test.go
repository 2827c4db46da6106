package security_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestPrivateRepository checks that users cannot read a repository to which
// only the portal's token has access.
func TestPrivateRepository(t *testing.T) {
	w := enter(t)
	page := w.git.url + "/acme/private"
	show := `, {id: show, action: "debug:log", input: {listWorkspace: with-contents}}`
	fetch := func(url string) string {
		return `{id: fetch, action: "fetch:plain", input: {url: "` + url + `"}}` + show
	}
	cases := map[string]struct{ reason, annotations, steps string }{
		"address":         {"A private repository cannot be fetched by its URL.", "", fetch(page)},
		"git":             {"A private repository cannot be fetched by its Git URL.", "", fetch(page + ".git")},
		"page":            {"A private repository cannot be fetched by the URL of a branch.", "", fetch(page + "/src/branch/main")},
		"capitals":        {"The case of a URL does not matter.", "", fetch(strings.Replace(page, "acme/private", "ACME/Private", 1))},
		"dots":            {"A path traversal from a readable repository is refused.", "", fetch(w.git.url + "/acme/named/../private")},
		"escaped":         {"An escaped path traversal is refused.", "", fetch(w.git.url + "/acme/named/%2e%2e/private")},
		"beside":          {"A forged source location gives no access to its repository.", `backstage.io/source-location: "url:` + page + `/src/branch/main/x.yaml"`, fetch("./")},
		"managed":         {"A forged managed-by location gives no access to its repository.", `backstage.io/managed-by-location: "url:` + page + `/src/branch/main/x.yaml"`, fetch("./")},
		"from the top":    {"A forged source location gives no access to the root of its repository.", `backstage.io/source-location: "url:` + page + `/src/branch/main/x/x.yaml"`, fetch("/")},
		"template":        {"A private repository cannot be fetched as a skeleton.", "", `{id: fetch, action: "fetch:template", input: {url: "` + page + `", values: {}}}` + show},
		"file":            {"A single file of a private repository cannot be fetched.", "", `{id: fetch, action: "fetch:plain:file", input: {url: "` + page + `/src/branch/main/plan.txt", targetPath: a.txt}}` + show},
		"empty token":     {"An empty token does not select the token of the portal.", "", `{id: fetch, action: "fetch:plain", input: {url: "` + page + `", token: ""}}` + show},
		"expression":      {"A URL from an expression is checked.", "", fetch("${{ 'http://" + w.git.name + "/acme/' ~ 'private' }}")},
		"after a step":    {"A URL from an earlier step is checked.", "", `{id: say, action: "debug:log", input: {message: x}}, ` + fetch("${{ steps.say.output.x or '"+page+"' }}")},
		"each":            {"A URL from a loop is checked.", "", `{id: fetch, action: "fetch:plain", each: ["` + page + `"], input: {url: "${{ each.value }}"}}` + show},
		"change request":  {"A private repository cannot be the base of a change request.", "", `{id: x, action: "publish:change-request", input: {repoUrl: "` + page + `", manifest: ` + configMap("a", "b", "") + `}}`},
		"commit":          {"A user cannot commit to a private repository.", "", `{id: x, action: "git:commit", input: {repoUrl: "` + page + `", branch: main, manifest: ` + configMap("a", "b", "") + `}}`},
		"commit ?":        {"A repository in the other URL format is checked.", "", `{id: x, action: "git:commit", input: {repoUrl: "` + w.git.name + `?owner=acme&repo=private", branch: main, manifest: ` + configMap("a", "b", "") + `}}`},
		"commit .git":     {"A repository with the suffix .git is checked.", "", `{id: x, action: "git:commit", input: {repoUrl: "` + page + `.git", branch: main, manifest: ` + configMap("a", "b", "") + `}}`},
		"commit capitals": {"The case of a repository does not matter.", "", `{id: x, action: "git:commit", input: {host: "` + w.git.name + `", repository: "ACME/private", branch: main, manifest: ` + configMap("a", "b", "") + `}}`},
	}
	before := w.git.refs(t, "acme/private")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := w.as(t, bob)
			dry := c.do(http.MethodPost, api+"/dry-run", `{"template":`+asJSON(t, template(unique("private"), tc.annotations, tc.steps))+`,"values":{}}`)
			checkAbsent(t, dry.body, privateText, gitToken)
			if !strings.Contains(dry.body, `"name":"`) {
				t.Errorf("%s: dry run returned %d without an error name: %s", tc.reason, dry.status, dry.body)
			}
			made := unique("private")
			c.pushed("granted", template(made, tc.annotations, tc.steps))
			checkAbsent(t, c.stopped(made, "{}").told, privateText, gitToken)
			if after := w.git.refs(t, "acme/private"); after != before {
				t.Errorf("%s: repository was changed:\n%s", tc.reason, after)
			}
		})
	}
	t.Run("filled in", func(t *testing.T) {
		t.Parallel()
		c := w.as(t, bob)
		if r := c.completes("trusted-fetch", `{"url":"`+w.git.url+`/acme/named"}`); !strings.Contains(r.told, privateText) {
			t.Errorf("Template of the operator did not read the repository that it names: %s", r.told)
		}
		checkAbsent(t, c.stopped("trusted-fetch", `{"url":"`+page+`"}`, "git.repository.read").told, privateText)
	})
	t.Run("dry run of a trusted spec", func(t *testing.T) {
		t.Parallel()
		// The spec is the operator's; its origin is forged.
		c := w.as(t, bob)
		var spec string
		found := c.want(http.StatusOK, http.MethodGet, "/api/catalog/entities/by-name/template/default/trusted-beside", "").body
		_, spec, _ = strings.Cut(found, `"spec":`)
		spec, _, _ = strings.Cut(spec, `,"relations"`)
		for _, at := range []string{"url:" + page + "/src/branch/main/x.yaml", "url:file://" + w.portal.dir + "/x.yaml", "file:" + w.portal.dir + "/x.yaml"} {
			a := c.do(http.MethodPost, api+"/dry-run", `{"values":{},"template":{"apiVersion":"scaffolder.backstage.io/v1beta3","kind":"Template","metadata":{"name":"trusted-beside","annotations":{"backstage.io/source-location":"`+at+`","backstage.io/managed-by-location":"`+at+`"}},"spec":`+strings.TrimSuffix(spec, "}")+`}}}`)
			if a.status == http.StatusOK {
				t.Errorf("dry run with the origin %s succeeded: %s", at, a.body)
			}
			checkAbsent(t, a.body, append(w.secrets(), privateText, "beside the Template")...)
		}
	})
}

// TestPipelines checks that users cannot write CI definitions, or to branches
// that the Template does not name.
func TestPipelines(t *testing.T) {
	w := enter(t)
	cases := map[string]struct{ reason, values string }{
		"workflow":       {"A GitHub workflow cannot be written.", `{"path":".github/workflows/x.yml","content":"x"}`},
		"capitals":       {"The case of a path does not matter.", `{"path":".GitHub/Workflows/X.yml","content":"x"}`},
		"dots":           {"A path with dots is normalized.", `{"path":"a/../.github/workflows/x.yml","content":"x"}`},
		"slashes":        {"A path with double slashes is normalized.", `{"path":"./.github//workflows/x.yml","content":"x"}`},
		"gitlab":         {"A GitLab CI definition cannot be written.", `{"path":".gitlab-ci.yml","content":"x"}`},
		"gitea":          {"A Gitea workflow cannot be written.", `{"path":".gitea/workflows/x.yml","content":"x"}`},
		"jenkins":        {"A Jenkinsfile cannot be written.", `{"path":"deep/Jenkinsfile","content":"x"}`},
		"codeowners":     {"CODEOWNERS cannot be written.", `{"path":".github/CODEOWNERS","content":"x"}`},
		"modules":        {"Submodules cannot be added.", `{"path":".gitmodules","content":"x"}`},
		"main":           {"Another branch than that of the Template is refused.", `{"branch":"main","content":"x"}`},
		"ref":            {"Another branch by its full reference is refused.", `{"branch":"refs/heads/main","content":"x"}`},
		"branch case":    {"A branch that differs in case is another branch.", `{"branch":"Teams","content":"x"}`},
		"no branch":      {"The default branch is refused.", `{"branch":"","content":"x"}`},
		"repository":     {"Another repository than that of the Template is refused.", `{"repository":"acme/granted","content":"x"}`},
		"private":        {"A private repository is refused.", `{"repository":"acme/private","content":"x"}`},
		"private page":   {"A private repository by its URL is refused.", `{"repository":"` + w.git.url + `/acme/private","content":"x"}`},
		"dots in it":     {"A repository with a path traversal is refused.", `{"repository":"acme/named/../private","content":"x"}`},
		"prefix dots":    {"A branch with a path traversal out of the portal's prefix is refused.", `{"branch":"portal/../main","content":"x"}`},
		"prefix capital": {"A branch whose prefix differs in case is refused.", `{"branch":"Portal/x","content":"x"}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.as(t, bob).stopped("trusted-commit", tc.values)
			for _, repository := range []string{"acme/named", "acme/private"} {
				if files := w.git.git(t, repository, "log", "--all", "--name-only", "--format="); strings.Contains(strings.ToLower(files), "github") ||
					strings.Contains(files, ".git") || strings.Contains(files, "Jenkins") {
					t.Errorf("%s: repository %s contains %s", tc.reason, repository, files)
				}
			}
			if n := w.git.git(t, "acme/named", "rev-list", "--count", "main"); n != "1" {
				t.Errorf("%s: main has %s commits, want 1", tc.reason, n)
			}
		})
	}
}

// TestAuthor checks that the author of a commit cannot be forged in the form.
func TestAuthor(t *testing.T) {
	w := enter(t)
	w.as(t, bob).completes("trusted-commit", `{"repository":"acme/named","branch":"teams","path":"`+unique("author")+`.txt","content":"x","author":"Olivia the operator"}`)
	got := w.git.git(t, "acme/named", "log", "-1", "--format=%an <%ae>|%cn <%ce>|%b", "teams")
	author, rest, _ := strings.Cut(got, "|")
	if strings.Contains(got, "Olivia") || strings.Contains(got, "root@example.org") || !strings.Contains(author, bob) {
		t.Errorf("author is not the user who created the task: %s", got)
	}
	if strings.Contains(rest[:strings.Index(rest, "|")], bob) || !strings.Contains(rest, "Requested-by: user:default/bob") {
		t.Errorf("committer is not the portal, or the message does not name the user: %s", rest)
	}
}

// TestGrantedRepository checks pushes where a rule allows Templates of a
// provider to push.
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
		"granted":     {"The rule allows its repository and branch.", "granted", commit("acme/granted", "main", name+".txt"), true},
		"branch":      {"The rule allows no other branch.", "granted", commit("acme/granted", "release", name+".txt"), false},
		"reference":   {"The full reference of the branch is allowed.", "granted", commit("acme/granted", "refs/heads/main", name+".txt"), true},
		"repository":  {"The rule allows no other repository.", "granted", commit("acme/named", "main", name+".txt"), false},
		"provider":    {"The rule allows no other provider.", "grantedx", commit("acme/granted", "main", name+".txt"), false},
		"pipeline":    {"A CI definition is refused.", "granted", commit("acme/granted", "main", ".github/workflows/x.yml"), false},
		"in a folder": {"A CI definition below a configured path is refused.", "granted", strings.Replace(commit("acme/granted", "main", "workflows/x.yml"), "branch:", "path: .github, branch:", 1), false},
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
				t.Errorf("%s: repository contains %s", tc.reason, files)
			}
			if refs := w.git.refs(t, "acme/granted"); strings.Contains(refs, "release") || strings.Contains(refs, "refs/heads/refs") {
				t.Errorf("%s: repository has the branches %s", tc.reason, refs)
			}
		})
	}
}

// TestRetry checks that a retry by another caller is decided by, and recorded
// with, the permissions of that caller.
func TestRetry(t *testing.T) {
	w := enter(t)
	name := unique("retry")
	// The task of ada passes the check at its creation and fails later.
	failed := w.as(t, ada).run("trusted-late", `{"manifests":[`+asJSON(t, configMap("team-b", name, ""))+`]}`)
	if failed.status != "failed" {
		t.Fatalf("task is %s, want failed: %s", failed.status, failed.told)
	}
	retry := api + "/tasks/" + failed.id + "/retry"
	w.as(t, bob).want(http.StatusNotFound, http.MethodPost, retry, "")
	w.as(t, ada).want(http.StatusCreated, http.MethodPost, retry, "")
	if r := w.as(t, ada).follow(failed.id); r.status != "failed" || w.find(t, configMaps+name) != nil {
		t.Errorf("task is %s after a retry by the same caller, want failed: %s", r.status, r.told)
	}
	// An operator has the permission and would use rights that ada does not
	// have.
	w.as(t, olivia).want(http.StatusForbidden, http.MethodPost, retry, "")
	if w.find(t, configMaps+name) != nil {
		t.Error("retry by another caller created the object")
	}
}

// TestFencedBranch checks that a branch that a rule denies is also denied under
// other names.
func TestFencedBranch(t *testing.T) {
	w := enter(t)
	commit := func(branch string) string {
		return `{id: commit, action: "git:commit", input: {host: "` + w.git.name + `", repository: acme/fenced` + branch + `, manifest: ` + configMap("a", "b", "") + `}}`
	}
	cases := map[string]struct{ reason, branch string }{
		"name":        {"The branch is denied by its name.", `, branch: main`},
		"reference":   {"The branch is denied by its full reference.", `, branch: refs/heads/main`},
		"twice":       {"A full reference with a repeated prefix is denied.", `, branch: refs/heads/refs/heads/main`},
		"space":       {"A name with spaces is denied.", `, branch: " main "`},
		"inner space": {"A full reference with a space after the prefix is denied.", `, branch: "refs/heads/ main"`},
		"other key":   {"The branch is denied under the other input key.", `, targetBranchName: main`},
		"none":        {"The branch is denied as the default branch.", ``},
		"empty":       {"The branch is denied for an empty name.", `, branch: ""`},
		"HEAD":        {"The branch is denied as HEAD.", `, branch: HEAD`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, made := w.as(t, bob), unique("fenced")
			c.pushed("fenced", template(made, "", commit(tc.branch)))
			r := c.run(made, "{}")
			if n := w.git.git(t, "acme/fenced", "rev-list", "--count", "main"); n != "1" {
				t.Errorf("%s: main has %s commits, want 1: %s", tc.reason, n, r.told)
			}
		})
	}
	c, made := w.as(t, bob), unique("fenced")
	c.pushed("fenced", template(made, "", commit(", branch: other")))
	c.completes(made, "{}")
}
