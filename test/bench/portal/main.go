// Command portal measures portal-backend as a whole program: requests for each
// second of the server's processor time, memory, and how long a sync takes, with
// ten thousand and a hundred thousand entities, on SQLite and PostgreSQL. The
// load is that of wrk, on loopback.
//
//	go run ./test/bench/portal
//	go run ./test/bench/portal -compare <revision>
//	go run ./test/bench/portal -writer
//	go run ./test/bench/portal -facets
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
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/test/postgres"
)

// token is the caller's, a service that may push.
const token = "bench-token-of-a-service"

// The figures of a portal on Node with PostgreSQL, on a machine like this one:
// requests for each second of the server's processor time, and memory.
const (
	nodeByName, nodeList, nodePage = 154, 83, 90
	nodeMemory                     = 1042
)

// shapes are the requests, each a function of wrk's script language.
var shapes = []struct {
	name   string
	node   float64
	wanted float64
	// grows is how much slower it may be with ten times the entities; 0 is not
	// looked at.
	grows  float64
	script string
}{
	{"by-name", nodeByName, 20, 2, `return "/api/catalog/entities/by-name/component/default/component-" .. string.format("%06d", math.random(0, components - 1))`},
	{"list of 100 full entities", nodeList, 10, 0, `return "/api/catalog/entities?limit=100&filter=kind=" .. kinds[math.random(1, #kinds)]`},
	{"by-query page of 20, filtered and sorted", nodePage, 20, 3, `return "/api/catalog/entities/by-query?limit=20&orderField=metadata.name,asc&filter=kind=component,spec.type=" .. types[math.random(1, #types)]`},
}

var (
	small    = flag.Int("entities", 10_000, "how many entities")
	large    = flag.Int("large", 100_000, "how many entities to compare with; 0 for none")
	duration = flag.Duration("duration", 8*time.Second, "how long each request is made")
	only     = flag.String("only", "", "one engine: sqlite or pg")
	compare  = flag.String("compare", "", "a revision to compare with, in place of everything else")
	writer   = flag.Bool("writer", false, "measure reads while definitions change, in place of everything else")
	facets   = flag.Bool("facets", false, "measure facets, in place of everything else")
	// These are for -writer.
	definitions = flag.Int("definitions", 1000, "how many definitions change")
	rps         = flag.Int("rate", 200, "how many reads a second")
	// largest is for -facets.
	largest = flag.Int("largest", 200_000, "how many entities to compare facets with")
)

