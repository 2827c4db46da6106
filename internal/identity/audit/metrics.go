package audit

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count events. A nil *metrics counts nothing.
type metrics struct {
	events   *prometheus.CounterVec
	dropping *prometheus.CounterVec
	failures prometheus.Counter
}

func newMetrics(registry prometheus.Registerer) *metrics {
	if registry == nil {
		return nil
	}
	m := &metrics{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portal_audit_events_total", Help: "Events written to the audit log.",
		}, []string{"event", "result"}),
		dropping: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portal_audit_suppressed_total", Help: "Events not written to the audit log because one caller caused too many.",
		}, []string{"event"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "portal_audit_failures_total", Help: "Events that could not be written to the audit log.",
		}),
	}
	registry.MustRegister(m.events, m.dropping, m.failures)
	return m
}

// label returns the metric label of an event. Third-party actions may use any number
// of names, which share one label.
func label(event string) string {
	if slices.Contains(Names, event) {
		return event
	}
	return "other"
}

func (m *metrics) wrote(event string, result Result) {
	if m != nil {
		m.events.WithLabelValues(label(event), string(result)).Inc()
	}
}

func (m *metrics) dropped(event string) {
	if m != nil {
		m.dropping.WithLabelValues(label(event)).Inc()
	}
}

func (m *metrics) failed() {
	if m != nil {
		m.failures.Inc()
	}
}
