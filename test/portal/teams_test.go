package portal_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/issuer"
)

// TestSeveralTeams follows docs/several-teams.md: it runs the commands of the page against a real
// cluster, and checks with the requests of the page that each user sees and may do what the
// page says. The rules are those of the page and of the example.
func TestSeveralTeams(t *testing.T) {
	r, w, i := newTeams(t)
	const see, may, create = 0, 1, 2
	var requests []string
	for _, line := range commands(t, "several-teams.md") {
		if strings.HasPrefix(line, "curl ") {
			requests = append(requests, line)
		}
	}
	cases := map[string]struct {
		reason, who        string
		request            int
		namespace, cluster string
		want, not          string
	}{
		"SeesForms":      {"A team sees the forms of all.", "ada", see, "", "", `"kind":"Template"`, ""},
		"SeesOwn":        {"A team sees what it owns.", "ada", see, "", "", `"name":"cart"`, `"name":"invoices"`},
		"OtherSeesOwn":   {"Another team sees something else.", "paul", see, "", "", `"name":"invoices"`, `"name":"cart"`},
		"OperatorSees":   {"An operator sees everything.", "olivia", see, "", "", `"name":"cart"`, "nothing"},
		"May":            {"A team neither scans nor registers locations.", "ada", may, "", "", `[{"result":"DENY"},{"result":"DENY"}]`, "ALLOW"},
		"OperatorMay":    {"An operator does both.", "olivia", may, "", "", `[{"result":"ALLOW"},{"result":"ALLOW"}]`, "DENY"},
		"Own":            {"A team creates in its namespace.", "ada", create, "shop", "development", "completed", ""},
		"Foreign":        {"A team creates nothing in another's namespace.", "ada", create, "pay", "development", "Missing permission cluster.resource.create", "completed"},
		"OwnCluster":     {"A team creates what the roles of the cluster grant.", "ada", create, "shop", "production", "completed", ""},
		"ForeignCluster": {"The cluster refuses the rest.", "ada", create, "pay", "production", "The missing RBAC rule", "completed"},
	}
	tokens := map[string]string{}
	for _, who := range []string{"ada", "paul", "olivia"} {
		i.Subject = who
		w.signIn(i)
		var session struct{ BackstageIdentity struct{ Token string } }
		w.want(call{path: "/api/auth/oidc/refresh", token: noToken, header: http.Header{"X-Requested-With": {"XMLHttpRequest"}}}, http.StatusOK, &session)
		tokens[who] = session.BackstageIdentity.Token
	}
	ask := func(t *testing.T, who, line string) []byte {
		t.Helper()
		cmd := r.command(line)
		cmd.Env = append(cmd.Env, "portal="+w.base, "token="+tokens[who])
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return out
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			line := strings.NewReplacer(`"pay"`, `"`+tc.namespace+`"`, `"development"`, `"`+tc.cluster+`"`, "orders", strings.ToLower(name)).Replace(requests[tc.request])
			out := ask(t, tc.who, line)
			got := string(out)
			var task struct{ ID string }
			if tc.request == create && json.Unmarshal(out, &task) == nil && task.ID != "" {
				got = string(w.in(t).send(call{path: scaffolding + "/tasks/" + task.ID + "/eventstream"}).body)
			}
			if !strings.Contains(got, tc.want) || tc.not != "" && strings.Contains(got, tc.not) {
				t.Errorf("%s Answer is %s", tc.reason, got)
			}
		})
	}
	w.until("the team sees the resource that it created as its own", func() bool {
		return strings.Contains(string(ask(t, "ada", requests[see])), `"name":"own-`)
	})
}

// newTeams returns a reader who has run the commands of the page, and a portal of two clusters: one
// where the portal decides, and one that decides itself.
func newTeams(t *testing.T) (*reader, *world, *issuer.Issuer) {
	t.Helper()
	text, err := os.ReadFile(shipped("examples/database.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	definition, _, _ := strings.Cut(string(text), "\n---\n")
	s := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{definition}})
	r := newReader(t, s.Kubeconfig)
	r.dir = shipped("")
	for _, line := range commands(t, "several-teams.md") {
		if strings.HasPrefix(line, "kubectl ") {
			r.run(line)
		}
	}
	l := listen(t)
	i := issuer.Start(t, issuer.Options{
		People:   map[string][]string{"ada": {"shop"}, "paul": {"pay"}, "olivia": {"platform"}},
		Redirect: "http://" + l.Addr().String() + "/api/auth/oidc/handler/frame",
	})
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, s.CA, 0o600); err != nil {
		t.Fatal(err)
	}
	cluster := func(name string, more map[string]any) map[string]any {
		more["name"], more["url"], more["authProvider"] = name, s.URL, "token"
		more["token"], more["caFile"] = s.Token(t, "composer-ingestor", "composer-ingestor"), ca
		return more
	}
	w := start(t, setup{listener: l, sections: map[string]any{
		"auth": map[string]any{"providers": map[string]any{"oidc": map[string]any{
			"issuer": i.URL, "clientId": i.ClientID, "clientSecret": i.ClientSecret, "caFile": i.CAFile, "userClaim": "sub",
		}}},
		"permission": map[string]any{"rules": append(rulesOf(t, "docs/several-teams.md"), rulesOf(t, "examples/config/several-teams.yaml")...)},
		"crossplaneIngestor": map[string]any{"clusters": []any{
			cluster("development", map[string]any{}),
			cluster("production", map[string]any{"impersonate": "user", "impersonateUserPrefix": "oidc:", "impersonateGroupPrefix": "oidc:"}),
		}},
	}})
	w.push("teams", strings.ReplaceAll(component("cart"), "group:default/team", "group:default/shop"),
		strings.ReplaceAll(component("invoices"), "group:default/team", "group:default/pay"))
	w.until("the form is there", func() bool { return w.exists("template/default/xdatabases.platform.example.org") })
	return r, w, i
}

// rulesOf returns the permission rules of a configuration, or of the first one in a page that has some.
func rulesOf(t *testing.T, path string) []any {
	t.Helper()
	text, err := os.ReadFile(shipped(path))
	if err != nil {
		t.Fatal(err)
	}
	blocks := [][]string{{"", string(text)}}
	if strings.HasSuffix(path, ".md") {
		blocks = regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	}
	for _, b := range blocks {
		var c struct{ Permission struct{ Rules []any } }
		if err := yaml.Unmarshal([]byte(b[1]), &c); err != nil {
			t.Fatal(err)
		}
		if len(c.Permission.Rules) > 0 {
			return c.Permission.Rules
		}
	}
	t.Fatalf("%s has no rules", path)
	return nil
}
