// Package metrics has the Prometheus metrics of ingestion.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/source/cluster"
)

// The names of the caches.
const (
	CacheResources  = "resources"
	CacheTransforms = "transforms"
	CacheTemplates  = "templates"
)

// Metrics are the metrics of the service.
type Metrics struct {
	discovered, entities, errors, events, hits *prometheus.CounterVec
	definitions, success                       *prometheus.GaugeVec
	duration                                   *prometheus.HistogramVec
}

// New registers the metrics; r may be nil. The names of the first four are part of the
// contract.
func New(r prometheus.Registerer) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		if r != nil {
			r.MustRegister(c)
		}
		return c
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
		if r != nil {
			r.MustRegister(g)
		}
		return g
	}
	m := &Metrics{
		discovered: counter("composer_ingestor_xrds_discovered_total", "Definitions found, counted in every scan.", "cluster"),
		entities:   counter("composer_ingestor_entities_generated_total", "Entities generated and passed to the catalog."),
		errors:     counter("composer_ingestor_errors_total", "Failures, by cluster and reason.", "cluster", "reason"),
		events:     counter("composer_ingestor_watch_events_total", "Watch events received from clusters.", "cluster"),
		hits:       counter("composer_ingestor_cache_requests_total", "Cache requests, by result.", "cache", "result"),

		definitions: gauge("composer_ingestor_xrds", "Definitions at the last scan.", "source"),
		success:     gauge("composer_ingestor_last_success_timestamp_seconds", "When a source was last read without an error.", "source"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "composer_ingestor_processing_duration_seconds", Help: "Duration of the phases of runs.",
			Buckets: []float64{.001, .005, .02, .1, .5, 1, 2, 5, 15, 60, 300},
		}, []string{"phase"}),
	}
	if r != nil {
		r.MustRegister(m.duration)
	}
	for _, cache := range []string{CacheResources, CacheTransforms, CacheTemplates} {
		m.hits.WithLabelValues(cache, "hit")
		m.hits.WithLabelValues(cache, "miss")
	}
	return m
}

// Begin initializes the metrics to zero, so that a counter without failures can be told
// from a missing one.
func (m *Metrics) Begin(targets []status.Target) {
	m.entities.WithLabelValues()
	for _, phase := range []string{"read", "load", "transform", "write"} {
		m.duration.WithLabelValues(phase)
	}
	for _, reason := range []string{"catalog", "conflict", "transform"} {
		m.errors.WithLabelValues("", reason)
	}
	if len(targets) == 0 {
		m.discovered.WithLabelValues("")
	}
	for _, p := range targets {
		m.discovered.WithLabelValues(p.At)
		m.definitions.WithLabelValues(p.Name)
		reasons := []cluster.Reason{cluster.Timeout, status.ReasonFailed}
		if p.Cluster {
			reasons = append(reasons, cluster.Settings, cluster.Unreachable, cluster.Certificate, cluster.Unauthorized, cluster.Forbidden, cluster.Absent, cluster.Server)
		}
		for _, reason := range reasons {
			m.errors.WithLabelValues(p.At, string(reason))
		}
	}
}

// Phase records the duration of a phase: read, load, transform or write.
func (m *Metrics) Phase(name string, took time.Duration) {
	m.duration.WithLabelValues(name).Observe(took.Seconds())
}

// Failed counts a failure; cluster is empty if it concerns none.
func (m *Metrics) Failed(cluster, reason string) { m.errors.WithLabelValues(cluster, reason).Inc() }

// Event counts a watch event.
func (m *Metrics) Event(cluster string) { m.events.WithLabelValues(cluster).Inc() }

// Built counts entities that were passed to the catalog.
func (m *Metrics) Built(entities int) { m.entities.WithLabelValues().Add(float64(entities)) }

// Cached counts a cache request.
func (m *Metrics) Cached(cache string, hit bool) {
	result := "miss"
	if hit {
		result = "hit"
	}
	m.hits.WithLabelValues(cache, result).Inc()
}

// Scanned counts the definitions that a scan found.
func (m *Metrics) Scanned(p status.Target, found int) {
	m.discovered.WithLabelValues(p.At).Add(float64(found))
	m.definitions.WithLabelValues(p.Name).Set(float64(found))
}

// Succeeded records when a target was read without an error.
func (m *Metrics) Succeeded(p status.Target, at time.Time) {
	m.success.WithLabelValues(p.Name).Set(float64(at.UnixMilli()) / 1000)
}
