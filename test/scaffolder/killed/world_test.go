// Package killed_test holds the scaffolder to its promise that nothing is lost
// and nothing is done twice: several replicas of the portal, each a process of
// its own, share a PostgreSQL and write to a real API server, and are killed at
// random moments.
//
// Two rounds are made with the other tests; twenty are made with
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

// programConfig is the environment variable that makes of this test binary the
// program, with a configuration.
const programConfig = "INGESTOR_TEST_PROGRAM_CONFIG"

// TestProgram is portal-backend, for the test that kills it.
func TestProgram(*testing.T) {
	path := os.Getenv(programConfig)
	if path == "" {
		return
	}
	os.Args = []string{portal.Name, "--config", path, "--log-format", "json", "--log-level", "warn"}
	app.Main(portal.Name, portal.Run)
}

// theToken is that of a service that may do everything.
const theToken = "a-static-token-of-the-tests-4711"

// patience is how long the test waits for what must come.
const patience = 2 * time.Minute

type object = map[string]any

// life is one process of a replica, from its start until it is killed.
type life struct {
	*process.Process
	// name is unique, and what the process tells the API server it is.
	name string
	log  *process.Log
	// killed is when it was, or zero.
	killed time.Time
}

// replica is one of the portals. It is always at the same address.
type replica struct {
	address, config, work string

	mu    sync.Mutex
	lives []*life
}

// base is where it answers.
func (r *replica) base() string { return "http://" + r.address }

// now returns the life it has.
func (r *replica) now() *life {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lives[len(r.lives)-1]
}

// world is replicas that share a database and write to a cluster.
type world struct {
	t        *testing.T
	gate     *gate
	replicas []*replica

	mu sync.Mutex
	// lives are all there were, by name.
	lives map[string]*life
	// over says that nothing is started any more, and crashed who ended without
	// being killed.
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

// configure writes the configuration of a replica. Who it is to the API server
// is in its environment, and another each time it is started.
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

// begin starts a life of a replica.
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

// ended looks why a life ended. One that found its port taken, by somebody who
// was quicker, gets another try; any other that nobody killed is a failure.
func (w *world) ended(number int, l *life) {
	w.mu.Lock()
	killed := !l.killed.IsZero() || w.over
	taken := strings.Contains(l.log.Tail(), "another program does")
	if !killed && taken {
		l.killed = time.Now()
	}
	if !killed && !taken {
		w.crashed = l
	}
	w.mu.Unlock()
	if !killed && taken {
		if err := w.begin(number); err != nil {
			w.t.Errorf("cannot start replica %d again: %v", number, err)
		}
	}
}

// kill kills a life, and starts the next of that replica.
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
			w.t.Errorf("cannot start replica %d again: %v", i, err)
		}
	}
}

// end ends all.
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
			w.t.Logf("the end of the log of %s:\n%s", r.now().name, r.now().log.Tail())
		}
	}
}

// kills counts those that were killed.
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

// ready waits until a replica answers.
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
			w.t.Fatalf("%s ended, and nobody had killed it:\n%s", crashed.name, crashed.log.Tail())
		}
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: not within %v: %v", what, patience, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// client gives up on a replica that was killed in the middle of an answer.
var client = &http.Client{Timeout: 30 * time.Second}

// ask asks a replica, and reads the answer into v if that is not nil.
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

// ask asks any replica, one after the other until one answers.
func (w *world) ask(method, path string, body []byte, v any) {
	w.t.Helper()
	n := 0
	w.until(method+" "+path, func() error {
		n++
		return w.replicas[n%len(w.replicas)].ask(method, path, body, v)
	})
}
