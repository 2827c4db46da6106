package provider

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/catalog/store"
)

// The values of labels: where entities come from, and the results of syncs.
const (
	fromLocation  = "location"
	fromPush      = "push"
	fromIngestion = "ingestion"
	fromGenerated = "generated"

	syncDone      = "done"
	syncUnchanged = "unchanged"
	syncFailed    = "failed"
)

// metrics are the metrics of the providers. A nil metrics counts nothing.
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
			Name: "catalog_sync_total", Help: "Syncs of sources to the catalog, by result.",
		}, []string{"source", "result"}),
		entities: prometheus.NewDesc("catalog_entities", "Entities in the catalog, by source.", []string{"source"}, nil),
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

// Describe implements prometheus.Collector.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	to <- m.entities
	to <- m.errors
}

// Collect implements prometheus.Collector. While the database is unavailable it omits
// both metrics, because 0 would be wrong.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	registered, err := m.intake.store.Locations(ctx)
	if err != nil {
		return
	}
	// The problems of registered locations are stored, whichever replica read them.
	troubled := m.intake.locations.troubled()
	for _, l := range registered {
		if l.Error != "" {
			troubled++
		}
	}
	to <- prometheus.MustNewConstMetric(m.errors, prometheus.GaugeValue, float64(troubled))
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

// origin returns where the entities of a provider come from. A name that can be pushed
// to is a push provider; the names of ingestion contain a colon.
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
