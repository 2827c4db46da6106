// Package backend runs portal-backend for benchmarks: it starts the program,
// sends requests to its API, and measures its CPU time and memory.
package backend

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.dev/ingestor/test/process"
)

// Token is the static token of a service account with all permissions.
const Token = "bench-token-of-a-service"

// patience is how long Until waits.
const patience = 5 * time.Minute

// Backend is a portal-backend. It can be started again after Stop.
type Backend struct {
	// Base is its address, such as http://127.0.0.1:8080.
	Base string
	// Log is its output since it was last started.
	Log bytes.Buffer

	program, config string
	env             []string
	cmd             *exec.Cmd
}

// Options are the options of Start.
type Options struct {
	// Dir is the folder for its configuration.
	Dir string
	// Program is the path of portal-backend. If Env is not empty, the program gets the
	// path of the configuration in that environment variable, and no arguments.
	Program, Env string
	// Database is the value of backend.database.
	Database string
	// Config is the rest of the configuration, in YAML.
	Config string
}

// SQLite is the value of backend.database for a file in a folder.
func SQLite(dir string) string {
	return fmt.Sprintf("{ client: sqlite, connection: { filename: %q } }", filepath.Join(dir, "portal.sqlite"))
}

// Start writes the configuration, starts the program, and waits until it is ready.
func Start(opts Options) (*Backend, error) {
	port, err := process.FreePort()
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	b := &Backend{Base: "http://" + address, program: opts.Program, config: filepath.Join(opts.Dir, "app-config.yaml")}
	if opts.Env != "" {
		b.env = []string{opts.Env + "=" + b.config}
	}
	text := fmt.Sprintf(`backend:
  baseUrl: %s
  listen: %q
  database: %s
  auth: { externalAccess: [{ type: static, options: { token: %s, subject: bench } }] }
`, b.Base, address, opts.Database, Token)
	if err := os.WriteFile(b.config, []byte(text+opts.Config), 0o600); err != nil {
		return nil, err
	}
	return b, b.Start()
}

// Start starts the program and waits until it is ready.
func (b *Backend) Start() error {
	b.Log.Reset()
	b.cmd = exec.Command(b.program)
	if b.env == nil {
		b.cmd.Args = append(b.cmd.Args, "--config", b.config)
	}
	b.cmd.Env = append(os.Environ(), b.env...)
	b.cmd.Stderr = &b.Log
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := b.cmd.Start(); err != nil {
		return err
	}
	err := Until("portal-backend is ready", func() (bool, error) {
		_, err := b.Ask(http.MethodGet, "/.backstage/health/v1/readiness", "", nil)
		return err == nil, err
	})
	if err != nil {
		b.Stop()
		return fmt.Errorf("%w:\n%s", err, b.Log.String())
	}
	return nil
}

// Stop stops the program as SIGTERM does, and waits for its end.
func (b *Backend) Stop() {
	_ = b.cmd.Process.Signal(syscall.SIGTERM)
	_ = b.cmd.Wait() // The program was told to end, so its exit status does not matter.
}

// Request makes a request. The caller closes the body of the response.
func (b *Backend) Request(method, path, body string) (*http.Response, error) {
	req, err := http.NewRequest(method, b.Base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+Token)
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPut {
		req.Header.Set("Content-Type", "application/x-ndjson")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		text, err := io.ReadAll(io.LimitReader(res.Body, 4<<10))
		return nil, errors.Join(fmt.Errorf("%s %s: %s %s", method, path, res.Status, text), err, res.Body.Close())
	}
	return res, nil
}

// Ask makes a request, reads the response into v unless v is nil, and returns the
// headers of the response.
func (b *Backend) Ask(method, path, body string, v any) (http.Header, error) {
	res, err := b.Request(method, path, body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || v == nil {
		return res.Header, err
	}
	return res.Header, json.Unmarshal(text, v)
}

// Entities returns the number of entities in the catalog, of a kind unless it
// is empty.
func (b *Backend) Entities(kind string) (int, error) {
	filter := ""
	if kind != "" {
		filter = "&filter=kind=" + kind
	}
	var page struct{ TotalItems int }
	_, err := b.Ask(http.MethodGet, "/api/catalog/entities/by-query?limit=1"+filter, "", &page)
	return page.TotalItems, err
}

// Until calls check until it returns true, for at most five minutes. An error of check
// is returned only then.
func Until(what string, check func() (bool, error)) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		ok, err := check()
		if ok {
			return nil
		}
		if time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("not within %v: %s", patience, what), err)
		}
	}
}

// PID returns the process ID of the program.
func (b *Backend) PID() int { return b.cmd.Process.Pid }

// CPU returns the CPU time of the program in seconds.
func (b *Backend) CPU() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", b.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The name, in parentheses, may contain spaces; the times are the twelfth and
	// thirteenth field after it, in hundredths of a second.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, err := strconv.ParseFloat(fields[11], 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100, err
}

// Figures of Memory.
const (
	Resident = "VmRSS"
	Peak     = "VmHWM"
)

// Memory returns a figure of the program's memory, in megabytes.
func (b *Backend) Memory(figure string) (float64, error) { return Memory(b.cmd.Process.Pid, figure) }

// Memory returns a figure of the memory of a process, in megabytes.
func Memory(pid int, figure string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(text), figure+":")
	value, _, _ := strings.Cut(rest, "kB")
	kilobytes, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if !found || err != nil {
		return 0, fmt.Errorf("cannot find %s of process %d", figure, pid)
	}
	return kilobytes / 1000, nil
}