func main() {
	flag.Parse()
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	if _, err := exec.LookPath("wrk"); err != nil {
		return errors.New("cannot find wrk; on Debian: apt-get install wrk")
	}
	tmp, err := os.MkdirTemp("", "portal-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	program, err := build(tmp, "")
	if err != nil {
		return err
	}
	if *compare != "" && !*writer && !*facets {
		return versus(w, tmp, program, *compare)
	}
	measure := measure
	switch {
	case *writer:
		measure = besideWriter
	case *facets:
		measure = countFacets
	}
	if *compare != "" {
		old, err := build(tmp, *compare)
		if err != nil {
			return err
		}
		now := measure
		measure = func(w io.Writer, tmp, program, name string, database func(string) (string, error)) error {
			err := now(w, tmp, old, name+" at "+*compare, func(name string) (string, error) { return database("old-" + name) })
			if err != nil {
				return err
			}
			return now(w, tmp, program, name, database)
		}
	}
	if *only != "pg" {
		if err := measure(w, tmp, program, "SQLite", func(name string) (string, error) {
			return "{ client: sqlite, connection: { filename: " + filepath.Join(tmp, name+".sqlite") + " } }", nil
		}); err != nil {
			return err
		}
	}
	if *only == "sqlite" {
		return nil
	}
	server, err := postgres.Run(postgres.Options{Durable: true})
	if errors.Is(err, postgres.ErrOff) {
		fmt.Fprintln(w, "PostgreSQL: not measured,", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = server.Stop() }()
	return measure(w, tmp, program, "PostgreSQL", func(string) (string, error) {
		url, err := server.Create(context.Background())
		return "{ client: pg, connection: " + strconv.Quote(url) + " }", err
	})
}

// measure measures one kind of database.
func measure(w io.Writer, tmp, program, name string, database func(string) (string, error)) error {
	first, err := size(w, tmp, program, name, *small, database, nil)
	if err != nil || *large == 0 {
		return err
	}
	_, err = size(w, tmp, program, name, *large, database, first)
	return err
}

// size measures with n entities and returns the requests a second of each
// shape. Before are those with fewer entities, if there are any.
func size(w io.Writer, tmp, program, name string, n int, database func(string) (string, error), before []float64) ([]float64, error) {
	connection, err := database(fmt.Sprint("bench-", n))
	if err != nil {
		return nil, err
	}
	s, err := start(tmp, program, connection)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	var body bytes.Buffer
	bytesIn, err := catalog(&body, n)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "%s, %d entities, %.1f KB each:\n", name, n, float64(bytesIn)/float64(n)/1000)
	for _, again := range []string{"into an empty catalog", "again, unchanged"} {
		begin := time.Now()
		said, err := s.push(body.Bytes())
		if err != nil {
			return nil, err
		}
		if err := s.visible(n); err != nil {
			return nil, err
		}
		fmt.Fprintf(w, "  sync %s: %.2f s, visible and searchable: %s\n", again, time.Since(begin).Seconds(), said)
	}
	body = bytes.Buffer{}
	// What a sync leaves behind is given back soon, not at once.
	time.Sleep(3 * time.Second)
	peak, err := s.memory("VmHWM")
	if err != nil {
		return nil, err
	}
	now, err := s.memory("VmRSS")
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "  resident memory: %.0f MB at most during the syncs, %.0f MB after them\n", peak, now)
	var out []float64
	for i, shape := range shapes {
		r, err := s.load(tmp, n, shape.script)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shape.name, err)
		}
		fmt.Fprintf(w, "  %s: %.0f requests for a second of the server's processor time, %.0f on the clock, %.1f MB/s; on Node %.0f: %.0f times (wanted: %.0f)",
			shape.name, r.perCPU, r.perSecond, r.megabytes, shape.node, r.perCPU/shape.node, shape.wanted)
		if before != nil && shape.grows > 0 {
			fmt.Fprintf(w, "; %.2f times the processor time of fewer entities (wanted: at most %.0f)", before[i]/r.perCPU, shape.grows)
		}
		fmt.Fprintln(w)
		out = append(out, r.perCPU)
	}
	memory, err := s.memory("VmRSS")
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "  resident memory after that: %.0f MB; on Node %d MB (wanted: at most 150 MB with 10,000 entities)\n", memory, nodeMemory)
	return out, nil
}

// push sends the catalog, whole.
func (s *server) push(body []byte) (string, error) { return s.pushAs("bench", body) }

// pushAs sends all entities of a provider.
func (s *server) pushAs(provider string, body []byte) (string, error) {
	req, err := http.NewRequest(http.MethodPut, s.base+"/api/catalog/providers/"+provider+"/entities", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/x-ndjson")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(res.Body, 1<<12))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("the push was answered with %s: %s", res.Status, said)
	}
	return strings.TrimSpace(string(said)), err
}

// visible checks that the last entity can be found by its words.
func (s *server) visible(n int) error {
	last := fmt.Sprintf("component-%06d", n/perTen*6-1)
	req, err := http.NewRequest(http.MethodGet, s.base+"/api/catalog/entities/by-query?fullTextFilterTerm="+last+"&fields=metadata.name", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err == nil && !bytes.Contains(body, []byte(last)) {
		err = fmt.Errorf("%s is not to be found: %s", last, body)
	}
	return err
}
