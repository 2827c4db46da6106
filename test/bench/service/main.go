// Command service measures ingestion as a whole program: portal-backend reads
// five thousand definitions of 61 leaf fields from a real API server until
// their entities are in its catalog; a second scan without changes; and the
// delay of a change from the cluster to the catalog.
//
//	go run ./test/bench/service
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.dev/ingestor/internal/ingestion/ingest"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/bench/backend"
	"example.dev/ingestor/test/postgres"
	"example.dev/ingestor/test/sample"
)

// Targets, and the results of a portal on Node with a comparable plugin on a
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
	given    = flag.String("program", "", "measure this portal-backend instead of building one")
	compare  = flag.String("compare", "", "measure only the first scan, in turn with a revision or the path of a program")
	rounds   = flag.Int("rounds", 5, "how many turns of a comparison")
)

const (
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
	program := *given
	if program == "" {
		if program, err = backend.Build(tmp, ""); err != nil {
			return err
		}
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
	var engines []engine
	if *only != "pg" {
		engines = append(engines, engine{"SQLite", func() (string, error) {
			dir, err := os.MkdirTemp(tmp, "database-")
			return backend.SQLite(dir), err
		}})
	}
	if *only != "sqlite" {
		server, err := postgres.Run(postgres.Options{Durable: true})
		switch {
		case errors.Is(err, postgres.ErrOff):
			fmt.Fprintln(w, "ingestion on PostgreSQL: not measured,", err)
		case err != nil:
			return err
		default:
			defer func() { _ = server.Stop() }()
			engines = append(engines, engine{"PostgreSQL", func() (string, error) {
				url, err := server.Create(context.Background())
				return fmt.Sprintf("{ client: pg, connection: %q }", url), err
			}})
		}
	}
	b := &bench{w: w, tmp: tmp, program: program, cluster: cluster}
	for _, e := range engines {
		do := b.measure
		if *compare != "" {
			do = b.versus
		}
		if err := do(e); err != nil {
			return err
		}
	}
	return nil
}

// engine is a database to measure with. create creates an empty one and returns its
// configuration.
type engine struct {
	name   string
	create func() (string, error)
}

// bench measures a program with a cluster.
type bench struct {
	w            io.Writer
	tmp, program string
	cluster      *apiserver.Server
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

// send sends a change to the cluster.
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

// runOf returns the newest run that ok accepts.
func runOf(s *backend.Backend, ok func(ingest.Run) bool) (ingest.Run, bool, error) {
	var runs struct{ Items []ingest.Run }
	if _, err := s.Ask(http.MethodGet, "/api/composer-ingestor/runs", "", &runs); err != nil {
		return ingest.Run{}, false, err
	}
	i := slices.IndexFunc(runs.Items, ok)
	if i < 0 {
		return ingest.Run{}, false, nil
	}
	return runs.Items[i], true, nil
}

// start starts a program with an empty database.
func (b *bench) start(program string, e engine) (*backend.Backend, error) {
	database, err := e.create()
	if err != nil {
		return nil, err
	}
	return backend.Start(backend.Options{Dir: b.tmp, Program: program, Database: database, Config: fmt.Sprintf(`composerIngestor:
  schedule: { frequency: 1h, timeout: 5m }
  clusters: [{ name: bench, kubeconfig: %q }]
`, b.cluster.Kubeconfig)})
}

func (b *bench) measure(e engine) error {
	s, err := b.start(b.program, e)
	if err != nil {
		return err
	}
	defer func() {
		s.Stop()
		if *profiled {
			fmt.Fprint(b.w, s.Log.String())
		}
	}()
	if _, err := first(b.w, s, e.name); err != nil {
		return fmt.Errorf("%w\n%s", err, s.Log.String())
	}
	if err := checked(b.w, s, e.name); err != nil {
		return err
	}
	if err := second(b.w, s, e.name); err != nil {
		return err
	}
	return live(b.w, s, e.name, b.cluster)
}

// scanned are the costs of a first scan, until all entities were visible.
type scanned struct {
	took time.Duration
	// cpu is the CPU time of the program in seconds.
	cpu float64
}

// first waits for the first scan.
func first(w io.Writer, s *backend.Backend, engine string) (cost scanned, err error) {
	var visible time.Time
	if err := backend.Until("all Templates", func() (bool, error) {
		// Polling costs the service CPU time as well.
		time.Sleep(100 * time.Millisecond)
		n, err := s.Entities("template")
		visible = time.Now()
		return n == *count, err
	}); err != nil {
		return cost, err
	}
	if cost.cpu, err = s.CPU(); err != nil {
		return cost, err
	}
	var run ingest.Run
	if err := backend.Until("the first run", func() (ok bool, err error) {
		run, ok, err = runOf(s, func(r ingest.Run) bool { return r.Source == place })
		return ok, err
	}); err != nil {
		return cost, err
	}
	all, err := s.Entities("")
	if err != nil {
		return cost, err
	}
	cost.took = visible.Sub(run.Started)
	read := time.Duration(run.Phases["read"]) * time.Millisecond
	fmt.Fprintf(w, "%s: %d definitions to %d visible entities in %.1f s: %.0f a second with listing them and remembering them, %.0f a second after that, which took %.1f s (wanted %d; Node %d)\n",
		engine, *count, all, cost.took.Seconds(), float64(*count)/cost.took.Seconds(), float64(*count)/(cost.took-read).Seconds(), read.Seconds(), wantedRate, nodeRate)
	fmt.Fprintf(w, "%s: phases %v ms, %.1f s of processor time since the start\n", engine, run.Phases, cost.cpu)
	return cost, nil
}

// checked waits until the findings of the definitions are computed.
func checked(w io.Writer, s *backend.Backend, engine string) error {
	began := time.Now()
	cpu, err := s.CPU()
	if err != nil {
		return err
	}
	var found inspect.Findings
	if err := backend.Until("the findings", func() (bool, error) {
		time.Sleep(100 * time.Millisecond)
		_, err := s.Ask(http.MethodGet, "/api/composer-ingestor/findings?limit=0", "", &found)
		return err == nil && found.Pending == 0, err
	}); err != nil {
		return err
	}
	used, err := s.CPU()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %d findings, known %.1f s later, with %.1f s of processor time\n", engine, found.TotalItems, time.Since(began).Seconds(), used-cpu)
	now, err := s.Memory(backend.Resident)
	if err != nil {
		return err
	}
	peak, err := s.Memory(backend.Peak)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %.0f MB resident at most, %.0f MB now (wanted %d; Node %d)\n", engine, peak, now, wantedMemory, nodeMemory)
	return nil
}

// second scans everything again.
func second(w io.Writer, s *backend.Backend, engine string) error {
	before, err := etagOf(s)
	if err != nil {
		return err
	}
	cpu, err := s.CPU()
	if err != nil {
		return err
	}
	if _, err := s.Ask(http.MethodPost, "/api/composer-ingestor/runs", "", nil); err != nil {
		return err
	}
	var run ingest.Run
	if err := backend.Until("the second run", func() (ok bool, err error) {
		time.Sleep(50 * time.Millisecond)
		run, ok, err = runOf(s, func(r ingest.Run) bool { return r.Trigger == ingest.TriggerManual })
		return ok, err
	}); err != nil {
		return err
	}
	used, err := s.CPU()
	if err != nil {
		return err
	}
	after, err := etagOf(s)
	if err != nil {
		return err
	}
	if before != after || run.Added+run.Updated+run.Removed != 0 || run.Error != "" {
		return fmt.Errorf("second scan changed entities or failed: %+v", run)
	}
	fmt.Fprintf(w, "%s: a second scan, unchanged: %d ms, %.2f s of processor time, nothing written (wanted 1 s)\n", engine, run.Milliseconds, used-cpu)
	return nil
}

// etagOf returns an etag of the state of the catalog.
func etagOf(s *backend.Backend) (string, error) {
	h, err := s.Ask(http.MethodGet, "/api/catalog/entities?fields=metadata.etag", "", nil)
	return h.Get("ETag"), err
}

// live changes definitions and waits for each change.
func live(w io.Writer, s *backend.Backend, engine string, cluster *apiserver.Server) error {
	took := make([]time.Duration, *changes)
	for i := range took {
		title := fmt.Sprintf("Changed %s %d", engine, i)
		body := fmt.Sprintf(`{"metadata":{"annotations":{"backstage.io/template-title":%q}}}`, title)
		name := fmt.Sprintf("xsamples%d.platform.example.org", i*(*count / *changes))
		began := time.Now()
		if err := send(cluster, http.MethodPatch, path+"/"+name, "application/merge-patch+json", []byte(body)); err != nil {
			return err
		}
		if err := backend.Until(title, func() (bool, error) {
			var e struct{ Metadata struct{ Title string } }
			_, err := s.Ask(http.MethodGet, "/api/catalog/entities/by-name/template/default/"+name, "", &e)
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
