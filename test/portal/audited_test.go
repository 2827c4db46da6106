package portal_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/gitserver/forge"
	"example.dev/ingestor/test/issuer"
)

// Texts that must not be in the audit log: secrets of the test, values that a
// user enters into a form, and contents of an entity.
const (
	auditTaskSecret = "hunter2-of-a-task-0815"
	auditGitToken   = "a-token-of-git-0815"
	auditBadToken   = "a-token-that-is-wrong-0815"
	auditQueryToken = "a-token-of-an-address-0815"
	auditCode       = "a-code-of-a-sign-in-0815"
	auditWord       = "aformvaluequitelongandrare"
	auditContent    = "what-an-entity-says-0815"
)

// auditTemplates are in a file named by the configuration. GIT is the host of a
// Git server.
const auditTemplates = `apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: {name: everything}
spec:
  type: service
  owner: group:default/team
  parameters: {required: [word], properties: {word: {type: string, pattern: "^[a-z]+$"}}}
  steps:
    - id: apply
      action: cluster:apply
      input:
        manifest:
          apiVersion: v1
          kind: Secret
          metadata: {name: "key-${{ secrets.token }}", namespace: shop, annotations: {backstage.io/owner: "group:default/team"}}
          stringData: {token: "${{ secrets.token }}", word: "${{ parameters.word }}"}
    - id: commit
      action: git:commit
      input:
        host: GIT
        repository: acme/live
        branch: main
        message: Add one
        manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {word: "${{ parameters.word }}", token: "${{ secrets.token }}"}}
    - id: propose
      action: publish:change-request
      input:
        host: GIT
        repository: acme/live
        branch: main
        title: Add two
        manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: two}, data: {word: "${{ parameters.word }}", token: "${{ secrets.token }}"}}
    - id: delete
      action: cluster:delete
      input: {apiVersion: v1, kind: Secret, name: "key-${{ secrets.token }}", namespace: shop}
---
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: {name: fails}
spec:
  type: service
  owner: group:default/team
  parameters: {properties: {word: {type: string}}}
  steps:
    - id: apply
      action: cluster:apply
      input: {manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: shop}, data: {word: [1]}}}
---
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: {name: waits}
spec:
  type: service
  owner: group:default/team
  steps: [{id: wait, action: "debug:wait", input: {minutes: 9}}]
`

// audited is a portal with an audit log, a cluster, a Git server and an issuer.
type audited struct {
	*world
	file    string
	issuer  *issuer.Issuer
	browser caller
	served  *files
	git     string
	// cluster is the portal's token for its cluster.
	cluster string
	// user is the token of a user in the group team, ref the reference of that
	// user.
	user, ref string
}

