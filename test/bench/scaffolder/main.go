// Command scaffolder measures tasks as a whole program: the number of tasks per
// second from the form of a definition of 61 leaf fields to the object in a
// real API server, and the delay of log messages from an action to clients that
// follow the task.
//
//	go run ./test/bench/scaffolder
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/postgres"
	"example.dev/ingestor/test/sample"
)

// Targets of the measurements.
const (
	wantedRate    = 50
	wantedLatency = 100 * time.Millisecond
)

var (
	count   = flag.Int("tasks", 300, "how many tasks")
	clients = flag.Int("clients", 8, "how many ask for them at once")
	streams = flag.Int("streams", 20, "how many tasks are followed at once")
	lines   = flag.Int("lines", 100, "how many lines each of them says")
	only    = flag.String("only", "", "one engine: sqlite or pg")
	logged  = flag.Bool("log", false, "show the log of the portal")
)

func main() {
	flag.Parse()
	run := run
	if config := os.Getenv(serveConfig); config != "" {
		run = func(io.Writer) error { return serve(config) }
	}
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench has what all measurements share.
type bench struct {
	w io.Writer
	// tmp is a folder, program is portal-backend, and talking is this program
	// as a portal with an action that logs the time.
	tmp, program, talking string
	cluster               *apiserver.Server
}

func run(w io.Writer) error {
	tmp, err := os.MkdirTemp("", "scaffolder-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	b := &bench{w: w, tmp: tmp, program: filepath.Join(tmp, "portal-backend")}
	if b.talking, err = os.Executable(); err != nil {
		return err
	}
	if out, err := exec.Command("go", "build", "-trimpath", "-o", b.program, "./cmd/portal-backend").CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build portal-backend: %w\n%s", err, out)
	}
	definition := filepath.Join(tmp, "definitions", "sample.yaml")
	if err := os.Mkdir(filepath.Dir(definition), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(definition, sample.Definition(0), 0o600); err != nil {
		return err
	}
	b.cluster, err = apiserver.Run(apiserver.Options{XRCRDs: true, Apply: []string{definition}})
	if errors.Is(err, apiserver.ErrOff) {
		fmt.Fprintln(w, "tasks: not measured,", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = b.cluster.Stop() }()
	if *only != "pg" {
		if err := b.measure("SQLite", fmt.Sprintf("{ client: sqlite, connection: { filename: %q } }", filepath.Join(tmp, "portal.sqlite"))); err != nil {
			return err
		}
	}
	if *only == "sqlite" {
		return nil
	}
	return b.measurePostgres()
}

func (b *bench) measurePostgres() error {
	server, err := postgres.Run(postgres.Options{Durable: true})
	if errors.Is(err, postgres.ErrOff) {
		fmt.Fprintln(b.w, "tasks on PostgreSQL: not measured,", err)
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
	database := fmt.Sprintf("{ client: pg, connection: %q }", url)
	if err := b.measure("PostgreSQL", database); err != nil {
		return err
	}
	return b.follow("PostgreSQL, two replicas", database, 2)
}

// measure measures one kind of database.
func (b *bench) measure(engine, database string) error {
	if err := b.rate(engine, database); err != nil {
		return err
	}
	return b.follow(engine, database, 1)
}

// quantile returns a quantile of sorted durations.
func quantile(sorted []time.Duration, part float64) time.Duration {
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))].Round(100 * time.Microsecond)
}

// told formats durations.
func told(all []time.Duration) string {
	slices.Sort(all)
	return fmt.Sprintf("p50 %v, p99 %v, longest %v", quantile(all, .5), quantile(all, .99), all[len(all)-1].Round(100*time.Microsecond))
}
