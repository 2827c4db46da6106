// Command manyclusters measures portal-backend on SQLite with many clusters: the first
// start until everything is in the catalog, the steady state, changes in single
// clusters, and an outage of all clusters. The clusters are stand-ins in this process,
// which share most of their definitions.
//
//	go run ./test/bench/manyclusters
//	go run ./test/bench/manyclusters -clusters 20 -steady 20s
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"example.dev/ingestor/test/bench/backend"
	"example.dev/ingestor/test/fleet"
)

// Targets for 100 clusters of 1,000 definitions.
const (
	wantedCPU    = 5.0
	wantedMemory = 500
	wantedChange = time.Second
)

var (
	clusters    = flag.Int("clusters", 100, "how many clusters")
	definitions = flag.Int("definitions", 1000, "how many definitions each cluster has")
	common      = flag.Int("common", 800, "how many of these all clusters have; the others have names of their own")
	fields      = flag.Int("fields", 5, "how many fields a definition has")
	kinds       = flag.Int("kinds", 1000, "how many kinds of composites a cluster serves; the others are not established")
	composites  = flag.Int("composites", 10, "how many of these have a composite in each cluster")
	reading     = flag.Bool("read-composites", true, "read composites")
	changes     = flag.Int("changes", 200, "how many changes")
	steady      = flag.Duration("steady", time.Minute, "how long the steady state is measured")
	frequency   = flag.Duration("frequency", 5*time.Minute, "the frequency of scans, for which their CPU time is shown")
	program     = flag.String("program", "", "another portal-backend to measure, instead of this revision's")
	logged      = flag.String("log", "", "a file for the log of the service")
	outages     = flag.Bool("outages", true, "measure an outage of all clusters")
)

func main() {
	flag.Parse()
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// measurement is a running service and its clusters.
type measurement struct {
	io.Writer
	*backend.Backend
	fleet *fleet.Fleet
	// idle is the CPU time of the service without scans, as a share of one core.
	idle float64
}

func run(w io.Writer) error {
	tmp, err := os.MkdirTemp("", "manyclusters-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if *program == "" {
		*program = filepath.Join(tmp, "portal-backend")
		if out, err := exec.Command("go", "build", "-trimpath", "-o", *program, "./cmd/portal-backend").CombinedOutput(); err != nil {
			return fmt.Errorf("cannot build portal-backend: %w\n%s", err, out)
		}
	}
	f, err := fleet.Start(fleet.Options{
		Clusters: *clusters, Common: *common, Own: *definitions - *common, Fields: *fields, Kinds: *kinds, Composites: *composites,
	})
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	fmt.Fprintf(w, "%d clusters of %d definitions of %d fields, %d of them common: %d definitions with different names, %d kinds served by each cluster, %d with a composite\n",
		*clusters, *definitions, *fields, *common, f.Definitions(), *kinds, *composites)
	// The schedule is so rare that no scan disturbs a measurement; scans are requested.
	s, err := backend.Start(backend.Options{Dir: tmp, Program: *program, Database: backend.SQLite(tmp), Config: fmt.Sprintf(`composerIngestor:
  schedule: { frequency: 10h, timeout: 10m }
  composites: { enabled: %t }
  clusters:
%s`, *reading, f.Config())})
	if err != nil {
		return err
	}
	defer func() {
		s.Stop()
		if *logged != "" {
			_ = os.WriteFile(*logged, s.Log.Bytes(), 0o600)
		}
	}()
	m := &measurement{Writer: w, Backend: s, fleet: f}
	steps := []func() error{m.first, m.steady, m.changes}
	if *outages {
		steps = append(steps, m.outage)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
