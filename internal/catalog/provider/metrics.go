package provider

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/catalog/store"
)

// Where entities come from, and what became of them, as labels say it.
const (
	fromLocation  = "location"
	fromPush      = "push"
	fromIngestion = "ingestion"
	fromGenerated = "generated"

	syncDone      = "done"
	syncUnchanged = "unchanged"
	syncFailed    = "failed"
)

// metrics is what the intake counts. A nil metrics counts nothing.
type metrics struct {
	intake   *Providers
	syncs    *prometheus.CounterVec
	entities *prometheus.Desc
	errors   *prometheus.Desc
}

func newMetrics(registry prometheus.Registerer, in *Providers) *metrics {
	if registry == nil {
		return nil
	}
	m := &metrics{
		intake: in,
		syncs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "catalog_sync_total", Help: "How often what a source has was written, or found unchanged, or could not be.",
		}, []string{"source", "result"}),
		entities: prometheus.NewDesc("catalog_entities", "Entities in the catalog, by where they come from.", []string{"source"}, nil),
		errors:   prometheus.NewDesc("catalog_location_errors", "Locations that could not be read, wholly or in part.", nil, nil),
	}
	registry.MustRegister(m.syncs, m)
	return m
}

func (m *metrics) synced(source, result string) {
	if m != nil {
		m.syncs.WithLabelValues(source, result).Inc()
	}
}

// Describe names what Collect gives.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	to <- m.entities
	to <- m.errors
}

// Collect counts. While the database is away there are no entities to count,
// which is not the same as none.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.MustNewConstMetric(m.errors, prometheus.GaugeValue, float64(m.intake.locations.troubled()))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	owners, err := m.intake.store.Providers(ctx)
	if err != nil {
		return
	}
	counts := map[string]int{fromLocation: 0, fromPush: 0, fromIngestion: 0, fromGenerated: 0}
	for owner, n := range owners {
		counts[origin(owner)] += n
	}
	for source, n := range counts {
		to <- prometheus.MustNewConstMetric(m.entities, prometheus.GaugeValue, float64(n), source)
	}
}

// origin is where the entities of an owner come from. Whoever pushes has a name
// that can be pushed to; those of ingestion have a colon.
func origin(owner string) string {
	switch {
	case strings.HasPrefix(owner, store.LocationProvider("")):
		return fromLocation
	case providerName.MatchString(owner):
		return fromPush
	case strings.Contains(owner, ":"):
		return fromIngestion
	}
	return fromGenerated
}
