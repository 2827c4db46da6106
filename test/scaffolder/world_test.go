// Package scaffolder_test tests the scaffolder end to end, from a form to the
// resource: through the HTTP API of a portal, with a real API server and real
// Git repositories.
package scaffolder_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/server"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/process"
)

// theToken is the token of a service account with all permissions.
const theToken = "a-static-token-of-the-tests-4711"

// patience is how long a test waits for a condition.
const patience = 2 * time.Minute

// sections are sections of a configuration.
type sections = map[string]any

// shared has the API server and the portal that ingests its definitions, for
// all tests.
var shared = sync.OnceValues(func() (*world, error) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil {
		return nil, err
	}
	s, err := apiserver.Run(apiserver.Options{CRDs: "both", XRCRDs: true, Apply: append(files, definitions)})
	if err != nil {
		return nil, err
	}
	atEnd = append(atEnd, s.Stop)
	withRequests, err := forges()
	if err != nil {
		return nil, err
	}
	withNone, err := plain()
	if err != nil {
		return nil, err
	}
	here := sections{"name": "real", "kubeconfig": s.Kubeconfig}
	p, err := open(sections{
		"composerIngestor": sections{
			"clusters": []any{here}, "generateDayTwoTemplates": true,
			"templateGeneration": sections{"addGitOpsActions": true},
		},
		"clusterIngestor": sections{"enabled": true},
		"orchestrator":    sections{"serviceLocatorMethod": sections{"type": "multiTenant"}, "clusterLocatorMethods": []any{sections{"type": "config", "clusters": []any{here}}}},
		"scaffolder":      sections{"concurrentTasksLimit": 20},
		"integrations":    sections{"gitea": []any{withRequests.section()}, "git": []any{withNone.section(), sections{"host": folderHost, "url": "file://" + withNone.root}}},
	}, flood)
	if err != nil {
		return nil, err
	}
	atEnd = append(atEnd, p.stop)
	return &world{cluster: s, portal: p}, nil
})

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

// world is what tests share.
type world struct {
	cluster *apiserver.Server
	portal  *backend
}

// enter returns the world for a test, which runs in parallel with others.
func enter(t *testing.T) (*world, client) {
	t.Helper()
	t.Parallel()
	w, err := shared()
	if errors.Is(err, apiserver.ErrOff) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := w.portal.client(t)
	// Until the first scan has ended, forms lack what depends on Compositions.
	until(t, "every source was scanned", func() bool {
		status, health := c.send(http.MethodGet, "/api/composer-ingestor/health", nil)
		return status == http.StatusOK && !bytes.Contains(health, []byte(`"status":"starting"`))
	})
	return w, c
}

// backend is a portal in this process.
type backend struct {
	base string
	// dir has the database and the workspaces.
	dir  string
	log  *process.Log
	stop func() error
}

// configure writes a configuration with the given sections to a folder.
func configure(dir, address string, more sections) (string, error) {
	all := sections{
		"backend": sections{
			"baseUrl": "http://" + address, "listen": address,
			"database": sections{"client": "sqlite", "connection": sections{"filename": filepath.Join(dir, "portal.sqlite")}},
			"auth":     sections{"externalAccess": []any{sections{"type": "static", "options": sections{"token": theToken, "subject": "tests"}}}},
		},
		"auth": sections{"providers": sections{"guest": sections{}}},
		// The tests push their own Templates.
		"permission": sections{"rules": []any{sections{
			"who": []any{"tests"}, "permissions": []any{"scaffolder.action.execute", "cluster.*", "git.*"}, "providers": []any{"*"}, "result": "allow",
		}}},
	}
	maps.Copy(all, more)
	scaffolder, _ := all["scaffolder"].(sections)
	scaffolder = maps.Clone(scaffolder)
	if scaffolder == nil {
		scaffolder = sections{}
	}
	scaffolder["workingDirectory"] = filepath.Join(dir, "tasks")
	if scaffolder["limits"] == nil {
		// One service account does the work of many users.
		scaffolder["limits"] = sections{"openTasks": 100_000, "runningTasks": 20, "eventStreams": 10_000}
	}
	all["scaffolder"] = scaffolder
	data, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "app-config.yaml")
	return path, os.WriteFile(path, data, 0o600)
}

// open starts a portal, which the caller stops.
func open(more sections, actions ...action.Action) (*backend, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ingestor-scaffolder-")
	if err != nil {
		return nil, err
	}
	b := &backend{base: "http://" + l.Addr().String(), dir: dir, log: &process.Log{}}
	p, err := b.build(l.Addr().String(), more, actions)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx, l) }()
	b.stop = sync.OnceValue(func() error {
		cancel()
		err := <-ended
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		err = errors.Join(err, p.Close(), os.RemoveAll(dir))
		if strings.Contains(b.log.String(), theToken) {
			err = errors.Join(err, errors.New("log contains the token of a service"))
		}
		return err
	})
	return b, nil
}

// build builds the portal of a configuration.
func (b *backend) build(address string, more sections, actions []action.Action) (*server.Portal, error) {
	path, err := configure(b.dir, address, more)
	if err != nil {
		return nil, err
	}
	cfg, findings := config.Load([]string{path}, config.Options{})
	for _, f := range findings {
		if f.Severity == finding.Error {
			return nil, fmt.Errorf("configuration of the test is invalid: %v", f)
		}
	}
	return server.New(context.Background(), server.Options{
		Config: cfg, Now: time.Now, Log: slog.New(slog.NewJSONHandler(b.log, nil)), Actions: actions,
	})
}

// start starts a portal for a single test.
func start(t *testing.T, more sections, actions ...action.Action) *backend {
	t.Helper()
	b, err := open(more, actions...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// until waits until a condition is true.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain until %s", patience, what)
		}
	}
}

// client returns a client for a test.
func (b *backend) client(t *testing.T) client {
	t.Helper()
	// Each test has its own connections, and closes them at its end.
	transport := &http.Transport{MaxIdleConnsPerHost: 32}
	t.Cleanup(transport.CloseIdleConnections)
	t.Cleanup(func() {
		if s := b.log.String(); t.Failed() {
			t.Logf("end of the portal's log:\n%s", s[max(0, len(s)-3000):])
		}
	})
	return client{t: t, base: b.base, token: theToken, http: &http.Client{Transport: transport}}
}
