// Command battery measures portal-backend over HTTP with catalogs of increasing size, whose
// entities have the shape of a real catalog: latency and CPU time of each kind of request,
// syncs, memory and the size of the database. It prints a table that can be pasted into
// docs/benchmarks.md.
//
//	go run ./test/bench/battery
//	go run ./test/bench/battery -entities 10000,100000,750000 -only sqlite
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
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/test/bench/backend"
	"example.dev/ingestor/test/postgres"
)

var (
	entities = flag.String("entities", "10000,100000", "sizes of the catalog, separated by commas")
	only     = flag.String("only", "", "one database: sqlite or pg")
	each     = flag.Duration("duration", 3*time.Second, "how long each request is repeated")
	program  = flag.String("program", "", "measure this portal-backend instead of building one")
	keep     = flag.String("keep", "", "a folder for the SQLite files, which are kept and used again")
	match    = flag.String("match", "", "measure only requests whose name contains this text")
)

func main() {
	flag.Parse()
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "battery:", err)
		os.Exit(1)
	}
}

// engine is a database to measure with.
type engine struct {
	name string
	// open returns the configuration of a database for n entities, and a function that
	// returns its size in bytes.
	open func(n int) (config string, size func() (int64, error), err error)
}

func run(w io.Writer) error {
	var sizes []int
	for text := range strings.SplitSeq(*entities, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < perMille {
			return fmt.Errorf("cannot read -entities: %q is not a number of at least %d", text, perMille)
		}
		sizes = append(sizes, n)
	}
	tmp, err := os.MkdirTemp("", "battery-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if *program == "" {
		*program = filepath.Join(tmp, "portal-backend")
		cmd := exec.Command("go", "build", "-trimpath", "-o", *program, "./cmd/portal-backend")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cannot build portal-backend: %w\n%s", err, out)
		}
	}
	var engines []engine
	if *only != "pg" {
		engines = append(engines, sqliteEngine(tmp))
	}
	if *only != "sqlite" {
		pg, stop, err := postgresEngine()
		switch {
		case errors.Is(err, postgres.ErrOff):
			fmt.Fprintln(w, "PostgreSQL: not measured,", err)
		case err != nil:
			return err
		default:
			defer stop()
			engines = append(engines, pg)
		}
	}
	for _, e := range engines {
		var columns []*column
		for _, n := range sizes {
			c, err := measure(w, tmp, e, n)
			if err != nil {
				return fmt.Errorf("%s, %d entities: %w", e.name, n, err)
			}
			columns = append(columns, c)
		}
		writeTable(w, e.name, columns)
	}
	return nil
}

func sqliteEngine(tmp string) engine {
	dir := tmp
	if *keep != "" {
		dir = *keep
	}
	return engine{"SQLite", func(n int) (string, func() (int64, error), error) {
		file := filepath.Join(dir, fmt.Sprintf("battery-%d.sqlite", n))
		size := func() (int64, error) {
			info, err := os.Stat(file)
			if err != nil {
				return 0, err
			}
			return info.Size(), nil
		}
		return fmt.Sprintf("{ client: sqlite, connection: { filename: %q } }", file), size, os.MkdirAll(dir, 0o700)
	}}
}

func postgresEngine() (engine, func(), error) {
	server, err := postgres.Run(postgres.Options{Durable: true})
	if err != nil {
		return engine{}, nil, err
	}
	return engine{"PostgreSQL", func(int) (string, func() (int64, error), error) {
		url, err := server.Create(context.Background())
		size := func() (int64, error) {
			out, err := server.Command(context.Background(), "psql", "-At", "-d", url, "-c", "SELECT pg_database_size(current_database())")
			if err != nil {
				return 0, err
			}
			return strconv.ParseInt(strings.TrimSpace(out), 10, 64)
		}
		return "{ client: pg, connection: " + strconv.Quote(url) + " }", size, err
	}}, func() { _ = server.Stop() }, nil
}

// measure measures one size of catalog with one database.
func measure(w io.Writer, tmp string, e engine, n int) (*column, error) {
	config, size, err := e.open(n)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(tmp, "server-")
	if err != nil {
		return nil, err
	}
	c := &column{entities: n}
	h := &harness{w: w, shape: shape{n}, column: c}
	names := make([]string, h.providers())
	for i := range names {
		names[i] = h.provider(i)
	}
	b, err := backend.Start(backend.Options{
		Dir: dir, Program: *program, Database: config,
		Config: fmt.Sprintf("auth: { membership: { providers: [%s] } }\n", strings.Join(names, ", ")),
	})
	if err != nil {
		return nil, err
	}
	defer func() { b.Stop() }()
	h.b = b
	fmt.Fprintf(w, "%s, %d entities:\n", e.name, n)
	if err := h.syncs(tmp); err != nil {
		return nil, err
	}
	// Memory while serving is that of a process that has synced nothing.
	b.Stop()
	if err := b.Start(); err != nil {
		return nil, err
	}
	if err := h.requests(); err != nil {
		return nil, errors.Join(err, errors.New(tail(b.Log.String())))
	}
	bytes, err := size()
	if err != nil {
		return nil, err
	}
	h.note("size of the database", float64(bytes)/1e6, "MB", "")
	return c, nil
}

// tail returns the last lines of a log.
func tail(log string) string { return log[max(0, len(log)-2000):] }
