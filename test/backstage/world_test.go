package backstage_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/server"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/npm"
	"example.dev/ingestor/test/postgres"
	"example.dev/ingestor/test/process"
)

// workspace is the npm workspace of the packages for Backstage.
const workspace = "../../backstage"

// manifests are the files that its packages are installed from.
var manifests = []string{"package.json", "package-lock.json", "packages/backend/package.json", "packages/frontend/package.json", "test/package.json"}

// packages are the names of the packages in the workspace.
var packages = []string{"backend", "frontend"}

// built returns the path of node, and a copy of the workspace whose packages are installed
// and built. The tests share it.
func built(t *testing.T) (node, dir string) {
	t.Helper()
	c, err := build()
	if errors.Is(err, npm.ErrOff) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c.node, c.dir
}

// checkout is a built copy of the workspace.
type checkout struct{ node, dir string }

var build = sync.OnceValues(func() (c checkout, err error) {
	files := map[string][]byte{}
	for _, path := range manifests {
		if files[path], err = os.ReadFile(filepath.Join(workspace, path)); err != nil {
			return c, err
		}
	}
	var modules string
	if c.node, modules, err = npm.InstallFiles("backstage", files); err != nil {
		return c, err
	}
	c.dir = filepath.Join(temporary, "workspace")
	for _, name := range []string{"packages", "test", "tsconfig.json", "package.json", "eslint.config.mjs"} {
		if err := copied(filepath.Join(workspace, name), filepath.Join(c.dir, name)); err != nil {
			return c, err
		}
	}
	if err := os.Symlink(modules, filepath.Join(c.dir, "node_modules")); err != nil {
		return c, err
	}
	for _, name := range packages {
		cmd := exec.Command(c.node, filepath.Join(modules, "typescript", "bin", "tsc"), "-p", "packages/"+name)
		cmd.Dir = c.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return c, fmt.Errorf("cannot build package %s: %w\n%s", name, err, out)
		}
	}
	return c, nil
})

// temporary is a folder that the tests share. TestMain removes it.
var temporary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "backstage")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	temporary = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// copied copies a file or folder, without what is installed or built.
func copied(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.Name() == "node_modules" || d.Name() == "dist":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
}

type object = map[string]any

// world is a Backstage with the module, a portal, and a cluster.
type world struct {
	t       *testing.T
	cluster *apiserver.Server
	// portal and backstage are the addresses of the two.
	portal, backstage string
	config            *config.Config
	// down stops the portal.
	down func()
	log  *process.Log
	// audit is the path of the portal's audit log.
	audit string
	// node is the path of node, and dir the built workspace.
	node, dir string
	// token is that of the user in Backstage.
	token string
	// more are further settings of Backstage, and catalogs its further catalog files.
	more     object
	catalogs []string
	// files is the address of sharedEntities.
	files string
}

// portalToken is the token of the tests in the portal.
const portalToken = "a-static-token-of-these-tests-0815"

// the user of Backstage, and the group that owns the namespace of the tests.
const (
	user  = "user:default/ada"
	owner = "group:default/platform"
)

// namespaces are those of the tests: one of the user's group, and one of another.
const namespaces = `
apiVersion: v1
kind: Namespace
metadata: { name: team, annotations: { backstage.io/owner: "` + owner + `" } }
---
apiVersion: v1
kind: Namespace
metadata: { name: theirs, annotations: { backstage.io/owner: "group:default/others" } }
`

// passing is a definition that only the cluster has.
const passing = `
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: { name: guests.passing.example.org, labels: { openportal.dev/ingest: "true" } }
spec:
  scope: Namespaced
  group: passing.example.org
  names: { kind: Guest, plural: guests }
  versions: [{ name: v1, served: true, referenceable: true, schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { size: { type: string } } } } } } }]
`

