// Command service measures ingestion as a whole program: five thousand
// definitions of 61 leaf fields in a real API server, read by portal-backend,
// until their entities are in its catalog; a second scan that finds nothing new;
// and how long a change takes from the cluster to the catalog.
//
//	go run ./test/bench/service
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"example.dev/ingestor/internal/ingestion/ingest"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/postgres"
	"example.dev/ingestor/test/sample"
)

// What is wanted, and what a portal on Node with the nearest peer does on a
// machine like this one.
const (
	wantedRate   = 1000
	nodeRate     = 25
	nodeMemory   = 1000
	wantedMemory = 300
)

var (
	count    = flag.Int("definitions", 5000, "how many definitions")
	changes  = flag.Int("changes", 200, "how many changes")
	profiled = flag.Bool("log", false, "show the log of the service")
	only     = flag.String("only", "", "one engine: sqlite or pg")
)

const (
	token = "bench-token-of-a-service"
	path  = "/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions"
	place = "composerIngestor/bench"
)

func main() {
	flag.Parse()
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	tmp, err := os.MkdirTemp("", "service-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	program := filepath.Join(tmp, "portal-backend")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", program, "./cmd/portal-backend").CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build portal-backend: %w\n%s", err, out)
	}
	cluster, err := apiserver.Run(apiserver.Options{})
	if errors.Is(err, apiserver.ErrOff) {
		fmt.Fprintln(w, "ingestion: not measured,", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = cluster.Stop() }()
	if err := fill(cluster, *count); err != nil {
		return err
	}
	settle()
	if err := yardstick(w); err != nil {
		return err
	}
	if *only != "pg" {
		database := fmt.Sprintf("{ client: sqlite, connection: { filename: %q } }", filepath.Join(tmp, "portal.sqlite"))
		if err := measure(w, tmp, program, "SQLite", database, cluster); err != nil {
			return err
		}
	}
	if *only == "sqlite" {
		return nil
	}
	server, err := postgres.Run(postgres.Options{Durable: true})
	if errors.Is(err, postgres.ErrOff) {
		fmt.Fprintln(w, "ingestion on PostgreSQL: not measured,", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = server.Stop() }()
	url, err := server.Create(context.Background())
	if err != nil {
		return err
	}
	return measure(w, tmp, program, "PostgreSQL", fmt.Sprintf("{ client: pg, connection: %q }", url), cluster)
}

// fill creates definitions.
func fill(s *apiserver.Server, n int) error {
	var next atomic.Int64
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for worker := range errs {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && errs[worker] == nil; i = int(next.Add(1)) - 1 {
				errs[worker] = send(s, http.MethodPost, path, "application/yaml", sample.Definition(i))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// send changes something in the cluster.
func send(s *apiserver.Server, method, path, kind string, body []byte) error {
	req, err := http.NewRequest(method, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", kind)
	resp, err := s.Client().Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	return nil
}

// service is a portal-backend that runs.
type service struct {
	base string
	cmd  *exec.Cmd
	log  bytes.Buffer
}

func begin(tmp, program, database, kubeconfig string) (*service, error) {
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
  database: %[2]s
  auth: { externalAccess: [{ type: static, options: { token: %[3]s, subject: bench } }] }
composerIngestor:
  schedule: { frequency: 1h, timeout: 5m }
  clusters: [{ name: bench, kubeconfig: %[4]q }]
`, address, database, token, kubeconfig)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	s := &service{base: "http://" + address}
	s.cmd = exec.Command(program, "--config", config)
	s.cmd.Stderr = &s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return s, s.cmd.Start()
}

func (s *service) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait() // It was told to end.
}

// ask asks the service.
func (s *service) ask(method, path string, v any) (http.Header, error) {
	req, err := http.NewRequest(method, s.base+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		return nil, fmt.Errorf("%s %s: %s %s", method, path, resp.Status, data)
	}
	if v == nil {
		return resp.Header, nil
	}
	return resp.Header, json.Unmarshal(data, v)
}

// until asks until check is content.
func until(what string, check func() (bool, error)) error {
	deadline := time.Now().Add(5 * time.Minute)
	for {
		ok, err := check()
		if ok {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: not within five minutes: %w", what, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// total is how many entities of a kind the catalog has.
func (s *service) total(kind string) (n int, err error) {
	var page struct{ TotalItems int }
	filter := ""
	if kind != "" {
		filter = "&filter=kind=" + kind
	}
	_, err = s.ask(http.MethodGet, "/api/catalog/entities/by-query?limit=1"+filter, &page)
	return page.TotalItems, err
}

// runOf returns the newest run that ok accepts.
func (s *service) runOf(ok func(ingest.Run) bool) (ingest.Run, bool, error) {
	var runs struct{ Items []ingest.Run }
	if _, err := s.ask(http.MethodGet, "/api/composer-ingestor/runs", &runs); err != nil {
		return ingest.Run{}, false, err
	}
	i := slices.IndexFunc(runs.Items, ok)
	if i < 0 {
		return ingest.Run{}, false, nil
	}
	return runs.Items[i], true, nil
}

func measure(w io.Writer, tmp, program, engine, database string, cluster *apiserver.Server) error {
	s, err := begin(tmp, program, database, cluster.Kubeconfig)
	if err != nil {
		return err
	}
	defer func() {
		s.stop()
		if *profiled {
			fmt.Fprint(w, s.log.String())
		}
	}()
	if err := first(w, s, engine); err != nil {
		return fmt.Errorf("%w\n%s", err, s.log.String())
	}
	if err := checked(w, s, engine); err != nil {
		return err
	}
	if err := second(w, s, engine); err != nil {
		return err
	}
	return live(w, s, engine, cluster)
}

// first waits for the first scan.
func first(w io.Writer, s *service, engine string) error {
	var visible time.Time
	if err := until("all Templates", func() (bool, error) {
		// To ask costs the service time as well.
		time.Sleep(100 * time.Millisecond)
		n, err := s.total("template")
		visible = time.Now()
		return n == *count, err
	}); err != nil {
		return err
	}
	var run ingest.Run
	if err := until("the first run", func() (ok bool, err error) {
		run, ok, err = s.runOf(func(r ingest.Run) bool { return r.Source == place })
		return ok, err
	}); err != nil {
		return err
	}
	all, err := s.total("")
	if err != nil {
		return err
	}
	took := visible.Sub(run.Started)
	read := time.Duration(run.Phases["read"]) * time.Millisecond
	fmt.Fprintf(w, "%s: %d definitions to %d visible entities in %.1f s: %.0f a second with listing them and remembering them, %.0f a second after that, which took %.1f s (wanted %d; Node %d)\n",
		engine, *count, all, took.Seconds(), float64(*count)/took.Seconds(), float64(*count)/(took-read).Seconds(), read.Seconds(), wantedRate, nodeRate)
	cpu, err := s.cpu()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: phases %v ms, %.1f s of processor time since the start\n", engine, run.Phases, cpu)
	return nil
}

// checked waits until it is known what is wrong with the definitions.
func checked(w io.Writer, s *service, engine string) error {
	began := time.Now()
	cpu, err := s.cpu()
	if err != nil {
		return err
	}
	var found ingest.Findings
	if err := until("the findings", func() (bool, error) {
		time.Sleep(100 * time.Millisecond)
		_, err := s.ask(http.MethodGet, "/api/composer-ingestor/findings?limit=0", &found)
		return err == nil && found.Pending == 0, err
	}); err != nil {
		return err
	}
	used, err := s.cpu()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %d findings, known %.1f s later, with %.1f s of processor time\n", engine, found.TotalItems, time.Since(began).Seconds(), used-cpu)
	now, peak, err := s.memory()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %.0f MB resident at most, %.0f MB now (wanted %d; Node %d)\n", engine, peak, now, wantedMemory, nodeMemory)
	return nil
}

// second has everything scanned again.
func second(w io.Writer, s *service, engine string) error {
	before, err := s.etag()
	if err != nil {
		return err
	}
	cpu, err := s.cpu()
	if err != nil {
		return err
	}
	if _, err := s.ask(http.MethodPost, "/api/composer-ingestor/runs", nil); err != nil {
		return err
	}
	var run ingest.Run
	if err := until("the second run", func() (ok bool, err error) {
		time.Sleep(50 * time.Millisecond)
		run, ok, err = s.runOf(func(r ingest.Run) bool { return r.Trigger == ingest.TriggerManual })
		return ok, err
	}); err != nil {
		return err
	}
	used, err := s.cpu()
	if err != nil {
		return err
	}
	after, err := s.etag()
	if err != nil {
		return err
	}
	if before != after || run.Added+run.Updated+run.Removed != 0 || run.Error != "" {
		return fmt.Errorf("the second scan changed something, or failed: %+v", run)
	}
	fmt.Fprintf(w, "%s: a second scan, unchanged: %d ms, %.2f s of processor time, nothing written (wanted 1 s)\n", engine, run.Milliseconds, used-cpu)
	return nil
}

// etag tells one state of the catalog from another.
func (s *service) etag() (string, error) {
	h, err := s.ask(http.MethodGet, "/api/catalog/entities?fields=metadata.etag", nil)
	return h.Get("ETag"), err
}

// live changes definitions and waits for each change.
func live(w io.Writer, s *service, engine string, cluster *apiserver.Server) error {
	took := make([]time.Duration, *changes)
	for i := range took {
		title := fmt.Sprintf("Changed %s %d", engine, i)
		body := fmt.Sprintf(`{"metadata":{"annotations":{"backstage.io/template-title":%q}}}`, title)
		name := fmt.Sprintf("xsamples%d.platform.example.org", i*(*count / *changes))
		began := time.Now()
		if err := send(cluster, http.MethodPatch, path+"/"+name, "application/merge-patch+json", []byte(body)); err != nil {
			return err
		}
		if err := until(title, func() (bool, error) {
			var e struct{ Metadata struct{ Title string } }
			_, err := s.ask(http.MethodGet, "/api/catalog/entities/by-name/template/default/"+name, &e)
			return e.Metadata.Title == title, err
		}); err != nil {
			return err
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	at := func(q float64) time.Duration {
		return took[min(len(took)-1, int(q*float64(len(took))))].Round(time.Millisecond)
	}
	fmt.Fprintf(w, "%s: %d changes, from the cluster to the catalog: median %v, p99 %v, longest %v (wanted p99 1 s)\n", engine, *changes, at(.5), at(.99), took[len(took)-1].Round(time.Millisecond))
	return nil
}

// memory returns the resident memory of the service, now and at most, in MB.
func (s *service) memory() (now, peak float64, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(line, ":")
		kb, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64) // Lines of other kinds are passed over.
		switch key {
		case "VmRSS":
			now = kb / 1024
		case "VmHWM":
			peak = kb / 1024
		}
	}
	return now, peak, nil
}

// cpu returns the processor time that the service has used, in seconds.
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
