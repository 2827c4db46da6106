// Package security_test attacks a portal that several teams share, over HTTP
// only, with a real issuer for sign-in, a real API server with an audit log,
// and a real Git server.
package security_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/server"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/issuer"
	"example.dev/ingestor/test/process"
)

// patience is how long a test waits for a condition.
const patience = 2 * time.Minute

// The tokens of services. They are in app-config.yaml; the attacks on files
// search for them.
const (
	ciToken         = "static-token-of-ci-4711-4711"
	directoryToken  = "static-token-of-directory-0815"
	restrictedToken = "static-token-of-restricted-1234"
)

// The callers of the tests. The name of a user is their subject at the issuer.
const (
	ada     = "ada"     // team-a
	bob     = "bob"     // team-b
	olivia  = "olivia"  // platform, the operators
	mallory = "mallory" // team-b and system:masters
	trudy   = "trudy"   // team-b and system:masters behind a space
	// impostor has the name under which the service ci is impersonated.
	impostor = "portal:service:ci"

	ci         = "service ci"
	directory  = "service directory"
	restricted = "service restricted"
)

// people has the groups of each user at the issuer.
var people = map[string][]string{
	ada: {"team-a"}, bob: {"team-b"}, olivia: {"platform"},
	mallory: {"team-b", "system:masters"}, trudy: {"team-b", " system:masters"}, impostor: {"team-b"},
}

var services = map[string]string{ci: ciToken, directory: directoryToken, restricted: restrictedToken}

// All clusters of the portal are one API server: directCluster impersonates the
// user, and prefixedCluster does too, with a prefix for groups.
const (
	sharedCluster   = "shared"
	directCluster   = "direct"
	prefixedCluster = "prefixed"
	userPrefix      = "sso:"
	groupPrefix     = "corp:"
)

// auditPolicy makes the API server log writes with their users.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    verbs: [create, update, patch, delete]
  - level: None
`

// objects are in the cluster from the start: the namespaces of the teams, and
// the RBAC of team-a.
const objects = `apiVersion: v1
kind: Namespace
metadata: { name: team-a, annotations: { backstage.io/owner: "group:default/team-a" } }
---
apiVersion: v1
kind: Namespace
metadata: { name: team-b, annotations: { backstage.io/owner: "group:default/team-b" } }
---
apiVersion: v1
kind: Namespace
metadata: { name: ownerless }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: security-editor }
rules:
  - { apiGroups: [""], resources: [configmaps], verbs: [get, create, patch, delete] }
  - { apiGroups: [storage.example.org], resources: [buckets], verbs: [get, create, patch, delete] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: security-editor, namespace: team-a }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: security-editor }
subjects:
  - { apiGroup: rbac.authorization.k8s.io, kind: Group, name: team-a }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: security-editor, namespace: team-b }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: security-editor }
subjects:
  - { apiGroup: rbac.authorization.k8s.io, kind: Group, name: "corp:team-b" }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: security-services, namespace: team-a }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: security-editor }
