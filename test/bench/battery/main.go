// Command battery measures portal-backend over HTTP with catalogs of increasing size, whose
// entities have the shape of a real catalog: latency and CPU time of each kind of request,
// syncs, memory and the size of the database. It prints a table that can be pasted into
// docs/benchmarks.md. With -soak it keeps one catalog under load instead, and
// fails if latency or memory grow, or a request fails.
//
//	go run ./test/bench/battery
//	go run ./test/bench/battery -entities 10000,100000,750000 -only sqlite
//	go run ./test/bench/battery -soak 30m -only sqlite
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
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
	lasting  = flag.Duration("soak", 0, "how long mixed load is kept up on a catalog of the last size, at least a minute; 0 measures each request instead")
	load     = flag.Float64("load", 0.8, "the part of the machine's CPU that is in use during a soak")
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
	// open returns the configuration of the database of a name, and a function that
	// returns its size.
	open func(name string) (config string, size func() (space, error), err error)
}

// space is the size of a database and of its write-ahead log.
type space struct{ data, log int64 }

func run(w io.Writer) error {
	var sizes []int
	for text := range strings.SplitSeq(*entities, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < perMille {
			return fmt.Errorf("cannot read -entities: %q is not a number of at least %d", text, perMille)
		}
		sizes = append(sizes, n)
	}
	if *lasting != 0 && *lasting < time.Minute || *load <= 0 || *load > 1 {
		return fmt.Errorf("cannot run a soak of %v at load %v: set -soak to at least 1m, and -load to at most 1", *lasting, *load)
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
	if *lasting > 0 {
		var failed []error
		for _, e := range engines {
			if err := runSoak(w, tmp, e, sizes[len(sizes)-1]); err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", e.name, err))
			}
		}
		return errors.Join(failed...)
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
		fmt.Fprintln(w)
		writePromises(w, promisesOf(e.name, columns))
	}
	return nil
}

func sqliteEngine(tmp string) engine {
	dir := tmp
	if *keep != "" {
		dir = *keep
	}
	return engine{"SQLite", func(name string) (string, func() (space, error), error) {
		file := filepath.Join(dir, name+".sqlite")
		size := func() (space, error) {
			info, err := os.Stat(file)
			if err != nil {
				return space{}, err
			}
			log, err := os.Stat(file + "-wal")
			if errors.Is(err, os.ErrNotExist) {
				return space{data: info.Size()}, nil
			}
			if err != nil {
				return space{}, err
			}
			return space{info.Size(), log.Size()}, nil
		}
		return fmt.Sprintf("{ client: sqlite, connection: { filename: %q } }", file), size, os.MkdirAll(dir, 0o700)
	}}
}

func postgresEngine() (engine, func(), error) {
	server, err := postgres.Run(postgres.Options{Durable: true})
	if err != nil {
		return engine{}, nil, err
	}
	return engine{"PostgreSQL", func(string) (string, func() (space, error), error) {
		url, err := server.Create(context.Background())
		size := func() (b space, err error) {
			out, err := server.Command(context.Background(), "psql", "-At", "-F", " ", "-d", url, "-c",
				"SELECT pg_database_size(current_database()), (SELECT sum(size) FROM pg_ls_waldir())")
			if err != nil {
				return b, err
			}
			_, err = fmt.Sscan(out, &b.data, &b.log)
			return b, err
		}
		return "{ client: pg, connection: " + strconv.Quote(url) + " }", size, err
	}}, func() { _ = server.Stop() }, nil
}

// start starts a server with the database of a name, whose n entities are shared by a number
// of providers, and with more lines of the section backend.
func start(w io.Writer, tmp string, e engine, name string, n, providers int, lines string) (*harness, func() (space, error), error) {
	config, size, err := e.open(name)
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp(tmp, "server-")
	if err != nil {
		return nil, nil, err
	}
	h := &harness{
		w: w, shape: shape{n}, providers: providers, column: &column{entities: n},
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: inFlight}},
	}
	// A kept catalog has the changes of earlier runs.
	h.changes.Store(time.Now().Unix())
	names := make([]string, providers)
	for i := range names {
		names[i] = h.provider(i)
	}
	h.b, err = backend.Start(backend.Options{
		Dir: dir, Program: *program, Database: config,
		Config: lines + fmt.Sprintf("auth: { membership: { providers: [%s] } }\n", strings.Join(names, ", ")),
	})
	return h, size, err
}

// measure measures one size of catalog with one database.
func measure(w io.Writer, tmp string, e engine, n int) (*column, error) {
	h, size, err := start(w, tmp, e, fmt.Sprintf("battery-%d", n), n, (n+perProvider-1)/perProvider, "")
	if err != nil {
		return nil, err
	}
	defer h.b.Stop()
	fmt.Fprintf(w, "%s, %d entities:\n", e.name, n)
	if err := h.syncs(filepath.Join(tmp, "push.ndjson")); err != nil {
		return nil, err
	}
	// Memory while serving is that of a process that has synced nothing.
	h.b.Stop()
	if err := h.b.Start(); err != nil {
		return nil, err
	}
	if err := h.requests(); err != nil {
		return nil, errors.Join(err, errors.New(tail(h.b.Log.String())))
	}
	now, err := size()
	if err != nil {
		return nil, err
	}
	h.note("size of the database", float64(now.data)/1e6, "MB", "")
	return h.column, nil
}

// tail returns the last lines of a log.
func tail(log string) string { return log[max(0, len(log)-2000):] }
