package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// token is the caller's, a service that may push.
const token = "bench-token-of-a-service"

// backend is a portal-backend that runs.
type backend struct {
	base string
	cmd  *exec.Cmd
	log  bytes.Buffer
}

// start starts a portal-backend with an empty database.
func start(tmp string) (*backend, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	config := filepath.Join(tmp, "app-config.yaml")
	text := fmt.Sprintf(`backend:
  baseUrl: http://%[1]s
  listen: %[1]q
  database: { client: sqlite, connection: { filename: %[2]q } }
  auth: { externalAccess: [{ type: static, options: { token: %[3]s, subject: bench } }] }
`, address, filepath.Join(tmp, "portal.sqlite"), token)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	b := &backend{base: "http://" + address}
	b.cmd = exec.Command(filepath.Join(tmp, "portal-backend"), "--config", config)
	b.cmd.Stderr = &b.log
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := b.cmd.Start(); err != nil {
		return nil, err
	}
	for range 600 {
		res, err := http.Get(b.base + "/.backstage/health/v1/readiness")
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return b, nil
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.stop()
	return nil, fmt.Errorf("portal-backend did not become ready:\n%s", b.log.String())
}

func (b *backend) stop() {
	_ = b.cmd.Process.Signal(syscall.SIGTERM)
	_ = b.cmd.Wait() // It was told to end.
}

// holds checks how many entities the catalog has.
func (b *backend) holds(want int) error {
	req, err := http.NewRequest(http.MethodGet, b.base+"/api/catalog/entities/by-query?limit=1", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	var page struct{ TotalItems int }
	if err := json.NewDecoder(res.Body).Decode(&page); err != nil {
		return err
	}
	if page.TotalItems != want {
		return fmt.Errorf("the catalog has %d entities, want %d", page.TotalItems, want)
	}
	return nil
}

// standIn stands for a portal: it reads all that it is sent and keeps nothing.
type standIn struct {
	server       *httptest.Server
	lines, bytes int
}

func newStandIn() *standIn {
	s := &standIn{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/catalog/providers", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"items":[]}`) })
	mux.HandleFunc("PUT /api/catalog/providers/{name}/entities", func(w http.ResponseWriter, r *http.Request) {
		if err := s.read(r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, `{"added":%d,"updated":0,"removed":0,"unchanged":0,"kept":0,"refused":[]}`, s.lines)
	})
	s.server = httptest.NewServer(mux)
	return s
}

// read reads a push.
func (s *standIn) read(r *http.Request) error {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			return err
		}
		body = z
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := body.Read(buf)
		s.lines += bytes.Count(buf[:n], []byte("\n"))
		s.bytes += n
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *standIn) close() { s.server.Close() }
