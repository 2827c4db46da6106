package httpd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"example.dev/ingestor/internal/rest"
)

// endless returns a server with one route without a time limit.
func endless(o Options, handle rest.Handler) *Server {
	o.Plugins = []rest.Plugin{{Names: []string{"things"}, Routes: []rest.Route{{Method: "GET", Path: "/x", Public: true, Handle: handle, Timeout: -1}}}}
	return New(fill(o))
}

// TestEndlessStops stops a server during an endless request.
func TestEndlessStops(t *testing.T) {
	began := make(chan struct{})
	s := endless(Options{}, func(w http.ResponseWriter, r *http.Request) error {
		if err := http.NewResponseController(w).Flush(); err != nil {
			return err
		}
		close(began)
		<-r.Context().Done()
		return r.Context().Err()
	})
	// The test does not wait that long.
	addr, stop := run(t, s, time.Hour)
	read := make(chan error, 1)
	go func() {
		res, err := http.Get("http://" + addr + "/api/things/x")
		if err == nil {
			_, err = io.ReadAll(res.Body)
			_ = res.Body.Close()
		}
		read <- err
	}()
	<-began
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	select {
	case err := <-stopped:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("server waits for an endless request")
	}
	if err := <-read; err == nil {
		t.Error("client takes a truncated response for complete")
	}
}

// TestSlowFollower flushes small pieces to a client that does not read: the
// handler gets an error, and the request ends.
func TestSlowFollower(t *testing.T) {
	var log lines
	ended := make(chan error, 1)
	s := endless(Options{Log: log.logger(slog.LevelInfo)}, func(w http.ResponseWriter, r *http.Request) error {
		piece, flush := bytes.Repeat([]byte("x"), 1000), http.NewResponseController(w).Flush
		for r.Context().Err() == nil {
			_, err := w.Write(piece)
			if err == nil {
				err = flush()
			}
			if err != nil {
				ended <- err
				return err
			}
		}
		ended <- r.Context().Err()
		return r.Context().Err()
	})
	s.writeTimeout = 200 * time.Millisecond
	addr, _ := run(t, s, time.Second)
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, "GET /api/things/x HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if errors.Is(err, context.Canceled) {
			t.Errorf("error is %v, want that the client does not read", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("client that does not read blocks its request")
	}
	if line := log.find(t, "request"); line["aborted"] != true {
		t.Errorf("log line is %v", line)
	}
}