subjects: [ { apiGroup: rbac.authorization.k8s.io, kind: User, name: "sso:portal:service:ci" } ]
`

// Limits of the small portal.
const (
	smallWorkers      = 4
	smallOpenTasks    = 12
	smallEventStreams = 5
)

// sections are sections of a configuration.
type sections = map[string]any

// world has what tests share.
type world struct {
	cluster *apiserver.Server
	// audit is the path of the API server's audit log.
	audit  string
	issuer *issuer.Issuer
	git    *stage
	// portal requires sign-in, open allows guests, small has few workers.
	portal, open, small *backend
	// pages serves the locations that tests register.
	pages *pages

	mu     sync.Mutex
	tokens map[string]string
}

// atEnd has functions that are called after all tests, the last one first.
var atEnd []func() error

func TestMain(m *testing.M) {
	code := m.Run()
	for i := len(atEnd) - 1; i >= 0; i-- {
		if err := atEnd[i](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

var shared = sync.OnceValues(func() (*world, error) {
	w := &world{tokens: map[string]string{}}
	var err error
	if w.cluster, err = startCluster(&w.audit); err != nil {
		return nil, err
	}
	if w.git, err = newStage(); err != nil {
		return nil, err
	}
	w.pages = newPages()
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w.issuer, err = issuer.Run(issuer.Options{People: people, Redirect: "http://" + l.Addr().String() + "/api/auth/oidc/handler/frame"})
	if err != nil {
		return nil, err
	}
	atEnd = append(atEnd, func() error { w.issuer.Stop(); return nil })
	oidc := sections{"issuer": w.issuer.URL, "clientId": w.issuer.ClientID, "clientSecret": w.issuer.ClientSecret, "caFile": w.issuer.CAFile, "userClaim": "sub"}
	if w.portal, err = w.start(l, sections{"oidc": oidc}, 10); err != nil {
		return nil, err
	}
	if l, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if w.open, err = w.start(l, sections{"guest": sections{}}, 10); err != nil {
		return nil, err
	}
	if l, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	w.small, err = w.start(l, sections{"guest": sections{}}, smallWorkers)
	return w, err
})

// startCluster starts the API server, with the definitions of the folder
// examples.
func startCluster(audit *string) (*apiserver.Server, error) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ingestor-security-")
	if err != nil {
		return nil, err
	}
	atEnd = append(atEnd, func() error { return os.RemoveAll(dir) })
	*audit = filepath.Join(dir, "audit.log")
	policy := filepath.Join(dir, "audit.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	s, err := apiserver.Run(apiserver.Options{
		CRDs: "both", XRCRDs: true, Apply: append(files, objects),
		Args: []string{"--audit-log-path=" + *audit, "--audit-policy-file=" + policy},
	})
	if err == nil {
		atEnd = append(atEnd, s.Stop)
	}
	return s, err
}

// backend is a portal in this process.
type backend struct {
	base string
	// dir has app-config.yaml, the trusted Templates, and the database.
	dir    string
	portal *server.Portal
	log    *process.Log
}

// start starts a portal with sign-in providers and a number of workers.
func (w *world) start(l net.Listener, providers sections, workers int) (*backend, error) {
	dir, err := os.MkdirTemp("", "ingestor-security-")
	if err != nil {
		return nil, err
	}
	atEnd = append(atEnd, func() error { return os.RemoveAll(dir) })
	b := &backend{base: "http://" + l.Addr().String(), dir: dir, log: &process.Log{}}
	path, err := w.configure(b, l.Addr().String(), providers, workers)
	if err != nil {
		return nil, err
	}
	cfg, findings := config.Load([]string{path}, config.Options{})
	for _, f := range findings {
		if f.Severity == finding.Error {
			return nil, fmt.Errorf("configuration of the test is invalid: %v", f)
		}
	}
	b.portal, err = server.New(context.Background(), server.Options{Config: cfg, Now: time.Now, Log: slog.New(slog.NewJSONHandler(b.log, nil))})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.portal.Run(ctx, l) }()
	atEnd = append(atEnd, func() error {
		cancel()
		err := <-ended
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		for _, secret := range []string{ciToken, gitToken} {
			if strings.Contains(b.log.String(), secret) {
				err = errors.Join(err, errors.New("log contains a token"))
			}
		}
		return errors.Join(err, b.portal.Close())
	})
	return b, nil
}

// configure writes the configuration of a portal, and the Templates of the
// operator next to it.
func (w *world) configure(b *backend, address string, providers sections, workers int) (string, error) {
	access := []any{}
	for name, token := range services {
		access = append(access, sections{"type": "static", "options": sections{"token": token, "subject": strings.TrimPrefix(name, "service ")}})
	}
	cluster := func(name string, more sections) sections {
		c := sections{"name": name, "kubeconfig": w.cluster.Kubeconfig}
		maps.Copy(c, more)
		return c
	}
	limits := sections{}
	if workers == smallWorkers {
		limits = sections{"openTasks": smallOpenTasks, "eventStreams": smallEventStreams}
	}
	all := sections{
		"backend": sections{
			"baseUrl": "http://" + address, "listen": address,
			"database": sections{"client": "sqlite", "connection": sections{"filename": filepath.Join(b.dir, "portal.sqlite")}},
			"auth":     sections{"externalAccess": access},
			"reading":  sections{"allow": []any{sections{"host": w.pages.host}}},
		},
		"auth":       sections{"providers": providers, "membership": sections{"providers": []any{"directory"}}},
		"permission": sections{"rules": policy(w.git.name)},
		"audit":      sections{"to": "file", "file": filepath.Join(b.dir, "audit.log")},
		"catalog": sections{
			"rules":     []any{sections{"allow": []any{"Component", "Resource", "Template", "Location", "User", "Group"}}},
			"locations": []any{sections{"type": "file", "target": filepath.Join(b.dir, "trusted.yaml")}},
		},
		"composerIngestor": sections{
			"clusters": []any{cluster(sharedCluster, nil), cluster(directCluster, sections{"impersonate": "user", "impersonateUserPrefix": userPrefix}),
				cluster(prefixedCluster, sections{"impersonate": "user", "impersonateUserPrefix": userPrefix, "impersonateGroupPrefix": groupPrefix})},
			"generateDayTwoTemplates": true,
		},
		"scaffolder": sections{"defaultCluster": sharedCluster, "concurrentTasksLimit": workers, "limits": limits, "workingDirectory": filepath.Join(b.dir, "tasks")},
		"integrations": sections{"git": []any{
			sections{"host": w.git.name, "url": w.git.url, "token": gitToken},
		}},
	}
	data, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.dir, "app-config.yaml")
	return path, errors.Join(
		os.Mkdir(filepath.Join(b.dir, "skeleton"), 0o700),
		os.WriteFile(filepath.Join(b.dir, "skeleton", "a.txt"), []byte("beside the Template"), 0o600),
		os.WriteFile(path, data, 0o600),
		os.WriteFile(filepath.Join(b.dir, "trusted.yaml"), []byte(strings.ReplaceAll(trusted, "GIT", w.git.name)), 0o600),
	)
}

// enter returns the world for a test, which runs in parallel with others.
func enter(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w, err := shared()
	if errors.Is(err, apiserver.ErrOff) || errors.Is(err, issuer.ErrOff) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// as returns a client of the portal for a caller, who signs in first.
func (w *world) as(t *testing.T, who string) client {
	t.Helper()
	return w.portal.client(t, w.token(t, who))
}

// token returns the token of a caller: that of a service, or that of a user,
// who signs in at the issuer the first time.
func (w *world) token(t *testing.T, who string) string {
	t.Helper()
	if token := services[who]; token != "" {
		return token
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tokens[who] == "" {
		b, err := newBrowser()
		if err != nil {
			t.Fatal(err)
		}
		session, err := w.signIn(t.Context(), b, who)
		if err != nil {
			t.Fatalf("%s cannot sign in: %v", who, err)
		}
		w.tokens[who] = session.BackstageIdentity.Token
	}
	return w.tokens[who]
}

// session is the response to a sign-in.
type session struct {
	BackstageIdentity struct {
		Token    string
		Identity struct{ OwnershipEntityRefs []string }
	}
}

// browser keeps the cookies of one user.
type browser struct{ client *http.Client }

func newBrowser() (*browser, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	return &browser{&http.Client{
		Jar: jar, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// cookies returns the cookies that a browser sends to a URL.
func (b *browser) cookies(t *testing.T, at string) []*http.Cookie {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return b.client.Jar.Cookies(u)
}

// keptJar always sends the same cookies.
type keptJar struct{ all []*http.Cookie }

func (k keptJar) Cookies(*url.URL) []*http.Cookie   { return k.all }
func (keptJar) SetCookies(*url.URL, []*http.Cookie) {}

// visit sends a request and checks the status.
func (b *browser) visit(ctx context.Context, method, at string, want int) (http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, at, http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("X-Requested-With", "XMLHttpRequest")
	resp, err := b.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != want {
		err = fmt.Errorf("response of %s is %s: %s", at, resp.Status, body)
	}
	return resp.Header, body, err
}

// signIn signs a user in at the issuer.
func (w *world) signIn(ctx context.Context, b *browser, who string) (*session, error) {
	away, _, err := b.visit(ctx, http.MethodGet, w.portal.base+"/api/auth/oidc/start?redirect=/", http.StatusFound)
	if err != nil {
		return nil, err
	}
	back, err := w.issuer.AgreeAs(ctx, who, away.Get("Location"))
	if err != nil {
		return nil, err
	}
	if _, _, err := b.visit(ctx, http.MethodGet, back, http.StatusFound); err != nil {
		return nil, err
	}
	return w.refresh(ctx, b)
}

// refresh requests a token for the session of a browser.
func (w *world) refresh(ctx context.Context, b *browser) (*session, error) {
	_, body, err := b.visit(ctx, http.MethodPost, w.portal.base+"/api/auth/oidc/refresh", http.StatusOK)
	if err != nil {
		return nil, err
	}
	s := &session{}
	return s, json.Unmarshal(body, s)
}
