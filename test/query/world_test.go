// Package query compares the queries of our catalog with the real one: thousands of
// random requests to the API of the portal, to the router of
// @backstage/plugin-catalog-backend over its own tables in PostgreSQL, and to the
// in-memory client of @backstage/catalog-client. All three have the same entities. An
// answer that differs must have an explanation in explanations_test.go.
//
// To repeat one request with its answers, run, in this folder,
//
//	go test -run TestQueries -request <number> -v
package query

import (
	"bufio"
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
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "embed"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/server"
	"example.dev/ingestor/test/npm"
	"example.dev/ingestor/test/postgres"
	"example.dev/ingestor/test/process"
)

var (
	//go:embed package.json
	manifest []byte
	//go:embed package-lock.json
	lock []byte
)

// patience is how long the test waits for a program or a response.
const patience = time.Minute

// token is the token of a service account with all permissions.
const token = "a-static-token-of-the-tests-4711"

// world has the three catalogs with the same entities.
type world struct {
	client *http.Client
	// portal and judge are the addresses of the two servers.
	portal, judge string
	// index has the fields of the entities, as the real catalog indexes them.
	index *index
	// leaves has, for parts of requests, whether the in-memory client answers them in
	// another way than we.
	leaves sync.Map
}

// start starts the portal on a database, and both judges, and loads the entities.
func start(t *testing.T, database map[string]any, servers *postgres.Shared) *world {
	t.Helper()
	node, modules, err := npm.Install("query", manifest, lock)
	if errors.Is(err, npm.ErrOff) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	w := &world{client: &http.Client{Transport: transport, Timeout: patience}}
	w.judge = startJudge(t, node, modules, servers.Database(t))
	w.portal = startPortal(t, database)
	w.load(t, entities())
	return w
}

// startJudge starts both judges and returns their address.
func startJudge(t *testing.T, node, modules, database string) string {
	t.Helper()
	cmd := exec.Command(node, "judge.mjs", modules, database)
	log := &process.Log{}
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, to := io.Pipe()
	cmd.Stdout = to
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := p.Stop(patience); err != nil {
			t.Error(err)
		}
		if t.Failed() && len(log.String()) > 0 {
			t.Logf("end of the judge's log:\n%s", log.Tail())
		}
	})
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(out).ReadString('\n')
		line <- strings.TrimSpace(text)
		_, _ = io.Copy(io.Discard, out)
	}()
	select {
	case text := <-line:
		return text
	case <-p.Ended():
		t.Fatalf("judge ended with %v:\n%s", p.Err(), log.Tail())
	case <-time.After(patience):
		t.Fatalf("judge was not ready after %v:\n%s", patience, log.Tail())
	}
	return ""
}

// startPortal starts a portal in this process and returns its address.
func startPortal(t *testing.T, database map[string]any) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + l.Addr().String()
	data, err := json.Marshal(map[string]any{
		"words": "upstream",
		"backend": map[string]any{
			"baseUrl": address, "listen": l.Addr().String(), "database": database,
			"auth": map[string]any{"externalAccess": []any{
				map[string]any{"type": "static", "options": map[string]any{"token": token, "subject": "tests"}},
			}},
		},
		"auth": map[string]any{"membership": map[string]any{"providers": []string{"test"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "app-config.yaml")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, findings := config.Load([]string{path}, config.Options{})
	for _, f := range findings {
		if f.Severity == finding.Error {
			t.Fatalf("configuration of the test is invalid: %v", f)
		}
	}
	log := &process.Log{}
	portal, err := server.New(t.Context(), server.Options{Config: cfg, Now: time.Now, Log: slog.New(slog.NewJSONHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- portal.Run(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("portal ended with %v", err)
		}
		if err := portal.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("end of the portal's log:\n%s", log.Tail())
		}
	})
	return address
}

// load pushes the entities to the portal, and what the portal made of them to the judges.
func (w *world) load(t *testing.T, all []map[string]any) {
	t.Helper()
	var lines bytes.Buffer
	for _, e := range all {
		if err := json.NewEncoder(&lines).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	w.awaitReady(t)
	body, err := w.send(t.Context(), http.MethodPut, w.portal+"/api/catalog/providers/test/entities", "application/x-ndjson", lines.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Added   int
		Refused []struct{ Ref, Reason string }
	}
	if err := json.Unmarshal(body, &report); err != nil || report.Added != len(all) {
		t.Fatalf("added %d of %d entities: %v, refused %v", report.Added, len(all), err, report.Refused)
	}
	stored, err := w.send(t.Context(), http.MethodGet, w.portal+"/api/catalog/entities", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := w.send(t.Context(), http.MethodPut, w.judge+"/entities", "application/json", stored)
	if err != nil {
		t.Fatal(err)
	}
	if w.index, err = newIndex(stored, rows); err != nil {
		t.Fatal(err)
	}
	if len(w.index.refs) < len(all) {
		t.Fatalf("portal has %d entities, want at least %d", len(w.index.refs), len(all))
	}
}

// awaitReady waits until the portal is ready.
func (w *world) awaitReady(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		_, err := w.send(t.Context(), http.MethodGet, w.portal+"/.backstage/health/v1/readiness", "", nil)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("portal was not ready after %v: %v", patience, err)
		}
	}
}

// send sends a request that must succeed.
func (w *world) send(ctx context.Context, method, url, media string, body []byte) ([]byte, error) {
	r, err := w.call(ctx, method, url, media, body)
	if err == nil && r.status != http.StatusOK {
		err = fmt.Errorf("%s %s: got %d %s", method, url, r.status, r.body)
	}
	return r.body, err
}

// reply is a response.
type reply struct {
	status int
	link   string
	body   []byte
}

// call sends a request.
func (w *world) call(ctx context.Context, method, url, media string, body []byte) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	if strings.HasPrefix(url, w.portal) {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := w.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = res.Body.Close() }()
	got, err := io.ReadAll(res.Body)
	return reply{status: res.StatusCode, link: res.Header.Get("Link"), body: got}, err
}
