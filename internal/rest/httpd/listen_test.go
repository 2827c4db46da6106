package httpd

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/rest"
)

// run serves at a local port until the test ends or stop is called, which
// returns the result of Serve.
func run(t *testing.T, s *Server, drain time.Duration) (addr string, stop func() error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.serveUntil(ctx, ln, drain) }()
	ended := false
	stop = func() error {
		cancel()
		if ended {
			return nil
		}
		ended = true
		return <-done
	}
	t.Cleanup(func() { _ = stop() })
	return ln.Addr().String(), stop
}

// serving returns a server with one route.
func serving(o Options, handle rest.Handler) *Server {
	o.Plugins = []rest.Plugin{{Names: []string{"things"}, Routes: []rest.Route{{Method: "GET", Path: "/x", Public: true, Handle: handle}}}}
	return New(fill(o))
}

func TestShutdown(t *testing.T) {
	cases := map[string]struct {
		reason string
		drain  time.Duration
		// finish makes the request end while the server stops.
		finish bool
		want   string
	}{
		"Finishes": {"A running request is finished.", 20 * time.Second, true, "done"},
		"Bounded":  {"A running request is cancelled after the timeout.", 50 * time.Millisecond, false, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var log lines
			entered, leave := make(chan struct{}), make(chan struct{})
			s := serving(Options{Log: log.logger(slog.LevelInfo)}, func(w http.ResponseWriter, r *http.Request) error {
				close(entered)
				select {
				case <-leave:
				case <-r.Context().Done():
					return r.Context().Err()
				}
				return rest.Write(w, r, rest.Content{Body: []byte("done")})
			})
			addr, stop := run(t, s, tc.drain)
			body := make(chan string, 1)
			go func() {
				res, err := http.Get("http://" + addr + "/api/things/x")
				if err != nil {
					body <- ""
					return
				}
				defer res.Body.Close()
				data, _ := io.ReadAll(res.Body)
				body <- string(data)
			}()
			<-entered
			stopped := make(chan error, 1)
			go func() { stopped <- stop() }()
			eventually(t, "the end of readiness", s.draining.Load)
			eventually(t, "the port to close", func() bool {
				c, err := net.Dial("tcp", addr)
				if err == nil {
					_ = c.Close()
				}
				return err != nil
			})
			if tc.finish {
				close(leave)
			}
			if err := <-stopped; err != nil {
				t.Errorf("%s: Serve returned %v", tc.reason, err)
			}
			if got := <-body; got != tc.want {
				t.Errorf("%s: response is %q", tc.reason, got)
			}
			if cut := strings.Contains(log.String(), "requests aborted"); cut == tc.finish {
				t.Errorf("%s: log is\n%s", tc.reason, &log)
			}
		})
	}
}

