package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/finding"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/portal"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/issuer"
)

// serviceToken is that of a service that may do everything.
const serviceToken = "a-static-token-of-the-journeys-0815"

// world is a portal and the cluster it reads.
type world struct {
	t       *testing.T
	cluster *apiserver.Server
	address string
	config  *config.Config
	// file is where the configuration is written down.
	file string
	log  *tail
	// stop ends the portal, nil if it does not run.
	stop        func() error
	clusterDown bool
}

// configure is the configuration of `make run-cluster`, and somebody to sign in.
func configure(t *testing.T, base string, cluster *apiserver.Server, i *issuer.Issuer, git string) (c *config.Config, path string) {
	t.Helper()
	type object = map[string]any
	dev := object{"name": "dev", "kubeconfig": cluster.Kubeconfig}
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
		"composerIngestor": object{"generateDayTwoTemplates": true, "clusters": []object{dev}},
		"clusterIngestor":  object{"enabled": true},
		"integrations":     object{"git": []object{{"host": gitHost, "url": "file://" + filepath.ToSlash(git)}}},
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
			t.Fatalf("the configuration of the test is wrong: %v", f)
		}
	}
	return c, path
}

// up starts the portal.
func (w *world) up(l net.Listener) {
	w.t.Helper()
	p, err := portal.New(context.Background(), portal.Options{Config: w.config, Now: time.Now, Actions: []action.Action{flood}, Log: slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
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

// down stops the portal, if it runs.
func (w *world) down() {
	if w.stop == nil {
		return
	}
	if err := w.stop(); err != nil {
		w.t.Errorf("the portal ended with %v", err)
	}
	w.stop = nil
}

// do makes a day bad, or good again.
func (w *world) do(c command) error {
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
		w.cluster.Kill()
		w.clusterDown = true
	case "/cluster/up":
		if w.clusterDown {
			w.cluster.Restart(w.t)
			w.clusterDown = false
		}
	case "/cluster/apply":
		w.cluster.Apply(w.t, string(c.body)+"\n")
	case "/cluster/request":
		return w.request(c)
	default:
		return fmt.Errorf("there is no command %s", c.what)
	}
	return nil
}

// request asks the API server, as its administrator.
func (w *world) request(c command) error {
	req, err := http.NewRequestWithContext(w.t.Context(), c.method, w.cluster.URL+c.path, bytes.NewReader(c.body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	res, err := w.cluster.Client().Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("the API server answers %s: %s", res.Status, text)
	}
	c.answer.Write(text)
	return err
}

// tail keeps the end of what is written to it.
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