// ownEntities are entities that Backstage has from elsewhere. One has the name of an
// entity of the portal, and the other claims to be of the portal.
const ownEntities = `
apiVersion: backstage.io/v1alpha1
kind: System
metadata: { name: data }
spec: { owner: me }
---
apiVersion: backstage.io/v1alpha1
kind: System
metadata: { name: own, annotations: { openportal.dev/portal: portal } }
spec: { owner: me }
`

// newWorld starts everything.
func newWorld(t *testing.T) *world {
	t.Helper()
	node, dir := built(t)
	db := postgres.Start(t)
	w := &world{t: t, log: &process.Log{}, node: node, dir: dir}
	w.cluster = apiserver.Start(t, apiserver.Options{Apply: []string{"../../examples/bucket.yaml", "../../examples/app.yaml", passing, namespaces}, XRCRDs: true, ReadyAfter: 2 * time.Second})
	w.portal, w.backstage, w.audit = freeAddress(t), freeAddress(t), filepath.Join(t.TempDir(), "audit.log")
	shared := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, sharedEntities) }))
	t.Cleanup(shared.Close)
	w.files = shared.URL
	w.configure()
	w.up()
	w.startBackstage(node, dir, db)
	return w
}

func freeAddress(t *testing.T) string {
	t.Helper()
	port, err := process.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}

// configure writes and loads the configuration of the portal.
func (w *world) configure() {
	w.t.Helper()
	dir := w.t.TempDir()
	shipped, err := filepath.Abs("../../examples")
	if err != nil {
		w.t.Fatal(err)
	}
	examples := filepath.Join(shipped, "catalog", "*.yaml")
	w.config = loaded(w.t, filepath.Join(dir, "app-config.yaml"), object{
		"backend": object{
			"baseUrl": w.portal, "listen": strings.TrimPrefix(w.portal, "http://"),
			"database": object{"client": "sqlite", "connection": object{"filename": filepath.Join(dir, "portal.sqlite")}},
			"auth":     object{"externalAccess": []object{{"type": "static", "options": object{"token": portalToken, "subject": "test"}}}},
		},
		"audit": object{"to": "file", "file": w.audit},
		"auth": object{
			"providers": object{},
			"backstage": []object{{"name": "company", "url": w.backstage, "trustTemplates": true}},
		},
		"catalog": object{
			"rules":     []object{{"allow": []string{"Component", "API", "Resource", "System", "Domain", "Group", "User", "Template", "Location"}}},
			"locations": []object{{"type": "file", "target": examples}},
		},
		// The definitions of the shipped configuration, and a cluster.
		"crossplaneIngestor": object{
			"generateDayTwoTemplates": true, "clusters": []object{{"name": "dev", "kubeconfig": w.cluster.Kubeconfig}},
			"sources": []object{{"name": "examples", "type": "file", "path": shipped, "recursive": false}},
		},
	})
}

func loaded(t *testing.T, path string, content object) *config.Config {
	t.Helper()
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c, found := config.Load([]string{path}, config.Options{})
	for _, f := range found {
		if f.Severity == finding.Error {
			t.Fatalf("invalid test configuration: %v", f)
		}
	}
	return c
}

