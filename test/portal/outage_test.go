package portal_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/test/postgres"
)

// readiness returns the status of the readiness probe.
func (c caller) readiness() int {
	c.t.Helper()
	return c.send(call{path: "/.backstage/health/v1/readiness", token: noToken}).status
}

// TestOutage kills PostgreSQL under load and restarts it ten seconds later. It
// checks that requests return 503 in between, that everything works afterwards,
// and that no acknowledged write is lost.
func TestOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("outage test takes half a minute")
	}
	server := postgres.StartWith(t, postgres.Options{Durable: true})
	w := start(t, setup{database: pg(t, server)})
	w.push("first", component("a"))

	var statuses [600]atomic.Int64
	var mu sync.Mutex
	var kept []string
	stop := make(chan struct{})
	var load sync.WaitGroup
	each := func(do func(i int)) {
		load.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
					do(i)
				}
			}
		})
	}
	// note sends a request and counts its status; every request must get a
	// response.
	note := func(x call) int {
		r, err := w.try(x)
		if err != nil {
			t.Errorf("%s: %v", x.path, err)
			return 0
		}
		statuses[r.status].Add(1)
		if r.status == http.StatusServiceUnavailable && r.header.Get("Retry-After") == "" {
			t.Errorf("%s: 503 has no Retry-After", x.path)
		}
		return r.status
	}
	each(func(int) { note(call{path: "/api/catalog/entities/by-name/component/default/a"}) })
	each(func(int) { note(call{path: "/api/catalog/entities/by-query?filter=kind=component&limit=5"}) })
	for writer := range 2 {
		each(func(i int) {
			name := fmt.Sprintf("w%d-%d", writer, i)
			x := call{method: "POST", path: fmt.Sprintf("/api/catalog/providers/w%d/delta", writer), body: component(name), header: ndjson}
			if note(x) == http.StatusOK {
				mu.Lock()
				defer mu.Unlock()
				kept = append(kept, name)
			}
		})
	}
	written := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(kept)
	}
	w.until("something is written", func() bool { return written() > 20 })

	server.Kill()
	gone := time.Now()
	w.until("the probe notices", func() bool { return w.readiness() == http.StatusServiceUnavailable })
	w.until("clients are told", func() bool { return statuses[http.StatusServiceUnavailable].Load() > 5 })
	time.Sleep(time.Until(gone.Add(10 * time.Second)))
	server.Restart(t)
	w.until("the probe notices that it is back", func() bool { return w.readiness() == http.StatusOK })
	again := written()
	w.until("more is written", func() bool { return written() > again+20 })
	close(stop)
	load.Wait()

	for status := range statuses {
		if n := statuses[status].Load(); n > 0 && status != http.StatusOK && status != http.StatusServiceUnavailable {
			t.Errorf("%d responses had status %d, want only 200 and 503", n, status)
		}
	}
	missing := 0
	for _, name := range kept {
		if !w.exists("component/default/" + name) {
			missing++
		}
	}
	if missing > 0 || !w.exists("component/default/a") {
		t.Errorf("%d of %d acknowledged entities were lost", missing, len(kept))
	}
	t.Logf("%d responses with 200, %d with 503; %d entities acknowledged, none lost",
		statuses[http.StatusOK].Load(), statuses[http.StatusServiceUnavailable].Load(), len(kept))
}

// TestDatabaseReadOnly makes PostgreSQL read-only, like a standby.
func TestDatabaseReadOnly(t *testing.T) {
	server := postgres.Start(t)
	w := start(t, setup{database: pg(t, server)})
	w.push("first", component("a"))
	readOnly := func(value string) {
		t.Helper()
		for _, command := range []string{"ALTER SYSTEM SET default_transaction_read_only = " + value, "SELECT pg_reload_conf()"} {
			if _, err := server.Command(t.Context(), "psql", "--dbname=postgres", "--command=SET default_transaction_read_only = off", "--command="+command); err != nil {
				t.Fatal(err)
			}
		}
	}
	readOnly("on")
	// The server applies the setting with a delay. An unchanged push writes
	// nothing, so each push differs.
	n := 0
	w.until("writing is refused", func() bool {
		n++
		return w.send(pushing("second", n)).status == http.StatusServiceUnavailable
	})
	w.busy(pushing("third", 3))
	if !w.exists("component/default/a") {
		t.Error("read failed while the database was read-only")
	}
	readOnly("off")
	w.until("writing works again", func() bool { return w.send(pushing("third", 3)).status == http.StatusOK })
}
