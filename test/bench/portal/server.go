package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a portal-backend that runs.
type server struct {
	program, config, base string
	cmd                   *exec.Cmd
	log                   bytes.Buffer
}

// start starts the program with a configuration of its own.
func start(tmp, program, database string) (*server, error) {
	return startWith(tmp, program, database, "")
}

// startWith is start with more of a configuration.
func startWith(tmp, program, database, more string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	s := &server{program: program, config: filepath.Join(tmp, "app-config.yaml"), base: "http://" + address}
	text := fmt.Sprintf("backend:\n  baseUrl: %s\n  listen: %q\n  database: %s\n  auth: { externalAccess: [{ type: static, options: { token: %s, subject: bench } }] }\n",
		s.base, address, database, token)
	if err := os.WriteFile(s.config, []byte(text+more), 0o600); err != nil {
		return nil, err
	}
	return s, s.begin()
}

func (s *server) begin() error {
	s.log.Reset()
	s.cmd = exec.Command(s.program, "--config", s.config)
	s.cmd.Stderr = &s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for range 600 {
		res, err := http.Get(s.base + "/.backstage/health/v1/readiness")
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.stop()
	return fmt.Errorf("portal-backend did not become ready:\n%s", s.log.String())
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait() // It was told to end.
}

// rate is what wrk saw, and what it cost the server.
type rate struct{ perCPU, perSecond, megabytes float64 }

// load makes requests with wrk.
func (s *server) load(tmp string, entities int, path string) (rate, error) {
	script := fmt.Sprintf("local components = %d\nlocal kinds = {%s}\nlocal types = {\"service\", \"website\", \"library\"}\nwrk.headers[\"Authorization\"] = \"Bearer %s\"\nlocal function path()\n%s\nend\nfunction request() return wrk.format(\"GET\", path()) end\n",
		entities/perTen*6, weighted(), token, path)
	at := filepath.Join(tmp, "load.lua")
	if err := os.WriteFile(at, []byte(script), 0o600); err != nil {
		return rate{}, err
	}
	run := func(d time.Duration) (string, error) {
		out, err := exec.Command("wrk", "-t2", "-c16", fmt.Sprintf("-d%ds", int(d.Seconds())), "-s", at, s.base).CombinedOutput()
		return string(out), err
	}
	if out, err := run(time.Second); err != nil {
		return rate{}, fmt.Errorf("%w: %s", err, out)
	}
	before, err := s.cpu()
	if err != nil {
		return rate{}, err
	}
	begin := time.Now()
	out, err := run(*duration)
	if err != nil {
		return rate{}, fmt.Errorf("%w: %s", err, out)
	}
	took := time.Since(begin).Seconds()
	after, err := s.cpu()
	if err != nil {
		return rate{}, err
	}
	if strings.Contains(out, "Non-2xx") || strings.Contains(out, "Socket errors") {
		return rate{}, fmt.Errorf("some requests failed:\n%s", out)
	}
	m := regexp.MustCompile(`(\d+) requests in [\d.]+\w+, ([\d.]+)([KMG]?)B read`).FindStringSubmatch(out)
	if m == nil {
		return rate{}, fmt.Errorf("cannot read what wrk says:\n%s", out)
	}
	requests, _ := strconv.ParseFloat(m[1], 64) // They are digits.
	read, _ := strconv.ParseFloat(m[2], 64)
	megabytes := read * map[string]float64{"": 1e-6, "K": 1e-3, "M": 1, "G": 1e3}[m[3]]
	return rate{requests / (after - before), requests / took, megabytes / took}, nil
}

// weighted returns the kinds, each as often as of ten entities are of it.
func weighted() string {
	var all []string
	for _, k := range kinds {
		for range k.of {
			all = append(all, strconv.Quote(k.name))
		}
	}
	return strings.Join(all, ", ")
}

// cpu returns the seconds of processor time the server has used.
func (s *server) cpu() (float64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The name, in parentheses, may hold spaces; the times are the twelfth and
	// thirteenth field behind it, in hundredths of a second.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, err := strconv.ParseFloat(fields[11], 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100, err
}

// memory returns a figure of the server's memory, such as VmRSS for the
// resident one, in megabytes.
func (s *server) memory(figure string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(figure + `:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		return 0, fmt.Errorf("cannot find the memory of process %d", s.cmd.Process.Pid)
	}
	kilobytes, err := strconv.ParseFloat(string(m[1]), 64)
	return kilobytes / 1000, err
}
