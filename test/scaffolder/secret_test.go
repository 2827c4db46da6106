package scaffolder_test

import (
	"bytes"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.dev/ingestor/internal/app"
	program "example.dev/ingestor/internal/cli/portal"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/test/database"
	"example.dev/ingestor/test/process"
)

// programConfig is the environment variable that makes this test binary run the
// program with a configuration.
const programConfig = "INGESTOR_TEST_PROGRAM_CONFIG"

// TestProgram runs portal-backend as a separate process.
func TestProgram(*testing.T) {
	path := os.Getenv(programConfig)
	if path == "" {
		return
	}
	os.Args = []string{program.Name, "--config", path, "--log-format", "json", "--log-level", "debug"}
	app.Main(program.Name, program.Run)
}

// launch starts portal-backend as a process in a folder. The function that it
// returns stops the process with a signal.
func launch(t *testing.T, dir string, more sections) (b *backend, stop func()) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	path, err := configure(dir, at, more)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b = &backend{base: "http://" + at, dir: dir, log: &process.Log{}}
	cmd := exec.Command(self, "-test.run=^TestProgram$", "-test.timeout=0") //nolint:noctx // it outlives the context of the test
	cmd.Env = append(os.Environ(), programConfig+"="+path)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, b.log, b.log
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	until(t, "the program is ready", func() bool {
		select {
		case <-p.Ended():
			t.Fatalf("program ended: %v\n%s", p.Err(), b.log)
		default:
		}
		resp, err := http.Get(b.base + "/health/ready") //nolint:noctx // it is asked again
		if err != nil {
			return false
		}
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
	return b, func() {
		p.Signal(syscall.SIGTERM)
		if err := p.Err(); err != nil {
			t.Errorf("program ended with %v", err)
		}
	}
}

// theSecret must not be visible anywhere.
const theSecret = "hunter2-which-is-never-shown"

// TestSecrets runs a task with a secret, which it logs, applies, outputs and
// fails with. It checks that the secret is in the cluster and nowhere else.
func TestSecrets(t *testing.T) {
	w, _ := enter(t)
	ns := w.namespace(t, "secrets")
	dir := t.TempDir()
	b, stop := launch(t, dir, sections{
		"orchestrator": sections{"serviceLocatorMethod": sections{"type": "multiTenant"}, "clusterLocatorMethods": []any{
			sections{"type": "config", "clusters": []any{sections{"name": "real", "kubeconfig": w.cluster.Kubeconfig}}},
		}},
	})
	c := b.client(t)
	steps := `{id: say, action: 'debug:log', input: {message: 'it is ${{ secrets.token }}!', extra: '${{ secrets.token }}'}},
    {id: write, action: 'fs:write', input: {path: token.txt, content: '${{ secrets.token }}'}},
    {id: show, action: 'debug:log', input: {message: shown, listWorkspace: with-contents}},
    {id: apply, action: 'kubernetes:apply', input: {manifest: {apiVersion: v1, kind: Secret, metadata: {name: one, namespace: ` + ns + `}, stringData: {token: '${{ secrets.token }}'}}}},
    {id: echo, action: 'debug:log', input: {message: '${{ steps.apply.output.manifest }}'}}`
	c.push("secrets",
		strings.TrimSuffix(template("secret", steps), "}}")+`, output: {text: [{title: It, content: 'is ${{ secrets.token }}'}]}}}`,
		template("leaks", steps+`, {id: wait, action: 'debug:wait', input: {minutes: 9}}`),
		template("fails", `{id: apply, action: 'kubernetes:apply', input: {cluster: '${{ secrets.token }}', manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}}`),
	)
	c.form("fails", "")
	secrets := map[string]string{"token": theSecret}
	var told []string
	h := c.follow(c.create("secret", parse(t, "{}"), secrets))
	if h.status != taskstore.TaskCompleted || !strings.Contains(h.log(), "it is ***!") {
		t.Errorf("task is %s, want completed with a redacted log:\n%s", h.status, h.log())
	}
	told = append(told, h.raw)
	failed := c.follow(c.create("fails", parse(t, "{}"), secrets))
	if failed.status != taskstore.TaskFailed || !strings.Contains(failed.log(), "***") {
		t.Errorf("task is %s, want failed with a redacted log:\n%s", failed.status, failed.log())
	}
	told = append(told, failed.raw)
	if got := w.find(t, "/api/v1/namespaces/"+ns+"/secrets/one").Get("data", "token").Str(); got != "aHVudGVyMi13aGljaC1pcy1uZXZlci1zaG93bg==" {
		t.Errorf("secret in the cluster is %q", got)
	}

	// While a task runs, its secrets are stored encrypted.
	running := c.create("leaks", parse(t, "{}"), secrets)
	until(t, "the last step waits", func() bool {
		_, events := c.send(http.MethodGet, api+"/tasks/"+running+"/events", nil)
		return bytes.Contains(events, []byte("waiting for 9m"))
	})
	absent(t, dir, filepath.Join(dir, "tasks"))
	c.cancel(running)
	told = append(told, c.follow(running).raw)
	for _, id := range []string{h.id, failed.id, running} {
		_, shown := c.send(http.MethodGet, api+"/tasks/"+id, nil)
		_, events := c.send(http.MethodGet, api+"/tasks/"+id+"/events", nil)
		told = append(told, string(shown), string(events))
	}
	stop()
	told = append(told, b.log.String())
	for _, text := range told {
		if strings.Contains(text, theSecret) {
			t.Errorf("output contains the secret:\n%s", text)
		}
	}
	// Workspaces have been removed now.
	absent(t, dir, "")
	s := taskstore.New(database.Open(t, db.Options{Client: db.SQLite, Path: filepath.Join(dir, "portal.sqlite")}))
	for _, id := range []string{h.id, failed.id, running} {
		if task, err := s.Task(t.Context(), id); err != nil || task.Secrets != nil {
			t.Errorf("secrets of the ended task %s are still stored: %v", id, err)
		}
	}
}

// absent checks that no file of a folder contains the secret, except below a
// given folder.
func absent(t *testing.T, dir, but string) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path != dir:
			// The file was removed in the meantime.
			return nil
		case err != nil:
			return err
		case path == but:
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		seen++
		if bytes.Contains(data, []byte(theSecret)) {
			t.Errorf("%s contains the secret", path)
		}
		return nil
	})
	if err != nil || seen < 3 {
		t.Errorf("only %d files were searched: %v", seen, err)
	}
}