// up starts the portal.
func (w *world) up() {
	w.t.Helper()
	l, err := net.Listen("tcp", strings.TrimPrefix(w.portal, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	p, err := server.New(context.Background(), server.Options{Config: w.config, Now: time.Now, Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx, l) }()
	w.down = func() {
		if w.down == nil {
			return
		}
		w.down = nil
		cancel()
		err := <-ended
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		if err := errors.Join(err, p.Close()); err != nil {
			w.t.Errorf("the portal failed: %v", err)
		}
	}
	w.t.Cleanup(func() {
		if w.down != nil {
			w.down()
		}
	})
}

// startBackstage starts a Backstage backend, and signs in.
func (w *world) startBackstage(node, dir string, db *postgres.Server) {
	w.t.Helper()
	at, err := url.Parse(w.backstage)
	if err != nil {
		w.t.Fatal(err)
	}
	store, err := url.Parse(db.Database(w.t))
	if err != nil {
		w.t.Fatal(err)
	}
	own := filepath.Join(dir, "own.yaml")
	if err := os.WriteFile(own, []byte(ownEntities+movedEntities), 0o600); err != nil {
		w.t.Fatal(err)
	}
	locations := []object{{"type": "file", "target": own}}
	for _, file := range w.catalogs {
		locations = append(locations, object{"type": "file", "target": file})
	}
	reading := []object{}
	if w.files != "" {
		reading = append(reading, object{"host": strings.TrimPrefix(w.files, "http://")})
	}
	settings := object{
		"app": object{"title": "Backstage", "baseUrl": w.backstage},
		"backend": object{
			"baseUrl": w.backstage, "listen": object{"host": "127.0.0.1", "port": at.Port()},
			"auth":     object{"externalAccess": []object{{"type": "static", "options": object{"token": backstageToken, "subject": "import"}}}},
			"reading":  object{"allow": reading},
			"database": object{"client": "pg", "connection": object{"host": store.Hostname(), "port": store.Port(), "user": store.User.Username(), "password": db.Password}},
		},
		"auth": object{"environment": "development", "providers": object{"guest": object{
			"userEntityRef": user, "ownershipEntityRefs": []string{user, owner}, "dangerouslyAllowOutsideDevelopment": true,
		}}},
		"catalog": object{
			"rules":              []object{{"allow": []string{"Component", "API", "Resource", "System", "Domain", "Group", "User", "Template", "Location"}}},
			"processingInterval": object{"seconds": 5},
			"locations":          locations,
		},
		"permission": object{"enabled": true},
		"scaffolder": object{},
		"ingestor": object{"portals": []object{{
			"url":      w.portal, // Backstage reads its own locations first.
			"schedule": object{"frequency": object{"seconds": 1}, "timeout": object{"seconds": 30}, "initialDelay": object{"seconds": 4}},
		}}},
	}
	maps.Copy(settings, w.more)
	text, err := json.Marshal(settings)
	if err != nil {
		w.t.Fatal(err)
	}
	file := filepath.Join(dir, "app-config.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(node, "test/backend.mjs", "--config", file)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, w.log, w.log
	cmd.Env = append(os.Environ(), "NODE_ENV=development", "LOG_LEVEL=info", "NO_COLOR=1")
	p, err := process.Start(cmd)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := p.Stop(30*time.Second, syscall.SIGTERM); err != nil {
			w.t.Error(err)
		}
		if w.t.Failed() {
			w.t.Logf("the log:\n%s", w.said())
		}
	})
	if err := p.Await(w.log, "Plugin initialization complete", 3*time.Minute); err != nil {
		w.t.Fatal(err)
	}
	var signedIn struct {
		Identity struct{ Token string } `json:"backstageIdentity"`
	}
	until(w.t, "sign-in", func() error {
		return w.ask(http.MethodPost, "/api/auth/guest/refresh", object{}, &signedIn)
	})
	w.token = signedIn.Identity.Token
}

// said returns the log without the requests that it records.
func (w *world) said() string {
	var out []string
	for line := range strings.Lines(w.log.String()) {
		if !strings.Contains(line, "incomingRequest") {
			out = append(out, line)
		}
	}
	return strings.Join(out[max(0, len(out)-200):], "")
}

// ask sends a request to Backstage as the user, and decodes the response unless into is nil.
func (w *world) ask(method, path string, body, into any) error {
	var send io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		send = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.backstage+path, send)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if w.token != "" {
		req.Header.Set("Authorization", "Bearer "+w.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s returned %s: %s", method, path, resp.Status, data)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(data, into)
}

// until repeats an attempt until it succeeds.
func until(t *testing.T, what string, try func() error) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(300 * time.Millisecond)
	}
}