// startAudited starts the portal without signing the user in.
func startAudited(t *testing.T) *audited {
	t.Helper()
	_, host := forge.Start(t, auditGitToken)
	a := &audited{file: filepath.Join(t.TempDir(), "audit.jsonl"), served: serveFiles(t, ""), git: host}
	l := listen(t)
	a.issuer = issuer.Start(t, issuer.Options{Groups: []string{"team"}, Redirect: "http://" + l.Addr().String() + "/api/auth/oidc/handler/frame"})
	s := apiserver.Start(t, apiserver.Options{CRDs: "none", Apply: []string{`apiVersion: v1
kind: Namespace
metadata: {name: shop, annotations: {backstage.io/owner: "group:default/team"}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: portal}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: portal, namespace: accounts}]
`}})
	a.cluster = s.Token(t, "accounts", "portal")
	templates := filepath.Join(t.TempDir(), "templates.yaml")
	if err := os.WriteFile(templates, []byte(strings.ReplaceAll(auditTemplates, "GIT", `"`+a.git+`"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	sections := ingesting(t)
	delete(sections["composerIngestor"].(map[string]any), "clusters")
	change := []string{"catalog.entity.create", "catalog.entity.delete"}
	maps.Copy(sections, map[string]any{
		"audit": map[string]any{"to": "file", "file": a.file},
		"auth": map[string]any{"providers": map[string]any{"guest": map[string]any{"dangerouslyAllowOutsideDevelopment": true}, "oidc": map[string]any{
			"issuer": a.issuer.URL, "clientId": a.issuer.ClientID, "clientSecret": a.issuer.ClientSecret, "caFile": a.issuer.CAFile, "userClaim": "sub",
		}}},
		"permission": map[string]any{"rules": []any{
			map[string]any{"who": []string{"user"}, "permissions": change, "owners": []string{"own"}, "result": "allow"},
			map[string]any{"who": []string{"user"}, "permissions": change, "result": "deny"},
		}},
		"catalog": map[string]any{"locationTypes": []string{"url"}, "locations": []any{map[string]any{"type": "file", "target": templates}}},
		"orchestrator": map[string]any{
			"serviceLocatorMethod": map[string]any{"type": "multiTenant"},
			"clusterLocatorMethods": []any{map[string]any{"type": "config", "clusters": []any{map[string]any{
				"name": "real", "url": s.URL, "serviceAccountToken": a.cluster, "caData": base64.StdEncoding.EncodeToString(s.CA),
			}}}},
		},
		"integrations": map[string]any{"gitea": []any{map[string]any{"host": a.git, "baseUrl": "http://" + a.git, "token": auditGitToken}}},
	})
	a.world = start(t, setup{listener: l, allow: []string{a.served.host}, sections: sections})
	a.until("the Templates are there", func() bool { return a.exists("template/default/waits") })
	client := *a.client
	a.browser = a.caller
	a.browser.client = &client
	var err error
	if client.Jar, err = cookiejar.New(nil); err != nil {
		t.Fatal(err)
	}
	return a
}

// xhr is the header of requests that a page sends.
var xhr = http.Header{"X-Requested-With": {"XMLHttpRequest"}}

// signIn signs the user in like a browser, and gets a token for the page.
func (a *audited) signIn() {
	a.t.Helper()
	away := a.browser.want(call{path: "/api/auth/oidc/start", token: noToken}, http.StatusFound, nil).header.Get("Location")
	a.browser.want(call{path: strings.TrimPrefix(a.issuer.Agree(a.t, away), a.base), token: noToken}, http.StatusFound, nil)
	var session struct {
		BackstageIdentity struct {
			Token    string
			Identity struct{ UserEntityRef string }
		}
	}
	a.browser.want(call{method: "POST", path: "/api/auth/oidc/refresh", token: noToken, header: xhr}, http.StatusOK, &session)
	a.user, a.ref = session.BackstageIdentity.Token, session.BackstageIdentity.Identity.UserEntityRef
}

// event is a line of the audit log.
type event struct {
	Time, Event, Result string
	Actor               struct{ Kind, Subject string }
	Target              map[string]string
	Counts              map[string]int
	RequestID           string `json:"requestId"`
	Client, Reason      string
}

// events reads the audit log, in which each line is a complete event.
func (a *audited) events() []event {
	a.t.Helper()
	data, err := os.ReadFile(a.file)
	if err != nil {
		a.t.Fatal(err)
	}
	var all []event
	for line := range strings.Lines(string(data)) {
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		var e event
		if err := d.Decode(&e); err != nil {
			a.t.Fatalf("cannot decode the line %q: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// shower formats events without the values that differ between runs.
type shower struct {
	replace *strings.Replacer
	ids     map[string]string
}

var (
	anID     = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	aCommit  = regexp.MustCompile(`\b[0-9a-f]{40}\b`)
	aBranch  = regexp.MustCompile(`portal/configmap-two-[0-9a-f]{10}`)
	isOfTask = regexp.MustCompile(`^(cluster\.|git\.|scaffolder\.task\.ended)`)
	isTime   = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
)

func (s *shower) show(e event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %s", e.Event, e.Result, e.Actor.Kind, e.Actor.Subject)
	for _, key := range slices.Sorted(maps.Keys(e.Target)) {
		fmt.Fprintf(&b, " %s=%s", key, e.Target[key])
	}
	for _, key := range slices.Sorted(maps.Keys(e.Counts)) {
		fmt.Fprintf(&b, " %s=%d", key, e.Counts[key])
	}
	if e.Reason != "" {
		fmt.Fprintf(&b, " (%s)", e.Reason)
	}
	text := s.replace.Replace(b.String())
	text = aBranch.ReplaceAllString(aCommit.ReplaceAllString(text, "COMMIT"), "BRANCH")
	return anID.ReplaceAllStringFunc(text, func(id string) string {
		if s.ids[id] == "" {
			s.ids[id] = fmt.Sprintf("ID%d", len(s.ids)+1)
		}
		return s.ids[id]
	})
}
