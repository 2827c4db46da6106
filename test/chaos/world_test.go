package chaos_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/portal"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/postgres"
	"example.dev/ingestor/test/process"
	"example.dev/ingestor/test/proxy"
)

type sections = map[string]any

const (
	theToken = "a-static-token-of-the-chaos-4711"
	// replicas share one database.
	replicas = 3
	// group is the API group of definitions.
	group = "chaos.example.org"
)

// programConfig is the environment variable that makes this test binary run the
// program with a configuration.
const programConfig = "INGESTOR_TEST_PROGRAM_CONFIG"

// TestProgram runs portal-backend as a separate process that can be killed.
func TestProgram(*testing.T) {
	path := os.Getenv(programConfig)
	if path == "" {
		return
	}
	os.Args = []string{portal.Name, "--config", path, "--log-format", "json"}
	app.Main(portal.Name, portal.Run)
}

// world has three replicas with all their sources and services, and the faults
// of those.
type world struct {
	t        *testing.T
	client   *http.Client
	database *postgres.Server
	// databaseURL is the URL of the database without a proxy.
	databaseURL string
	cluster     *apiserver.Server
	gate        *gate
	// folder has files with definitions, repository is the Git repository with
	// more of them, live the one that tasks commit to.
	folder, repository, live string
	replicas                 []*replica
}

