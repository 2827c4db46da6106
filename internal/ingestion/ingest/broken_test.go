package ingest

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/source"
	"example.dev/ingestor/test/apiserver"
)

// fragile fails on the definitions that request it, and records the times.
type fragile struct {
	mu     sync.Mutex
	broken map[string][]time.Time
	// nothing makes it fail before it gets any definition.
	nothing bool
}

// around is the Transform of a Part.
func (f *fragile) around(e engine.Transformer) engine.Transformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.nothing {
		panic("it cannot begin")
	}
	return trying{e, f}
}

func (f *fragile) begins(well bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nothing = !well
}

// times returns when it failed on a definition.
func (f *fragile) times(name string) []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.broken[name]
}

type trying struct {
	engine.Transformer
	*fragile
}

// Transform implements engine.Transformer.
func (t trying) Transform(in engine.Input) (engine.Result, error) {
	how := in.Definition.Annotations["tests/breaks"]
	if how == "" {
		return t.Transformer.Transform(in)
	}
	t.mu.Lock()
	t.broken[in.Definition.Name] = append(t.broken[in.Definition.Name], time.Now())
	t.mu.Unlock()
	if how == "panic" {
		panic("it breaks by " + how)
	}
	return engine.Result{}, errors.New("it breaks by " + how)
}

// breaks returns a definition that breaks the engine.
func breaks(plural, field, how string) string {
	return strings.Replace(definition(plural, field), "  labels:", "  annotations: {tests/breaks: "+how+"}\n  labels:", 1)
}

// counter returns the value of a counter with a label.
func counter(t *testing.T, r *prometheus.Registry, name, label string) (n float64) {
	t.Helper()
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == name && l.GetValue() == label {
					n += m.GetCounter().GetValue()
				}
			}
		}
	}
	return n
}

// TestBrokenAmongMany checks that three of five hundred definitions that break
// the engine do not affect the others while the cluster is watched.
func TestBrokenAmongMany(t *testing.T) {
	t.Parallel()
	const many, delay = 500, 400 * time.Millisecond
	var text strings.Builder
	for i := range many {
		text.WriteString("---\n" + definition(fmt.Sprintf("d%03d", i), "one"))
	}
	c := apiserver.Start(t, apiserver.Options{Apply: []string{text.String()}})
	glass := &fragile{broken: map[string][]time.Time{}}
	registry := prometheus.NewRegistry()
	b := newHarness(t, nil, func(o *Options) {
		p := &o.Variants[0]
		p.Clusters, p.Watch, p.Extension.Transformer = []source.Cluster{{Name: "prod", Kubeconfig: c.Kubeconfig}}, true, glass.around
		o.Processing.RetryAttempts, o.Processing.RetryDelay, o.Registry = 2, delay, registry
		queued(t, o)
	})
	b.start(t)
	until := func(what string, check func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !check(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s did not happen within a minute", what)
			}
		}
	}
	shows := func(plural, field string) func() bool {
		return func() bool { return strings.Contains(b.catalog.entries()["Template "+plural+".example.org"], field) }
	}
	healthNow := func() health.Health {
		t.Helper()
		h, err := b.Health(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if _, err := b.Scan(t.Context(), "composerIngestor/prod", TriggerManual); err != nil {
		t.Fatal(err)
	}
	until("all entities", func() bool { return len(b.catalog.entries()) == 3*many })
	// The watch begins with a list, which may have changes that its events report, too.
	c.Apply(t, definition("d499", "seen"))
	until("the first change that the watch sees", shows("d499", "seen"))
	before := b.catalog.entries()

	// Two valid definitions break, and a third is broken from the start.
	c.Apply(t, breaks("d100", "other", "panic"), breaks("d200", "other", "error"), breaks("never", "one", "panic"),
		definition("d300", "other"))
	until("the change of a valid definition", shows("d300", "other"))
	bad := []string{"d100.example.org", "d200.example.org", "never.example.org"}
	until("three attempts at each broken definition", func() bool {
		for _, name := range bad {
			if len(glass.times(name)) < 3 {
				// Other changes do not shorten the wait.
				c.Apply(t, definition("d400", fmt.Sprint("field", time.Now().UnixNano())))
				return false
			}
		}
		return true
	})
	time.Sleep(2 * delay)
	for _, name := range bad {
		at := glass.times(name)
		if len(at) != 3 {
			t.Errorf("%s was tried %d times, want 3", name, len(at))
		}
		for i := 1; i < len(at); i++ {
			if at[i].Sub(at[i-1]) < delay {
				t.Errorf("%s was retried after %v, want at least %v", name, at[i].Sub(at[i-1]), delay)
			}
		}
	}
	h := healthNow()
	if h.Status != health.Degraded || len(h.Failures) != 3 || h.Clusters["prod"] != health.Connected ||
		!strings.Contains(h.Failures[bad[0]], "it breaks by panic") || !strings.Contains(h.Failures[bad[1]], "it breaks by error") {
		t.Errorf("health is %s with clusters %v and failures %v, want it degraded with 3 failures", h.Status, h.Clusters, h.Failures)
	}
	if n := counter(t, registry, "composer_ingestor_errors_total", "transform"); n != 9 {
		t.Errorf("%v transform errors were counted, want 9", n)
	}
	after := b.catalog.entries()
	for _, entities := range []map[string]string{before, after} {
		maps.DeleteFunc(entities, func(ref, _ string) bool { return strings.Contains(ref, " d300.") || strings.Contains(ref, " d400.") })
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("other entities changed, or valid ones were removed:\n%s", diff)
	}

	// Once the definitions are fixed or removed, health is healthy.
	c.Apply(t, definition("d100", "mended"), definition("d200", "mended"))
	c.Delete(t, breaks("never", "one", "panic"))
	until("the update of the fixed definitions", func() bool {
		return shows("d100", "mended")() && shows("d200", "mended")() && healthNow().Status == health.Healthy
	})

	// A failure before the engine gets a definition does no harm either.
	glass.begins(false)
	c.Apply(t, definition("d100", "late"))
	until("the failure", func() bool { return strings.Contains(healthNow().Failures[bad[0]], "it cannot begin") })
	glass.begins(true)
	if _, err := b.Scan(t.Context(), "composerIngestor/prod", TriggerManual); err != nil {
		t.Fatal(err)
	}
	until("the recovery", func() bool { return shows("d100", "late")() && healthNow().Status == health.Healthy })
	if n := len(b.catalog.entries()); n != 3*many {
		t.Errorf("catalog has %d entities, want %d", n, 3*many)
	}
}
