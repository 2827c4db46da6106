package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/server"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/issuer"
)

// serviceToken is the token of a service with all permissions.
const serviceToken = "a-static-token-of-the-journeys-0815"

// usual is the cluster in which the browser tests create resources.
const usual = "dev"

// world is a portal with its clusters.
type world struct {
	t        *testing.T
	clusters map[string]*apiserver.Server
	address  string
	config   *config.Config
	// file is the path of the configuration file.
	file string
	log  *tail
	// stop stops the portal; nil if it is not running.
	stop func() error
	// away are the clusters that are down.
	away map[string]bool
}

// startClusters starts clusters concurrently: each takes some seconds.
func startClusters(t *testing.T, all map[string]apiserver.Options) map[string]*apiserver.Server {
	t.Helper()
	type started struct {
		name   string
		server *apiserver.Server
		err    error
	}
	results := make(chan started, len(all))
	for name, opts := range all {
		go func() {
			s, err := apiserver.Run(opts)
			results <- started{name, s, err}
		}()
	}
	out := map[string]*apiserver.Server{}
	var errs []error
	for range all {
		r := <-results
		if errs = append(errs, r.err); r.err == nil {
			out[r.name] = r.server
			t.Cleanup(func() {
				if err := r.server.Stop(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	err := errors.Join(errs...)
	if errors.Is(err, apiserver.ErrOff) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// configure returns the configuration of `make run-cluster` with a second cluster
// and an OpenID Connect issuer.
func configure(t *testing.T, base string, clusters map[string]*apiserver.Server, i *issuer.Issuer, git string) (c *config.Config, path string) {
	t.Helper()
	type object = map[string]any
	dev := object{"name": usual, "kubeconfig": clusters[usual].Kubeconfig}
	all := []object{dev}
	for _, name := range slices.Sorted(maps.Keys(clusters)) {
		if name != usual {
			all = append(all, object{"name": name, "kubeconfig": clusters[name].Kubeconfig})
		}
	}
	dir := t.TempDir()
	examples, err := filepath.Abs("../../examples/catalog/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(object{
		"app": object{"title": "Portal"},
		"backend": object{
			"baseUrl": base, "listen": base[len("http://"):],
			"database": object{"client": "sqlite", "connection": object{"filename": filepath.Join(dir, "portal.sqlite")}},
			"auth":     object{"externalAccess": []object{{"type": "static", "options": object{"token": serviceToken, "subject": "journeys"}}}},
		},
		"auth": object{"providers": object{
			"guest": object{},
			"oidc": object{
				"issuer": i.URL, "clientId": i.ClientID, "clientSecret": i.ClientSecret, "caFile": i.CAFile, "userClaim": "sub",
			},
		}},
		"catalog": object{
			"rules":     []object{{"allow": []string{"Component", "API", "Resource", "System", "Domain", "Group", "User", "Template", "Location"}}},
			"locations": []object{{"type": "file", "target": examples}},
		},
		"composerIngestor": object{"generateDayTwoTemplates": true, "clusters": all},
		"clusterIngestor":  object{"enabled": true},
		"integrations":     object{"git": []object{{"host": gitHost, "url": "file://" + filepath.ToSlash(git)}}},
		// Forms look as with one cluster.
		"scaffolder": object{"defaultCluster": usual},
		// Ann's team owns the cluster of the browser tests.
		"permission": object{"rules": []object{{
			"who": []string{"user"}, "permissions": []string{"scaffolder.action.execute", "cluster.*", "git.repository.*"}, "providers": []string{"*"}, "result": "allow",
		}}},
		"orchestrator": object{
			"serviceLocatorMethod":  object{"type": "multiTenant"},
			"clusterLocatorMethods": []object{{"type": "config", "clusters": []object{dev}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "app-config.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c, found := config.Load([]string{path}, config.Options{})
	for _, f := range found {
		if f.Severity == finding.Error {
			t.Fatalf("invalid test configuration: %v", f)
		}
	}
	return c, path
}

// up starts the portal.
func (w *world) up(l net.Listener) {
	w.t.Helper()
	p, err := server.New(context.Background(), server.Options{Config: w.config, Now: time.Now, Actions: []action.Action{flood}, Log: slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx, l) }()
	w.stop = func() error {
		cancel()
		err := <-ended
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		return errors.Join(err, p.Close())
	}
}

// down stops the portal if it is running.
func (w *world) down() {
	if w.stop == nil {
		return
	}
	if err := w.stop(); err != nil {
		w.t.Errorf("the portal failed: %v", err)
	}
	w.stop = nil
}

// do runs a control command.
func (w *world) do(c command) error {
	if w.clusters[c.cluster] == nil {
		return fmt.Errorf("unknown cluster %s", c.cluster)
	}
	switch c.what {
	case "/portal/down":
		w.down()
	case "/portal/up":
		if w.stop != nil {
			return nil
		}
		l, err := net.Listen("tcp", w.address)
		if err != nil {
			return err
		}
		w.up(l)
	case "/cluster/down":
		w.clusters[c.cluster].Kill()
		w.away[c.cluster] = true
	case "/cluster/up":
		if w.away[c.cluster] {
			w.clusters[c.cluster].Restart(w.t)
			delete(w.away, c.cluster)
		}
	case "/cluster/apply":
		w.clusters[c.cluster].Apply(w.t, string(c.body)+"\n")
	case "/cluster/request":
		return w.request(c)
	default:
		return fmt.Errorf("unknown command %s", c.what)
	}
	return nil
}

// request sends a request to the API server as its administrator.
func (w *world) request(c command) error {
	cluster := w.clusters[c.cluster]
	req, err := http.NewRequestWithContext(w.t.Context(), c.method, cluster.URL+c.path, bytes.NewReader(c.body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
		if req.URL.Query().Has("fieldManager") {
			req.Header.Set("Content-Type", "application/apply-patch+yaml")
		}
	}
	res, err := cluster.Client().Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("the API server returned %s: %s", res.Status, text)
	}
	c.answer.Write(text)
	return err
}

// tail keeps the end of a log.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (b *tail) Write(p []byte) (int, error) {
	const most = 32 << 10
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	if len(b.text) > most {
		b.text = append([]byte(nil), b.text[len(b.text)-most:]...)
	}
	return len(p), nil
}

func (b *tail) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}