// replica is a process with its connection to the database.
type replica struct {
	w      *world
	number int
	at     string
	config string
	wire   *proxy.Proxy
	log    *process.Log

	mu sync.Mutex
	// process is nil while the replica is down.
	process *process.Process
	paused  bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, client: &http.Client{Timeout: 45 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16}},
		database: postgres.Start(t),
		cluster:  apiserver.Start(t, apiserver.Options{}),
		folder:   filepath.Join(t.TempDir(), "definitions"),
	}
	w.gate = newGate(t, w.cluster)
	root := t.TempDir()
	w.repository, w.live = filepath.Join(root, "definitions.git"), filepath.Join(root, "acme", "live.git")
	for _, dir := range []string{w.repository, w.live} {
		w.git(".", "init", "--quiet", "--bare", "--initial-branch=main", dir)
	}
	seed := filepath.Join(root, "seed")
	w.git(".", "clone", "--quiet", w.live, seed)
	w.git(seed, "commit", "--quiet", "--allow-empty", "--message", "begin")
	w.git(seed, "push", "--quiet", "origin", "HEAD:main")
	if err := os.MkdirAll(w.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	template := filepath.Join(t.TempDir(), "template.yaml")
	write(t, template, `apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: {name: commit}
spec:
  type: service
  owner: group:default/team
  parameters: {properties: {name: {type: string}}}
  steps:
    - id: commit
      action: git:commit
      input:
        host: files
        repository: acme/live.git
        branch: main
        message: "Add ${{ parameters.name }}"
        manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${{ parameters.name }}", namespace: default}}
`)
	w.databaseURL = w.database.Database(t)
	address, err := url.Parse(w.databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	for i := range replicas {
		wire := proxy.Start(t, address.Host)
		through := *address
		through.Host = wire.Address()
		port, err := process.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		r := &replica{w: w, number: i, at: fmt.Sprintf("127.0.0.1:%d", port), wire: wire, log: &process.Log{}}
		r.config = filepath.Join(t.TempDir(), "app-config.yaml")
		write(t, r.config, w.settings(r.at, through.String(), template, "file://"+root))
		w.replicas = append(w.replicas, r)
	}
	t.Cleanup(func() {
		for _, r := range w.replicas {
			r.kill()
			if t.Failed() {
				t.Logf("end of the log of replica %d:\n%s", r.number, r.log.Tail())
			}
		}
	})
	return w
}

// settings returns the configuration of a replica.
func (w *world) settings(at, database, template, git string) string {
	every := sections{"frequency": "5s", "timeout": "60s"}
	data, err := json.Marshal(sections{
		"backend": sections{
			"baseUrl": "http://" + at, "listen": at, "database": sections{"client": "pg", "connection": database},
			"rateLimit": false,
			"auth":      sections{"externalAccess": []any{sections{"type": "static", "options": sections{"token": theToken, "subject": "tests"}}}},
		},
		"auth": sections{"providers": sections{"guest": sections{}}},
		"composerIngestor": sections{
			"schedule": every,
			"sources": []any{
				sections{"name": "files", "type": "file", "path": w.folder},
				sections{"name": "git", "type": "git", "repo": "file://" + w.repository, "branch": "main"},
			},
			"clusters":    []any{sections{"name": "prod", "url": w.gate.url, "authProvider": "token", "token": "theirs", "skipTLSVerify": true}},
			"massRemoval": sections{"wait": sections{"minutes": 5}},
		},
		"catalog":      sections{"locations": []any{sections{"type": "file", "target": template}}},
		"integrations": sections{"git": []any{sections{"host": "files", "url": git}}},
		"scaffolder":   sections{"limits": sections{"openTasks": 10000, "runningTasks": 50}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// git runs git in a folder.
func (w *world) git(dir string, args ...string) {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=chaos", "-c", "user.email=chaos@example.org"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Errorf("git %v: %v: %s", args, err, out)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// begin starts the replica.
func (r *replica) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != nil {
		return
	}
	self, err := os.Executable()
	if err != nil {
		r.w.t.Error(err)
		return
	}
	cmd := exec.Command(self, "-test.run=^TestProgram$", "-test.timeout=0")
	cmd.Env = append(os.Environ(), programConfig+"="+r.config)
	cmd.Dir = r.w.t.TempDir()
	cmd.Stdout, cmd.Stderr = r.log, r.log
	if r.process, err = process.Start(cmd); err != nil {
		r.w.t.Error(err)
	}
}

// kill kills the replica.
func (r *replica) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.process.Kill()
	r.process, r.paused = nil, false
}

// pause stops or continues the process of the replica.
func (r *replica) pause(still bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == nil || r.paused == still {
		return
	}
	r.paused = still
	s := syscall.SIGCONT
	if still {
		s = syscall.SIGSTOP
	}
	r.process.Signal(s)
}

// awaitReading waits for a limited time until the replica has a file of the
// folder open, and reports whether it has.
func (r *replica) awaitReading(within time.Duration) bool {
	r.mu.Lock()
	p := r.process
	r.mu.Unlock()
	if p == nil {
		return false
	}
	fds := fmt.Sprintf("/proc/%d/fd/", p.PID())
	for until := time.Now().Add(within); time.Now().Before(until); {
		all, _ := os.ReadDir(fds)
		for _, fd := range all {
			if to, _ := os.Readlink(fds + fd.Name()); strings.HasPrefix(to, r.w.folder+"/") {
				return true
			}
		}
	}
	return false
}

// restartIfEnded restarts the replica if its process ended by itself, which is allowed
// while the database is down.
func (r *replica) restartIfEnded() {
	r.mu.Lock()
	ended := r.process != nil && !r.paused
	if ended {
		select {
		case <-r.process.Ended():
			r.process = nil
		default:
			ended = false
		}
	}
	r.mu.Unlock()
	if ended {
		r.begin()
	}
}

// call sends a request to the replica. After an error it is unknown whether the
// request was processed.
func (r *replica) call(ctx context.Context, method, path string, body, into any) (int, error) {
	var in io.Reader
	if text, ok := body.(string); ok {
		in = bytes.NewReader([]byte(text))
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+r.at+path, in)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+theToken)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPut {
		req.Header.Set("Content-Type", "application/x-ndjson")
	}
	res, err := r.w.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	if into != nil && res.StatusCode < 300 {
		err = json.Unmarshal(data, into)
	}
	if res.StatusCode == http.StatusBadRequest || res.StatusCode == http.StatusForbidden {
		r.w.t.Errorf("%s %s: %d %s", method, path, res.StatusCode, data)
	}
	return res.StatusCode, err
}
