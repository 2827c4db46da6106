// Package killed_test checks that the scaffolder loses no task and repeats no
// finished step: several replicas of the portal, each a separate process, share
// a PostgreSQL database, write to a real API server, and are killed at random
// times.
//
// By default the test makes two rounds. To make twenty, run
//
//	go test ./test/scaffolder/killed -v -rounds 20
package killed_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/portal"
	"example.dev/ingestor/test/process"
)

// programConfig is the environment variable that makes this test binary run the
// program with a configuration.
const programConfig = "INGESTOR_TEST_PROGRAM_CONFIG"

// TestProgram runs portal-backend, for the test that kills it.
func TestProgram(*testing.T) {
	path := os.Getenv(programConfig)
	if path == "" {
		return
	}
	os.Args = []string{portal.Name, "--config", path, "--log-format", "json", "--log-level", "warn"}
	app.Main(portal.Name, portal.Run)
}

// theToken is the token of a service account with all permissions.
const theToken = "a-static-token-of-the-tests-4711"

// patience is how long the test waits for a condition.
const patience = 2 * time.Minute

type object = map[string]any

// life is one process of a replica, from its start until it is killed.
type life struct {
	*process.Process
	// name is unique, and identifies the process to the API server.
	name string
	log  *process.Log
	// killed is the time of the kill, zero if it was not killed.
	killed time.Time
}

// replica is one of the portals. Its address does not change.
type replica struct {
	address, config, work string

	mu    sync.Mutex
	lives []*life
}

// base returns the URL of the replica.
func (r *replica) base() string { return "http://" + r.address }

// now returns the current life.
func (r *replica) now() *life {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lives[len(r.lives)-1]
}

// world has replicas that share a database and write to a cluster.
type world struct {
	t        *testing.T
	gate     *gate
	replicas []*replica

	mu sync.Mutex
	// lives has all lives by name.
	lives map[string]*life
	// over means that no process is started any more; crashed is a life that
	// ended without being killed.
	over    bool
	crashed *life
}

// newWorld starts n replicas.
func newWorld(t *testing.T, n int, database string, g *gate) *world {
	t.Helper()
	w := &world{t: t, gate: g, lives: map[string]*life{}}
	t.Cleanup(w.end)
	for i := range n {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		r := &replica{address: l.Addr().String(), work: filepath.Join(t.TempDir(), "work")}
		r.config = w.configure(r, database)
		w.replicas = append(w.replicas, r)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.begin(i); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range w.replicas {
		w.ready(r)
	}
	return w
}

// configure writes the configuration of a replica. Its identity for the API
// server is in its environment, and new for each process.
func (w *world) configure(r *replica, database string) string {
	w.t.Helper()
	data, err := json.Marshal(object{
		"backend": object{
			"baseUrl": r.base(), "listen": r.address, "database": object{"client": "pg", "connection": database},
			"auth": object{"externalAccess": []object{{"type": "static", "options": object{"token": theToken, "subject": "tests"}}}},
		},
		"scaffolder": object{"secretKey": "a-key-of-the-tests-0123456789", "workingDirectory": r.work,
			"limits": object{"openTasks": 100_000, "runningTasks": 100, "eventStreams": 10_000}},
		"permission": object{"rules": []object{{
			"permissions": []string{"scaffolder.action.execute", "cluster.*", "git.*"}, "providers": []string{"*"}, "result": "allow",
		}}},
		"orchestrator": object{
			"serviceLocatorMethod": object{"type": "multiTenant"},
			"clusterLocatorMethods": []object{{"type": "config", "clusters": []object{{
				"name": "prod", "url": w.gate.url, "authProvider": "serviceAccount", "serviceAccountToken": "${WHO}", "skipTLSVerify": true,
			}}}},
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	path := filepath.Join(w.t.TempDir(), "app-config.yaml")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// begin starts a new process of a replica.
func (w *world) begin(number int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r := w.replicas[number]
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return nil
	}
	l := &life{name: fmt.Sprintf("replica%d-life%d", number, len(r.lives)), log: &process.Log{}}
	cmd := exec.Command(self, "-test.run=^TestProgram$", "-test.timeout=0")
	cmd.Env = append(os.Environ(), programConfig+"="+r.config, "WHO="+l.name)
	cmd.Dir = filepath.Dir(r.config)
	cmd.Stdout, cmd.Stderr = l.log, l.log
	if l.Process, err = process.Start(cmd); err != nil {
		return err
	}
	go func() {
		<-l.Ended()
		w.ended(number, l)
	}()
	w.lives[l.name] = l
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lives = append(r.lives, l)
	return nil
}

// ended handles the end of a process. If its port was taken by another process
// it is started again; any other end without a kill is a failure.
func (w *world) ended(number int, l *life) {
	w.mu.Lock()
	killed := !l.killed.IsZero() || w.over
	taken := strings.Contains(l.log.Tail(), "address is in use by another program")
	if !killed && taken {
		l.killed = time.Now()
	}
	if !killed && !taken {
		w.crashed = l
	}
	w.mu.Unlock()
	if !killed && taken {
		if err := w.begin(number); err != nil {
			w.t.Errorf("cannot restart replica %d: %v", number, err)
		}
	}
}

// kill kills a process, and starts the next one of its replica.
func (w *world) kill(l *life) {
	w.mu.Lock()
	again := l.killed.IsZero() && !w.over
	if again {
		l.killed = time.Now()
	}
	w.mu.Unlock()
	l.Kill()
	if !again {
		return
	}
	for i, r := range w.replicas {
		if r.now() != l {
			continue
		}
		if err := w.begin(i); err != nil {
			w.t.Errorf("cannot restart replica %d: %v", i, err)
		}
	}
}

// end stops all replicas.
func (w *world) end() {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	for _, r := range w.replicas {
		if len(r.lives) == 0 {
			continue
		}
		w.kill(r.now())
		if w.t.Failed() {
			w.t.Logf("end of the log of %s:\n%s", r.now().name, r.now().log.Tail())
		}
	}
}

// kills counts the killed processes.
func (w *world) kills() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, l := range w.lives {
		if !l.killed.IsZero() {
			n++
		}
	}
	return n
}

// ready waits until a replica responds.
func (w *world) ready(r *replica) {
	w.t.Helper()
	w.until("a replica is ready", func() error { return r.ask(http.MethodGet, "/health/ready", nil, nil) })
}

// until waits until check returns nil.
func (w *world) until(what string, check func() error) {
	w.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := check()
		w.mu.Lock()
		crashed := w.crashed
		w.mu.Unlock()
		if crashed != nil {
			w.t.Fatalf("%s ended without being killed:\n%s", crashed.name, crashed.log.Tail())
		}
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: not reached within %v: %v", what, patience, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// client has a timeout for replicas that are killed during a response.
var client = &http.Client{Timeout: 30 * time.Second}

// ask sends a request to a replica, and decodes the response into v unless v is
// nil.
func (r *replica) ask(method, path string, body []byte, v any) error {
	req, err := http.NewRequest(method, r.base()+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+theToken)
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPut {
		req.Header.Set("Content-Type", "application/x-ndjson")
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, strings.TrimSpace(string(data)))
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(data, v)
}

// ask sends a request to one replica after the other until one responds.
func (w *world) ask(method, path string, body []byte, v any) {
	w.t.Helper()
	n := 0
	w.until(method+" "+path, func() error {
		n++
		return w.replicas[n%len(w.replicas)].ask(method, path, body, v)
	})
}
