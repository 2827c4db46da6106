package service_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/ingestion/ingest"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/postgres"
)

// TestKilled kills services: one in its first scan, repeatedly, and one of
// three that share a database.
func TestKilled(t *testing.T) {
	t.Parallel()
	const n = 300
	text, refs := numbered(n)
	c := apiserver.Start(t, apiserver.Options{Apply: []string{text}})
	pg := postgres.Start(t)
	t.Run("in the first scan, on SQLite", func(t *testing.T) { killedInScan(t, c, nil, refs)() })
	// On PostgreSQL another replica might still run the scan that was killed,
	// so it is not repeated before its timeout. Another subtest runs in the
	// meantime.
	database, _ := databaseOn(t, pg)
	whole := killedInScan(t, c, database, refs)
	t.Run("one of three", func(t *testing.T) { oneOfThree(t, c, pg, refs) })
	whole()
}

// killedInScan kills a service at random times during its first scan of a
// cluster, and checks that the catalog is complete after that. The function
// that it returns waits until health reports that the catalog is complete.
func killedInScan(t *testing.T, c *apiserver.Server, database any, refs []string) (whole func()) {
	const kills = 5
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	extra := definition("extras", "one")
	c.Apply(t, extra)
	// Marks in the database would be wrong if they were written before the
	// entities they are about.
	s := setup{database: database, sections: composer(sections{
		// No kind is served here, which a scan would note on entities after
		// they were added.
		"composites": sections{"enabled": false},
		"schedule":   sections{"frequency": "1h", "timeout": "3s"}, "changeDetection": sections{"storage": "database"},
	}, cluster("prod", c))}
	// All services of the setup use one database.
	s.write(t, "127.0.0.1:1")
	var reached []int
	for i := range kills {
		p := launch(t, s).ready()
		p.until("entities before the kill", func() error {
			got, err := p.refs("kind=template")
			if err == nil && i > 0 && len(got) == 0 {
				err = fmt.Errorf("catalog has no Templates yet")
			}
			return err
		})
		time.Sleep(time.Duration(random.Float64() * float64(500*time.Millisecond)))
		got, _ := p.refs("kind=template")
		reached = append(reached, len(got))
		p.stop()
		if i == kills-2 {
			c.Delete(t, extra)
		}
	}
	t.Logf("seed %d: killed when the catalog had %v of %d Templates", seed, reached, len(refs)/3+1)
	p := launch(t, s).ready()
	p.waitForRefs("", slices.Clone(refs)...)
	before := p.stamps("")
	return func() {
		p.wantHealth("healthy", map[string]string{"prod": "connected"})
		p.waitForRefs("", slices.Clone(refs)...)
		p.waitForMarks(prod)
		wroteNothing(t, "complete", p.scan(prod), 0)
		p.checkUnchanged(before, refs...)
	}
}

// definitionsList reports whether a request lists definitions, and is not a
// watch.
func definitionsList(path string, query url.Values) bool {
	return strings.HasSuffix(path, "/compositeresourcedefinitions") && query.Get("watch") == ""
}

// oneOfThree starts three services that share a database, and kills one of them
// during a scan.
func oneOfThree(t *testing.T, c *apiserver.Server, pg *postgres.Server, refs []string) {
	const frequency = time.Second
	database, _ := databaseOn(t, pg)
	g := newGate(t, c)
	replicas := map[string]*program{}
	for _, name := range []string{"first", "second", "third"} {
		replicas[name] = launch(t, setup{database: database, sections: composer(sections{
			// No kind is served here, which a scan would note on entities after
			// they were added.
			"composites": sections{"enabled": false},
			"schedule":   sections{"frequency": frequency.String(), "timeout": "3s"}, "changeDetection": sections{"storage": "database"},
			"processing": sections{"retryAttempts": 0},
		}, g.cluster("prod", name))})
	}
	for _, p := range replicas {
		p.ready()
	}
	one := replicas["first"]
	one.waitForRefs("", slices.Clone(refs)...)
	begun := time.Now()
	before := one.stamps("")
	// Run some scans undisturbed.
	one.until("four scans", func() error { return scanned(one, begun, 4) })
	oneByOne(t, one, begun, frequency)

	g.holds(func(_, path string, query url.Values) bool { return definitionsList(path, query) })
	var victim string
	select {
	case victim = <-g.held:
	case <-time.After(patience):
		t.Fatal("no scan was started")
	}
	g.holds(nil)
	replicas[victim].stop()
	killed := time.Now()
	delete(replicas, victim)
	t.Logf("%s was killed during a scan", victim)
	// The other replicas keep watching.
	c.Apply(t, definition("extras", "one"))
	for _, p := range replicas {
		p.until("a change arrives", func() error {
			if p.entity(template("extras")) == nil {
				return fmt.Errorf("catalog does not have the new definition")
			}
			return nil
		})
		one = p
	}
	t.Logf("change arrived %v after the kill", time.Since(killed).Round(time.Millisecond))
	c.Delete(t, definition("extras", "one"))
	one.until("a scan by another replica", func() error { return scanned(one, killed, 1) })
	t.Logf("scan was made %v after the kill", time.Since(killed).Round(time.Millisecond))
	one.until("further scans", func() error { return scanned(one, killed, 3) })
	oneByOne(t, one, killed, frequency)
	one.waitForRefs("", slices.Clone(refs)...)
	one.wantHealth("healthy", map[string]string{"prod": "connected"})
	one.checkUnchanged(before, refs...)
}

// scanned returns an error unless at least n runs were recorded since a time.
func scanned(p *program, since time.Time, n int) error {
	runs, err := p.runs(prod)
	if err != nil {
		return err
	}
	if runs = begunSince(runs, since); len(runs) < n {
		return fmt.Errorf("%d of %d runs were recorded", len(runs), n)
	}
	return nil
}

func begunSince(runs []ingest.Run, since time.Time) []ingest.Run {
	return slices.DeleteFunc(runs, func(r ingest.Run) bool { return r.Started.Before(since) })
}

// oneByOne checks that the scans since a time were run one after the other and
// each once, although several replicas could have run them.
func oneByOne(t *testing.T, p *program, since time.Time, frequency time.Duration) {
	t.Helper()
	took := time.Since(since)
	all, err := p.runs(prod)
	if err != nil {
		t.Fatal(err)
	}
	runs := begunSince(all, since)
	slices.SortFunc(runs, func(a, b ingest.Run) int { return a.Started.Compare(b.Started) })
	scheduled := 0
	for i, r := range runs {
		if r.Replica == "" {
			t.Errorf("run names no replica: %+v", r)
		}
		if r.Trigger == ingest.TriggerSchedule {
			scheduled++
		}
		if i == 0 {
			continue
		}
		end := runs[i-1].Started.Add(time.Duration(runs[i-1].Milliseconds) * time.Millisecond)
		if r.Started.Before(end) {
			t.Errorf("run %+v begins before the previous run %+v ended", r, runs[i-1])
		}
	}
	if most := int(took/frequency) + 2; scheduled > most {
		t.Errorf("%d scheduled scans were made in %v, want at most %d", scheduled, took, most)
	}
}
