package ingest

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/source/cluster"
)

// meters are the metrics of the service.
type meters struct {
	discovered, entities, errors, notices, hits *prometheus.CounterVec
	definitions, success                        *prometheus.GaugeVec
	duration                                    *prometheus.HistogramVec
}

// newMeters registers the metrics. The names of the first four are part of the contract.
func newMeters(r prometheus.Registerer) *meters {
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
	m := &meters{
		discovered: counter("composer_ingestor_xrds_discovered_total", "Definitions found, counted in every scan.", "cluster"),
		entities:   counter("composer_ingestor_entities_generated_total", "Entities generated and passed to the catalog."),
		errors:     counter("composer_ingestor_errors_total", "Failures, by cluster and reason.", "cluster", "reason"),
		notices:    counter("composer_ingestor_watch_events_total", "Watch events received from clusters.", "cluster"),
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
	for _, cache := range []string{cacheResources, cacheTransforms, cacheTemplates} {
		m.hits.WithLabelValues(cache, "hit")
		m.hits.WithLabelValues(cache, "miss")
	}
	return m
}

// begin initializes the metrics to zero, so that a counter without failures can be told
// from a missing one.
func (m *meters) begin(places []*target) {
	m.entities.WithLabelValues()
	for _, phase := range []string{"read", "load", "transform", "write"} {
		m.duration.WithLabelValues(phase)
	}
	for _, reason := range []string{"catalog", "conflict", "transform"} {
		m.errors.WithLabelValues("", reason)
	}
	if len(places) == 0 {
		m.discovered.WithLabelValues("")
	}
	for _, p := range places {
		m.discovered.WithLabelValues(p.at)
		m.definitions.WithLabelValues(p.name)
		reasons := []cluster.Reason{cluster.Timeout, failedReason}
		if p.cluster {
			reasons = append(reasons, cluster.Settings, cluster.Unreachable, cluster.Certificate, cluster.Unauthorized, cluster.Forbidden, cluster.Absent, cluster.Server)
		}
		for _, reason := range reasons {
			m.errors.WithLabelValues(p.at, string(reason))
		}
	}
}

func (m *meters) phase(name string, took time.Duration) {
	m.duration.WithLabelValues(name).Observe(took.Seconds())
}

func (m *meters) failed(cluster, reason string) { m.errors.WithLabelValues(cluster, reason).Inc() }

func (m *meters) noticed(cluster string) { m.notices.WithLabelValues(cluster).Inc() }

func (m *meters) made(entities int) { m.entities.WithLabelValues().Add(float64(entities)) }

func (m *meters) cached(cache string, hit bool) {
	result := "miss"
	if hit {
		result = "hit"
	}
	m.hits.WithLabelValues(cache, result).Inc()
}

func (m *meters) scanned(p *target, found int) {
	m.discovered.WithLabelValues(p.at).Add(float64(found))
	m.definitions.WithLabelValues(p.name).Set(float64(found))
}

func (m *meters) succeeded(p *target, at time.Time) {
	m.success.WithLabelValues(p.name).Set(float64(at.UnixMilli()) / 1000)
}
