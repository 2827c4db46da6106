package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"

	"example.dev/ingestor/test/bench/backend"
)

// start starts a portal-backend with an empty database.
func start(tmp string) (*backend.Backend, error) {
	return backend.Start(backend.Options{Dir: tmp, Program: filepath.Join(tmp, "portal-backend"), Database: backend.SQLite(tmp)})
}

// holds checks the number of entities in the catalog.
func holds(b *backend.Backend, want int) error {
	n, err := b.Entities("")
	if err != nil {
		return err
	}
	if n != want {
		return fmt.Errorf("catalog has %d entities, want %d", n, want)
	}
	return nil
}

// standIn is a stand-in for a portal: it reads every push and stores nothing.
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
