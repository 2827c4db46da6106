package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const token = "bench-token-of-a-service"

// service is a portal that runs.
type service struct {
	base string
	cmd  *exec.Cmd
	log  bytes.Buffer
}

// begin starts a program with a database and so many workers, and waits until
// it is ready.
func (b *bench) begin(program, database string, workers int) (*service, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	config := filepath.Join(b.tmp, "app-config.yaml")
	text := fmt.Sprintf(`backend:
  baseUrl: http://%[1]s
  listen: %[1]q
  database: %[2]s
  auth: { externalAccess: [{ type: static, options: { token: %[3]s, subject: bench } }] }
scaffolder: { concurrentTasksLimit: %[4]d, secretKey: a-key-of-the-benchmark-7c1e, limits: { openTasks: 1000000, runningTasks: 1000, eventStreams: 1000000 }, workingDirectory: %[5]q }
composerIngestor: { sources: [{ name: definitions, type: file, path: %[6]q }] }
orchestrator:
  serviceLocatorMethod: { type: multiTenant }
  clusterLocatorMethods: [{ type: config, clusters: [{ name: bench, kubeconfig: %[7]q }] }]
`, address, database, token, workers, filepath.Join(b.tmp, "work"), filepath.Join(b.tmp, "definitions"), b.cluster.Kubeconfig)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	s := &service{base: "http://" + address}
	s.cmd = exec.Command(program, "--config", config)
	s.cmd.Env = os.Environ()
	if program == b.talking {
		s.cmd.Args, s.cmd.Env = s.cmd.Args[:1], append(s.cmd.Env, serveConfig+"="+config)
	}
	s.cmd.Stderr = &s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := until("the portal", func() error { return s.ask(http.MethodGet, "/health/ready", "", nil) }); err != nil {
		s.stop()
		return nil, fmt.Errorf("%w\n%s", err, s.log.String())
	}
	return s, nil
}

// end stops a portal, and shows its log if that was asked for.
func (b *bench) end(s *service) {
	s.stop()
	if *logged {
		fmt.Fprint(b.w, s.log.String())
	}
}

func (s *service) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait() // It was told to end.
}

// request makes a request. Whoever makes it closes the answer.
func (s *service) request(method, path, body string) (*http.Response, error) {
	req, err := http.NewRequest(method, s.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPut {
		req.Header.Set("Content-Type", "application/x-ndjson")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		data, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		return nil, errors.Join(fmt.Errorf("%s %s: %s %s", method, path, resp.Status, data), err, resp.Body.Close())
	}
	return resp, nil
}

// ask makes a request, and reads the answer into v if that is not nil.
func (s *service) ask(method, path, body string, v any) error {
	resp, err := s.request(method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || v == nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// make asks for a task, and returns its id.
func (s *service) make(template, values string) (string, error) {
	var made struct{ ID string }
	err := s.ask(http.MethodPost, "/api/scaffolder/v2/tasks", fmt.Sprintf(`{"templateRef":"template:default/%s","values":%s}`, template, values), &made)
	return made.ID, err
}

// total is how many tasks there are of a status.
func (s *service) total(status ...string) (int, error) {
	var page struct{ TotalTasks int }
	err := s.ask(http.MethodGet, "/api/scaffolder/v2/tasks?limit=0&status="+strings.Join(status, "&status="), "", &page)
	return page.TotalTasks, err
}

// cpu returns the processor time that the portal has used, in seconds.
func (s *service) cpu() (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	user, err := strconv.ParseFloat(fields[11], 64)
	system, err2 := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100, errors.Join(err, err2)
}

// until asks until check is content.
func until(what string, check func() error) error {
	const patience = 5 * time.Minute
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: not within %v: %w", what, patience, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
