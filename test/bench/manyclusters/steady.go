package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/test/bench/backend"
)

// poll is the pause between questions, whose answers cost the service CPU time as well.
const poll = 2 * time.Second

// patience is how long a step may take.
const patience = 20 * time.Minute

// until polls until check returns true.
func until(what string, check func() (bool, error)) error {
	for deadline := time.Now().Add(patience); ; {
		time.Sleep(poll)
		ok, err := check()
		if ok {
			return nil
		}
		if time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("not within %v: %s", patience, what), err)
		}
	}
}

// first waits for the first start to end.
func (m *measurement) first() error {
	began := time.Now()
	if err := until("all Templates", func() (bool, error) {
		n, err := m.Entities("template")
		return n == m.fleet.Definitions(), err
	}); err != nil {
		return err
	}
	visible := time.Since(began)
	if err := until("all clusters", func() (bool, error) { return m.read(began) }); err != nil {
		return err
	}
	var found inspect.Findings
	if err := until("the findings", func() (bool, error) {
		_, err := m.Ask(http.MethodGet, "/api/composer-ingestor/findings?limit=0", "", &found)
		return err == nil && found.Pending == 0, err
	}); err != nil {
		return err
	}
	if err := m.rest(); err != nil {
		return err
	}
	entities, err := m.Entities("")
	if err != nil {
		return err
	}
	cpu, err := m.CPU()
	if err != nil {
		return err
	}
	peak, err := m.Memory(backend.Peak)
	if err != nil {
		return err
	}
	fmt.Fprintf(m, "first start: all definitions are in the catalog after %.0f s, everything is done after %.0f s and %.1f s of CPU time; %d entities; %.0f MB resident at most (wanted: under %d)\n",
		visible.Seconds(), time.Since(began).Seconds(), cpu, entities, peak, wantedMemory)
	return nil
}

// read reports whether all clusters have been read without an error since then.
func (m *measurement) read(since time.Time) (bool, error) {
	var h health.Health
	if _, err := m.Ask(http.MethodGet, "/api/composer-ingestor/health", "", &h); err != nil {
		return false, err
	}
	return !slices.ContainsFunc(h.Sources, func(s health.Source) bool {
		return s.State != health.Connected || !s.LastSuccess.After(since)
	}), nil
}

// rest waits until the service has used little CPU time for a while.
func (m *measurement) rest() error {
	const window, share = 5 * time.Second, .15
	before, err := m.CPU()
	if err != nil {
		return err
	}
	return backend.Until("the service rests", func() (bool, error) {
		time.Sleep(window)
		now, err := m.CPU()
		used := now - before
		before = now
		return used < share*window.Seconds(), err
	})
}

// steady measures the time without any change, and a scan of all clusters.
func (m *measurement) steady() error {
	if err := m.rest(); err != nil {
		return err
	}
	before, err := m.CPU()
	if err != nil {
		return err
	}
	began := time.Now()
	time.Sleep(*steady)
	after, err := m.CPU()
	if err != nil {
		return err
	}
	m.idle = (after - before) / time.Since(began).Seconds()
	resident, err := m.Memory(backend.Resident)
	if err != nil {
		return err
	}
	watches := int64(0)
	for _, c := range m.fleet.Clusters {
		watches += c.Open.Load()
	}
	written, err := m.written()
	if err != nil {
		return err
	}
	began = time.Now()
	if _, err := m.Ask(http.MethodPost, "/api/composer-ingestor/runs", "", nil); err != nil {
		return err
	}
	if err := until("the scans", func() (bool, error) { return m.read(began) }); err != nil {
		return err
	}
	took := time.Since(began)
	scanned, err := m.CPU()
	if err != nil {
		return err
	}
	more, err := m.written()
	if err != nil {
		return err
	}
	scans := scanned - after - m.idle*took.Seconds()
	fmt.Fprintf(m, "steady state: %.2f %% of a core over %v with %d watches; a scan of all clusters takes %.1f s and %.1f s of CPU time, and writes %.1f MB; every %v that is together %.2f %% of a core (wanted: under %.0f %%)\n",
		100*m.idle, *steady, watches, took.Seconds(), scans, more-written, *frequency, 100*(m.idle+scans/frequency.Seconds()), wantedCPU)
	again, err := m.Memory(backend.Resident)
	if err != nil {
		return err
	}
	fmt.Fprintf(m, "steady state: %.0f MB resident, %.0f MB after the scan (wanted: under %d)\n", resident, again, wantedMemory)
	return nil
}

// written returns how much the service has written to files, in megabytes.
func (m *measurement) written() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", m.PID()))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "\nwrite_bytes: ")
	value, _, _ := strings.Cut(rest, "\n")
	bytes, err := strconv.ParseFloat(value, 64)
	return bytes / 1e6, err
}

// changes changes definitions, each in another cluster, and waits for each change.
func (m *measurement) changes() error {
	took := make([]time.Duration, *changes)
	before, err := m.CPU()
	if err != nil {
		return err
	}
	start := time.Now()
	for i := range took {
		c := m.fleet.Clusters[i*37%len(m.fleet.Clusters)]
		title := fmt.Sprintf("Changed %d", i)
		// One half changes a definition of this cluster only. The other half changes one of
		// those of all clusters: of equal generations, the first cluster's is used.
		at := *common + i%max(1, *definitions-*common)
		if at >= *definitions || i%2 == 1 && *common > 0 {
			c, at = m.fleet.Clusters[0], i%*common
		}
		began := time.Now()
		name := c.Change(at, title)
		if err := backend.Until(title, func() (bool, error) {
			var e struct{ Metadata struct{ Title string } }
			_, err := m.Ask(http.MethodGet, "/api/catalog/entities/by-name/template/default/"+name, "", &e)
			return e.Metadata.Title == title, err
		}); err != nil {
			return err
		}
		took[i] = time.Since(began)
	}
	after, err := m.CPU()
	if err != nil {
		return err
	}
	slices.Sort(took)
	at := func(q float64) time.Duration {
		return took[min(len(took)-1, int(q*float64(len(took))))].Round(time.Millisecond)
	}
	fmt.Fprintf(m, "%d changes, from the cluster to the catalog: median %v, p99 %v, longest %v (wanted: p99 under %v); %.0f ms of CPU time each\n",
		*changes, at(.5), at(.99), took[len(took)-1].Round(time.Millisecond), wantedChange,
		1000*(after-before-m.idle*time.Since(start).Seconds())/float64(*changes))
	return m.rest()
}
