package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/sample"
)

const (
	definitions = "/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions"
	// many is the number of definitions in the real cluster, few the number in
	// each of the clusters that are read at once.
	many, few = 1000, 100
	// distance is the round-trip time to a remote cluster.
	distance = 40 * time.Millisecond
	// greetings is the number of round trips before a request can be sent: one
	// for the connection and one for TLS.
	greetings = 2
)

// clusters compares reading from a real API server with kubectl, and reading
// ten clusters with reading one.
func clusters(w io.Writer, tmp string) error {
	s, err := apiserver.Run(apiserver.Options{})
	if errors.Is(err, apiserver.ErrOff) {
		fmt.Fprintln(w, "reading clusters: not measured,", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = s.Stop() }()
	composer := filepath.Join(tmp, "composer-ingestor")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", composer, "./cmd/composer-ingestor").CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build composer-ingestor: %w\n%s", err, out)
	}
	if err := fill(s, 0, few); err != nil {
		return err
	}
	if err := together(w, tmp, composer, s); err != nil {
		return err
	}
	if err := fill(s, few, many); err != nil {
		return err
	}
	return besideKubectl(w, tmp, composer, s)
}

// fill creates the definitions from one number to another.
func fill(s *apiserver.Server, from, to int) error {
	var next atomic.Int64
	next.Store(int64(from))
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for worker := range errs {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < to && errs[worker] == nil; i = int(next.Add(1)) - 1 {
				resp, err := s.Client().Post(s.URL+definitions, "application/yaml", bytes.NewReader(sample.Definition(i)))
				if err != nil {
					errs[worker] = err
					continue
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusCreated {
					errs[worker] = fmt.Errorf("cannot create definition %d: %s", i, resp.Status)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// besideKubectl compares discover with kubectl get, as whole programs.
func besideKubectl(w io.Writer, tmp, composer string, s *apiserver.Server) error {
	kubectl, err := apiserver.Kubectl()
	if err != nil {
		return err
	}
	var mine, theirs []usage
	// The first round fills kubectl's discovery cache.
	for i := range rounds + 1 {
		u, err := measure(composer, "discover", "--kubeconfig", s.Kubeconfig, "--output", "json", "--quiet")
		if err != nil {
			return err
		}
		k, err := measure(kubectl, "--kubeconfig", s.Kubeconfig, "--cache-dir", filepath.Join(tmp, "kubectl"), "get", "xrd", "-o", "json")
		if err != nil {
			return err
		}
		if i > 0 {
			mine, theirs = append(mine, u), append(theirs, k)
		}
	}
	used := func(u usage) float64 { return u.cpu.Seconds() * 1000 }
	wall := func(u usage) float64 { return u.wall.Seconds() * 1000 }
	peak := func(u usage) float64 { return u.peakMB }
	fmt.Fprintf(w, "composer-ingestor discover, %d definitions of a real API server: %.0f ms CPU, %.0f ms wall, peak %.0f MB\n", many, median(mine, used), median(mine, wall), median(mine, peak))
	fmt.Fprintf(w, "kubectl get xrd -o json of the same: %.0f ms CPU, %.0f ms wall, peak %.0f MB\n", median(theirs, used), median(theirs, wall), median(theirs, peak))
	fmt.Fprintf(w, "ratio: %.2f of CPU, %.2f of wall (wanted: at most 2 of CPU)\n", median(mine, used)/median(theirs, used), median(mine, wall)/median(theirs, wall))
	return nil
}

// together compares reading ten clusters with reading one. They are stand-ins
// that replay the responses of the real one with a network delay: ten real
// servers would measure the cores of this machine.
func together(w io.Writer, tmp, composer string, s *apiserver.Server) error {
	record := &recorder{server: s, answers: map[string]answer{}}
	read := func(n int) (usage, error) { return record.read(filepath.Join(tmp, "clusters.yaml"), composer, n) }
	if _, err := read(1); err != nil {
		return err
	}
	record.after = distance
	var one, ten []usage
	for range rounds {
		a, err := read(1)
		if err != nil {
			return err
		}
		b, err := read(10)
		if err != nil {
			return err
		}
		one, ten = append(one, a), append(ten, b)
	}
	wall := func(u usage) float64 { return u.wall.Seconds() * 1000 }
	fmt.Fprintf(w, "composer-ingestor discover, one cluster of %d definitions, %v away: %.0f ms wall; ten such clusters: %.0f ms\n", few, distance, median(one, wall), median(ten, wall))
	fmt.Fprintf(w, "ratio: %.2f of wall (wanted: at most 1.5)\n", median(ten, wall)/median(one, wall))
	return nil
}

// recorder replays responses of a real server.
type recorder struct {
	server *apiserver.Server
	after  time.Duration

	// lists counts the lists of definitions.
	lists atomic.Int64

	mu      sync.Mutex
	answers map[string]answer
}

type answer struct {
	code int
	kind string
	body []byte
}

// read runs the program against n new stand-ins.
func (r *recorder) read(config, composer string, n int) (usage, error) {
	certificate, err := newCertificate()
	if err != nil {
		return usage{}, err
	}
	var text strings.Builder
	text.WriteString("composerIngestor:\n  clusters:\n")
	for i := range n {
		stand := httptest.NewUnstartedServer(r)
		stand.Listener = far{stand.Listener, r}
		stand.EnableHTTP2 = true // API servers use HTTP/2 too.
		stand.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
		stand.StartTLS()
		defer stand.Close()
		fmt.Fprintf(&text, "    - {name: stand-in-%d, url: %q, authProvider: token, token: none, skipTLSVerify: true}\n", i, stand.URL)
	}
	if err := os.WriteFile(config, []byte(text.String()), 0o600); err != nil {
		return usage{}, err
	}
	u, err := measure(composer, "discover", "--config", config, "--output", "json", "--quiet")
	if err == nil && r.lists.Swap(0) != int64(n) {
		err = errors.New("not every stand-in was asked for its definitions")
	}
	return u, err
}

// newCertificate returns a certificate like those of current API servers, whose
// signatures are cheap and do not affect the measurement.
func newCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// far is a listener with a network delay.
type far struct {
	net.Listener
	*recorder
}

// Accept returns the next connection.
func (f far) Accept() (net.Conn, error) {
	c, err := f.Listener.Accept()
	return &greeting{Conn: c, wait: greetings * f.after}, err
}

// greeting is a connection whose first reads are delayed.
type greeting struct {
	net.Conn
	wait  time.Duration
	first sync.Once
}

// Read reads.
func (g *greeting) Read(p []byte) (int, error) {
	g.first.Do(func() { time.Sleep(g.wait) })
	return g.Conn.Read(p)
}

// ServeHTTP responds with a recorded response, which it gets from the real
// server once.
func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a, err := r.answer(req.URL.RequestURI())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if req.URL.Path == definitions {
		r.lists.Add(1)
	}
	time.Sleep(r.after)
	w.Header().Set("Content-Type", a.kind)
	w.WriteHeader(a.code)
	_, _ = w.Write(a.body)
}

func (r *recorder) answer(uri string) (answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a, ok := r.answers[uri]; ok {
		return a, nil
	}
	resp, err := r.server.Client().Get(r.server.URL + uri)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	a := answer{resp.StatusCode, resp.Header.Get("Content-Type"), body}
	if err == nil {
		r.answers[uri] = a
	}
	return a, err
}
