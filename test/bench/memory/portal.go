package main

import (
	"encoding/json"
	"fmt"
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

// token is that of a service.
const token = "bench-token-of-a-service"

const configuration = `
backend:
  baseUrl: http://%[1]s
  listen: %[1]s
  auth: { externalAccess: [{ type: static, options: { token: %[3]s, subject: bench } }] }
  database: { client: sqlite, connection: { filename: %[2]s } }
composerIngestor:
  schedule: { frequency: 1h, timeout: 1h }
%[4]s
`

// patience is how long a portal may take for what it is asked.
const patience = 20 * time.Minute

// portal is a portal-backend with a database of its own, which can be started
// several times.
type portal struct {
	dir, address, config string
	started              time.Time
}

// prepare writes a configuration, of which more is the end.
func prepare(tmp, more string) (*portal, error) {
	dir, err := os.MkdirTemp(tmp, "service-")
	if err != nil {
		return nil, err
	}
	port, err := process.FreePort()
	if err != nil {
		return nil, err
	}
	p := &portal{dir: dir, address: fmt.Sprintf("127.0.0.1:%d", port), config: filepath.Join(dir, "app-config.yaml")}
	text := fmt.Appendf(nil, configuration, p.address, filepath.Join(dir, "portal.sqlite"), token, more)
	return p, os.WriteFile(p.config, text, 0o600)
}

// ask asks the portal about ingestion.
func ask(address, about string, v any) error {
	req, err := http.NewRequest(http.MethodGet, "http://"+address+"/api/composer-ingestor/"+about, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return json.NewDecoder(resp.Body).Decode(v)
}

// settled reports whether so many sources have been read since the portal was
// started, and all that they gave has been worked off and checked.
func (p *portal) settled(sources int) (bool, error) {
	var health struct {
		EntitiesGenerated int
		Sources           []struct {
			State, LastError string
			LastSuccess      time.Time
		}
	}
	var findings struct{ Pending int }
	if ask(p.address, "health", &health) != nil || ask(p.address, "findings?limit=0", &findings) != nil {
		// It is starting.
		return false, nil
	}
	read := 0
	for _, s := range health.Sources {
		if s.LastError != "" {
			return false, fmt.Errorf("a source cannot be read: %s", s.LastError)
		}
		if s.LastSuccess.After(p.started) {
			read++
		}
	}
	return read == sources && health.EntitiesGenerated > 0 && findings.Pending == 0, nil
}

// run starts the portal, waits until done says so, stops it, and returns the most
// memory it took, in MB.
func (p *portal) run(done func() (bool, error)) (mb int, err error) {
	log := &process.Log{}
	cmd := exec.Command(*program, "--config", p.config)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, log, log
	p.started = time.Now()
	running, err := process.Start(cmd)
	if err != nil {
		return 0, err
	}
	defer running.Kill()
	for deadline := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		select {
		case <-running.Ended():
			return 0, fmt.Errorf("portal-backend exited:\n%s", log.Tail())
		default:
		}
		ok, err := done()
		if err != nil {
			return 0, fmt.Errorf("%w\n%s", err, log.Tail())
		}
		if ok {
			break
		}
		if time.Now().After(deadline) {
			return 0, fmt.Errorf("not done after %v:\n%s", patience, log.Tail())
		}
	}
	if mb, err = peak(running.PID()); err != nil {
		return 0, err
	}
	return mb, running.Stop(time.Minute, syscall.SIGTERM)
}

// peak returns the most memory that a process had, in MB.
func peak(pid int) (int, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kB, err := strconv.Atoi(number)
	return kB * 1024 / 1e6, err
}
