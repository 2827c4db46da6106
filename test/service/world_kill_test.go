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

// TestKilled kills services: one in the middle of its first scan, again and
// again, and one of three that share a database.
func TestKilled(t *testing.T) {
	t.Parallel()
	const n = 300
	text, refs := numbered(n)
	c := apiserver.Start(t, apiserver.Options{Apply: []string{text}})
	pg := postgres.Start(t)
	t.Run("in the first scan, on SQLite", func(t *testing.T) { killedInScan(t, c, nil, refs)() })
	// On PostgreSQL somebody else might still make the scan that was killed, so
	// that it is not made again before its time is over. There is something to
	// do meanwhile.
	database, _ := databaseOn(t, pg)
	whole := killedInScan(t, c, database, refs)
	t.Run("one of three", func(t *testing.T) { oneOfThree(t, c, pg, refs) })
	whole()
}

// killedInScan kills a service at random moments while it reads a cluster for
// the first time. The catalog is complete after that; the function that is
// returned waits until the service knows it.
func killedInScan(t *testing.T, c *apiserver.Server, database any, refs []string) (whole func()) {
	const kills = 5
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	extra := definition("extras", "one")
	c.Apply(t, extra)
	// Marks in the database would be taken for what they are not, if they were
	// written before what they are about.
	s := setup{database: database, sections: composer(sections{
		// No kind is served here, which a scan would note on entities after they came.
		"composites": sections{"enabled": false},
		"schedule":   sections{"frequency": "1h", "timeout": "3s"}, "changeDetection": sections{"storage": "database"},
	}, cluster("prod", c))}
	// The setup is to have one database for all of them.
	s.write(t, "127.0.0.1:1")
	var reached []int
	for i := range kills {
		p := launch(t, s).ready()
		p.until("something to kill it over", func() error {
			got, err := p.refs("kind=template")
			if err == nil && i > 0 && len(got) == 0 {
				err = fmt.Errorf("nothing yet")
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
	t.Logf("seed %d: killed when there were %v of %d Templates", seed, reached, len(refs)/3+1)
	p := launch(t, s).ready()
	p.wants("", slices.Clone(refs)...)
	before := p.stamps("")
	return func() {
		p.fares("healthy", map[string]string{"prod": "connected"})
		p.wants("", slices.Clone(refs)...)
		p.remembers(prod)
		wroteNothing(t, "complete", p.scan(prod), 0)
		p.unmoved(before, refs...)
	}
}

// definitionsList reports whether a request is for the list of definitions, and
// not for what changes of it.
func definitionsList(path string, query url.Values) bool {
	return strings.HasSuffix(path, "/compositeresourcedefinitions") && query.Get("watch") == ""
}

// oneOfThree has three services share a database, and kills one of them in the
// middle of a scan.
func oneOfThree(t *testing.T, c *apiserver.Server, pg *postgres.Server, refs []string) {
	const frequency = time.Second
	database, _ := databaseOn(t, pg)
	g := newGate(t, c)
	replicas := map[string]*program{}
	for _, name := range []string{"first", "second", "third"} {
		replicas[name] = launch(t, setup{database: database, sections: composer(sections{
			// No kind is served here, which a scan would note on entities after they came.
			"composites": sections{"enabled": false},
			"schedule":   sections{"frequency": frequency.String(), "timeout": "3s"}, "changeDetection": sections{"storage": "database"},
			"processing": sections{"retryAttempts": 0},
		}, g.cluster("prod", name))})
	}
	for _, p := range replicas {
		p.ready()
	}
	one := replicas["first"]
	one.wants("", slices.Clone(refs)...)
	begun := time.Now()
	before := one.stamps("")
	// Some scans as usual.
	one.until("four scans", func() error { return scanned(one, begun, 4) })
	oneByOne(t, one, begun, frequency)

	g.holds(func(_, path string, query url.Values) bool { return definitionsList(path, query) })
	var victim string
	select {
	case victim = <-g.held:
	case <-time.After(patience):
		t.Fatal("no scan begins")
	}
	g.holds(nil)
	replicas[victim].stop()
	killed := time.Now()
	delete(replicas, victim)
	t.Logf("%s was killed in the middle of a scan", victim)
	// The others go on to watch.
	c.Apply(t, definition("extras", "one"))
	for _, p := range replicas {
		p.until("a change arrives", func() error {
			if p.entity(template("extras")) == nil {
				return fmt.Errorf("it is not there")
			}
			return nil
		})
		one = p
	}
	t.Logf("a change arrives after %v", time.Since(killed).Round(time.Millisecond))
	c.Delete(t, definition("extras", "one"))
	one.until("a scan is made by another", func() error { return scanned(one, killed, 1) })
	t.Logf("a scan is made after %v", time.Since(killed).Round(time.Millisecond))
	one.until("scans go on", func() error { return scanned(one, killed, 3) })
	oneByOne(t, one, killed, frequency)
	one.wants("", slices.Clone(refs)...)
	one.fares("healthy", map[string]string{"prod": "connected"})
	one.unmoved(before, refs...)
}

// scanned returns an error unless a source was scanned so often since.
func scanned(p *program, since time.Time, n int) error {
	runs, err := p.runs(prod)
	if err != nil {
		return err
	}
	if runs = begunSince(runs, since); len(runs) < n {
		return fmt.Errorf("there are %d of %d", len(runs), n)
	}
	return nil
}

func begunSince(runs []ingest.Run, since time.Time) []ingest.Run {
	return slices.DeleteFunc(runs, func(r ingest.Run) bool { return r.Started.Before(since) })
}

// oneByOne wants the scans since a moment to have been made one after the other,
// each once, though several could have.
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
			t.Errorf("nobody made the run %+v", r)
		}
		if r.Trigger == ingest.TriggerSchedule {
			scheduled++
		}
		if i == 0 {
			continue
		}
		end := runs[i-1].Started.Add(time.Duration(runs[i-1].Milliseconds) * time.Millisecond)
		if r.Started.Before(end) {
			t.Errorf("the run %+v begins while %+v goes on", r, runs[i-1])
		}
	}
	if most := int(took/frequency) + 2; scheduled > most {
		t.Errorf("there were %d scheduled scans in %v, at most %d are due", scheduled, took, most)
	}
}