// TestShutdownDelay checks that a server still responds while it reports that it
// is not ready.
func TestShutdownDelay(t *testing.T) {
	s := serving(Options{ShutdownDelay: time.Minute}, func(w http.ResponseWriter, _ *http.Request) error {
		_, err := io.WriteString(w, "here")
		return err
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.serveUntil(ctx, ln, time.Second) }()
	closes := false
	get := func(path string) int {
		res, err := http.Get("http://" + ln.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		closes = res.Close
		return res.StatusCode
	}
	if got := get("/health/ready"); got != http.StatusOK {
		t.Errorf("readiness before the stop is %d", got)
	}
	if closes {
		t.Error("response before the stop closes its connection")
	}
	cancel()
	for get("/health/ready") != http.StatusServiceUnavailable {
		time.Sleep(time.Millisecond)
	}
	if got := get("/api/things/x"); got != http.StatusOK {
		t.Errorf("new connection got %d", got)
	}
	if !closes {
		t.Error("response does not close its connection")
	}
	select {
	case err := <-done:
		t.Errorf("server ended before the delay: %v", err)
	default:
	}
	_ = ln.Close()
	<-done
}

func TestServeFails(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	if err := New(fill(Options{})).Serve(t.Context(), ln); err == nil || !strings.HasPrefix(err.Error(), "cannot serve at 127.0.0.1:") {
		t.Errorf("Serve with a closed listener returned %v", err)
	}
	ln, err = net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := fill(Options{HTTPS: config.HTTPS{CertFile: "nosuch.pem", KeyFile: "nosuch.key"}})
	if err := New(o).Serve(t.Context(), ln); err == nil || !strings.HasPrefix(err.Error(), "cannot read the server's certificate: ") {
		t.Errorf("Serve with a missing certificate returned %v", err)
	}
}

func TestSlowReader(t *testing.T) {
	var log lines
	ended := make(chan struct{})
	s := serving(Options{Log: log.logger(slog.LevelInfo)}, func(w http.ResponseWriter, r *http.Request) error {
		defer close(ended)
		// This is more than the buffers of both ends.
		return rest.Write(w, r, rest.Content{Body: bytes.Repeat([]byte("x"), 64<<20)})
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
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("client that does not read blocks its request")
	}
	line := log.find(t, "request")
	if line["aborted"] != true || line["bytes"].(float64) >= 64<<20 {
		t.Errorf("log line is %v", line)
	}
	if strings.Contains(log.String(), "failed") {
		t.Errorf("client that does not read was logged as a failure:\n%s", &log)
	}
}

// slow is a client that delays each write, and records the shortest deadline.
type slow struct {
	nowhere
	now      *time.Time
	takes    time.Duration
	deadline time.Time
	least    time.Duration
}

func (w *slow) SetWriteDeadline(d time.Time) error {
	w.deadline = d
	return nil
}

func (w *slow) Write(p []byte) (int, error) {
	w.least = min(w.least, w.deadline.Sub(*w.now))
	*w.now = w.now.Add(w.takes)
	return len(p), nil
}

func TestPatientReader(t *testing.T) {
	for _, takes := range []time.Duration{time.Millisecond, 3 * time.Second, 20 * time.Second} {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		s := serving(Options{Now: func() time.Time { return now }}, func(w http.ResponseWriter, r *http.Request) error {
			return rest.Write(w, r, rest.Content{Body: make([]byte, 100*pieceSize)})
		})
		w := &slow{nowhere: nowhere{http.Header{}}, now: &now, takes: takes, least: time.Hour}
		s.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/api/things/x", nil))
		if w.least < writeTimeout*3/4 {
			t.Errorf("client that takes %s for each of 100 pieces has a deadline of %s", takes, w.least)
		}
	}
}

// writePair writes a certificate for this machine with a serial number.
func writePair(t *testing.T, files config.HTTPS, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}, &x509.Certificate{SerialNumber: big.NewInt(serial)}, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{
		files.CertFile: {Type: "CERTIFICATE", Bytes: der}, files.KeyFile: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		// Two writes may have the same time in the file system.
		when := time.Now().Add(time.Duration(serial) * time.Minute)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTLS(t *testing.T) {
	dir := t.TempDir()
	files := config.HTTPS{CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem")}
	writePair(t, files, 1)
	var log lines
	var ahead atomic.Int64 // ahead is the offset of the clock.
	s := serving(Options{
		HTTPS: files, Log: log.logger(slog.LevelInfo),
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
	}, textRoute(func(r *http.Request) string { return r.Proto }))
	addr, _ := run(t, s, time.Second)

	ask := func(version uint16) (proto string, serial int64, err error) {
		tr := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MaxVersion: version, MinVersion: tls.VersionTLS10}}
		defer tr.CloseIdleConnections()
		res, err := (&http.Client{Transport: tr}).Get("https://" + addr + "/api/things/x")
		if err != nil {
			return "", 0, err
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if res.Header.Get("Strict-Transport-Security") == "" {
			err = fmt.Errorf("response has no Strict-Transport-Security header")
		}
		return string(body), res.TLS.PeerCertificates[0].SerialNumber.Int64(), err
	}
	want := func(reason string, serial int64) {
		t.Helper()
		proto, got, err := ask(0)
		if err != nil || proto != "HTTP/2.0" || got != serial {
			t.Errorf("%s: protocol is %s, certificate %d, %v", reason, proto, got, err)
		}
	}
	want("HTTP/2 over TLS", 1)
	if _, _, err := ask(tls.VersionTLS11); err == nil {
		t.Error("TLS 1.1 is accepted")
	}
	writePair(t, files, 2)
	ahead.Add(int64(time.Minute))
	want("a new certificate is loaded", 2)
	if err := os.WriteFile(files.KeyFile, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	ahead.Add(int64(time.Minute))
	want("an invalid certificate is not loaded", 2)
	log.find(t, "certificate not reloaded")
	writePair(t, files, 3)
	ahead.Add(int64(time.Minute))
	want("a fixed certificate is loaded", 3)
}
