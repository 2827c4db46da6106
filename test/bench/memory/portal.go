package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"example.dev/ingestor/test/bench/backend"
	"example.dev/ingestor/test/process"
)

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

// patience is the timeout of a measurement.
const patience = 20 * time.Minute

// portal is a portal-backend with its own database, which can be started
// several times.
type portal struct {
	dir, address, config string
	started              time.Time
}

// prepare writes a configuration that ends with more.
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
	text := fmt.Appendf(nil, configuration, p.address, filepath.Join(dir, "portal.sqlite"), backend.Token, more)
	return p, os.WriteFile(p.config, text, 0o600)
}

// ask sends a request to the ingestion API of the portal.
func ask(address, about string, v any) error {
	req, err := http.NewRequest(http.MethodGet, "http://"+address+"/api/composer-ingestor/"+about, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+backend.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return json.NewDecoder(resp.Body).Decode(v)
}

// settled reports whether the given number of sources have been read since the
// start, and all their objects have been processed and checked.
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
		// The portal is starting.
		return false, nil
	}
	read := 0
	for _, s := range health.Sources {
		if s.LastError != "" {
			return false, fmt.Errorf("source cannot be read: %s", s.LastError)
		}
		if s.LastSuccess.After(p.started) {
			read++
		}
	}
	return read == sources && health.EntitiesGenerated > 0 && findings.Pending == 0, nil
}

// run starts the portal, waits until done returns true, stops it, and returns
// its peak memory in MB.
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
	peak, err := backend.Memory(running.PID(), backend.Peak)
	if err != nil {
		return 0, err
	}
	return int(peak), running.Stop(time.Minute, syscall.SIGTERM)
}
