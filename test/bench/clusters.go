package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/sample"
)

const (
	definitions = "/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions"
	// many is how many definitions the real cluster holds, few how many each
	// of the clusters that are read at once does.
	many, few = 1000, 100
	// distance is how long a word and its answer take to a cluster that is not
	// next door.
	distance = 40 * time.Millisecond
	// greetings are how many of them it takes until a request can be sent: one
	// for the connection and one for TLS.
	greetings = 2
)

// clusters measures reading from a real API server beside kubectl, and reading
// ten clusters beside reading one.
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
	if err := fill(s, 0, few); err != nil {
		return err
	}
	if err := together(w, s); err != nil {
		return err
	}
	if err := fill(s, few, many); err != nil {
		return err
	}
	return besideKubectl(w, tmp, s)
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
func besideKubectl(w io.Writer, tmp string, s *apiserver.Server) error {
	kubectl, err := apiserver.Kubectl()
	if err != nil {
		return err
	}
	ours := filepath.Join(tmp, "composer-ingestor")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", ours, "./cmd/composer-ingestor").CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build composer-ingestor: %w\n%s", err, out)
	}
	var mine, theirs []usage
	// The first round fills kubectl's cache of what the server serves.
	for i := range rounds + 1 {
		u, err := measure(ours, "discover", "--kubeconfig", s.Kubeconfig, "--output", "json", "--quiet")
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
// that replay what the real one answers, in the time it takes over some
// distance: ten real servers would measure the cores of this machine.
func together(w io.Writer, s *apiserver.Server) error {
	record := &recorder{server: s, answers: map[string]answer{}}
	if _, err := record.read(1); err != nil {
		return err
	}
	record.after = distance
	var one, ten []usage
	for range rounds {
		a, err := record.read(1)
		if err != nil {
			return err
		}
		b, err := record.read(10)
		if err != nil {
			return err
		}
		one, ten = append(one, usage{wall: a}), append(ten, usage{wall: b})
	}
	wall := func(u usage) float64 { return u.wall.Seconds() * 1000 }
	fmt.Fprintf(w, "reading one cluster of %d definitions, %v away: %.0f ms; ten such clusters: %.0f ms\n", few, distance, median(one, wall), median(ten, wall))
	fmt.Fprintf(w, "ratio: %.2f of wall (wanted: at most 1.5)\n", median(ten, wall)/median(one, wall))
	return nil
}

// recorder answers what a real server answered before.
type recorder struct {
	server *apiserver.Server
	after  time.Duration

	mu      sync.Mutex
	answers map[string]answer
}

type answer struct {
	code int
	kind string
	body []byte
}

// read reads n stand-ins that nobody has spoken to before, and returns how long
// it took.
func (r *recorder) read(n int) (time.Duration, error) {
	var all []*cluster.Cluster
	for i := range n {
		stand := httptest.NewUnstartedServer(r)
		stand.Listener = far{stand.Listener, r}
		stand.EnableHTTP2 = true // as API servers do
		stand.StartTLS()
		defer stand.Close()
		c, err := cluster.Connect(source.Cluster{Name: fmt.Sprint("stand-in-", i), URL: stand.URL, Token: "none", SkipTLSVerify: true}, cluster.Options{})
		if err != nil {
			return 0, err
		}
		all = append(all, c)
	}
	runtime.GC()
	begin := time.Now()
	set, err := cluster.New(all, cluster.ReadOptions{}, nil).Read(context.Background())
	took := time.Since(begin)
	if err == nil && len(set.Definitions) != n*few {
		err = fmt.Errorf("%d definitions were read of %d", len(set.Definitions), n*few)
	}
	return took, err
}

// far is a listener some distance away.
type far struct {
	net.Listener
	*recorder
}

// Accept returns the next connection.
func (f far) Accept() (net.Conn, error) {
	c, err := f.Listener.Accept()
	return &greeting{Conn: c, wait: greetings * f.after}, err
}

// greeting is a connection whose first words take their time.
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

// ServeHTTP answers, having asked the real server once.
func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a, err := r.answer(req.URL.RequestURI())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
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
