package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"example.dev/ingestor/test/bench/backend"
	"example.dev/ingestor/test/sample"
)

// wantedRatio is the allowed slowdown of reads at the 99th percentile while
// definitions are written.
const wantedRatio = 5

// firstDefinition is the number of the first definition in the folder; the
// definitions below it are pushed.
const firstDefinition = 1_000_000

// folder is a folder that the server watches.
type folder struct {
	path string
	n    int
	// owner is the owner in all definitions.
	owner string
}

// write writes all definitions with another owner.
func (f *folder) write(owner string) error {
	f.owner = owner
	for i := range f.n {
		text := bytes.ReplaceAll(sample.Definition(firstDefinition+i), []byte("team-platform"), []byte(owner))
		at := filepath.Join(f.path, fmt.Sprintf("d%05d.yaml", i))
		if err := os.WriteFile(at+".new", text, 0o600); err != nil {
			return err
		}
		if err := os.Rename(at+".new", at); err != nil {
			return err
		}
	}
	return nil
}

// settled waits until the catalog has all definitions of the folder.
func (f *folder) settled(s *server) error {
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		n, err := s.total("kind=template,spec.owner=" + f.owner)
		if err != nil {
			return err
		}
		if n == f.n {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of %d definitions arrived:\n%s", n, f.n, s.Log.String())
		}
	}
}

// total returns the number of entities that match a filter.
func (s *server) total(filter string) (int, error) {
	req, err := http.NewRequest(http.MethodGet, s.Base+"/api/catalog/entities/by-query?limit=0&filter="+filter, http.NoBody)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+backend.Token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	var page struct {
		TotalItems int `json:"totalItems"`
	}
	err = json.NewDecoder(res.Body).Decode(&page)
	return page.TotalItems, err
}

// besideWriter measures reads of a catalog, first without writes and then while
// all definitions of a folder change, in one run.
func besideWriter(w io.Writer, tmp, program, name string, database func(string) (string, error)) error {
	n := *small
	dir, err := os.MkdirTemp(tmp, "writer-")
	if err != nil {
		return err
	}
	f := &folder{path: filepath.Join(dir, "definitions"), n: *definitions}
	if err := os.Mkdir(f.path, 0o700); err != nil {
		return err
	}
	if err := f.write("team-before"); err != nil {
		return err
	}
	connection, err := database(fmt.Sprint("writer-", n))
	if err != nil {
		return err
	}
	s, err := start(dir, program, connection, fmt.Sprintf(
		"composerIngestor:\n  schedule: { frequency: 1h, timeout: 1h }\n  sources: [{ name: files, type: file, path: %s }]\n", f.path))
	if err != nil {
		return err
	}
	defer s.Stop()
	if err := s.fill(n); err != nil {
		return err
	}
	if err := f.settled(s); err != nil {
		return err
	}
	fmt.Fprintf(w, "%s, %d entities and %d definitions, %d mixed reads a second:\n", name, n, f.n, *rps)
	return s.beside(w, f, n/perTen*6)
}

// writerRounds is how often the definitions change. The rounds alternate with
// quiet ones, so that other load affects both.
const writerRounds = 3

// beside measures mixed reads with and without a writer.
func (s *server) beside(w io.Writer, f *folder, components int) error {
	quietly := func() error {
		time.Sleep(*duration)
		return nil
	}
	if _, _, err := s.during(components, quietly); err != nil {
		return err
	}
	var quiet, busy []timing
	for round := range writerRounds {
		if err := s.idle(); err != nil {
			return err
		}
		some, _, err := s.during(components, quietly)
		if err != nil {
			return fmt.Errorf("quiet: %w", err)
		}
		quiet = append(quiet, some...)
		some, took, err := s.during(components, func() error {
			if err := f.write(fmt.Sprint("team-after-", round)); err != nil {
				return err
			}
			return f.settled(s)
		})
		if err != nil {
			return fmt.Errorf("while definitions change: %w", err)
		}
		busy = append(busy, some...)
		fmt.Fprintf(w, "  %d definitions changed within %.1f s\n", f.n, took.Seconds())
	}
	var all float64
	row := func(name string, of func(timing) bool) {
		q, b := spreadOf(quiet, of), spreadOf(busy, of)
		all = b.p99 / q.p99
		fmt.Fprintf(w, "  %s: quiet p50 %.1f ms, p99 %.1f ms; while they change p50 %.1f ms, p99 %.1f ms, at most %.1f ms (%d reads); %.1f times at p99\n",
			name, q.p50, q.p99, b.p50, b.p99, b.max, b.n, all)
	}
	for i := range mix {
		row(mix[i].name, func(t timing) bool { return t.read == i })
	}
	row("all", func(timing) bool { return true })
	fmt.Fprintf(w, "  p99 while definitions change: %.1f times that of quiet (wanted: at most %d)\n", all, wantedRatio)
	return nil
}

// idle waits until the server is almost idle: findings of written entities are
// computed and stored after the entities can be read.
func (s *server) idle() error {
	for range 120 {
		before, err := s.CPU()
		if err != nil {
			return err
		}
		time.Sleep(time.Second)
		after, err := s.CPU()
		if err != nil {
			return err
		}
		if after-before < 0.05 {
			return nil
		}
	}
	return errors.New("server is busy for minutes after the last change")
}

// during makes mixed reads while do runs, and returns the duration of do.
func (s *server) during(components int, do func() error) (all []timing, took time.Duration, err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	done := make(chan error, 1)
	go func() {
		var err error
		all, err = s.mixed(ctx, *rps, components)
		done <- err
	}()
	begin := time.Now()
	did := do()
	took = time.Since(begin)
	stop()
	err = errors.Join(<-done, did)
	return all, took, err
}
