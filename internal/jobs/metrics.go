package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// collectWithin is the timeout of counting: a scrape must not wait for a database that
// is unavailable.
const collectWithin = 2 * time.Second

// metrics are the metrics of the queue. A nil *metrics counts nothing.
type metrics struct {
	queue    *Queue
	queued   *prometheus.Desc
	runs     *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newMetrics(registry prometheus.Registerer, q *Queue) (*metrics, error) {
	if registry == nil {
		return nil, nil
	}
	m := &metrics{
		queue:  q,
		queued: prometheus.NewDesc("jobs_queued", "Jobs that wait or run, on all replicas.", []string{"task", "state"}, nil),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "jobs_runs_total", Help: "Attempts at jobs that ended here: done, failed, or stopped with the process; and jobs that were postponed.",
		}, []string{"task", "result"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "jobs_run_duration_seconds", Help: "How long attempts at jobs took here.",
			Buckets: []float64{.005, .025, .1, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800},
		}, []string{"task"}),
	}
	for i, c := range m.collectors() {
		if err := registry.Register(c); err != nil {
			for _, before := range m.collectors()[:i] {
				registry.Unregister(before)
			}
			return nil, fmt.Errorf("its numbers have no room: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m, m.runs, m.duration}
}

func (m *metrics) unregister(registry prometheus.Registerer) {
	if m == nil {
		return
	}
	for _, c := range m.collectors() {
		registry.Unregister(c)
	}
}

func (m *metrics) ran(task, result string, took time.Duration) {
	if m == nil {
		return
	}
	m.runs.WithLabelValues(task, result).Inc()
	m.duration.WithLabelValues(task).Observe(took.Seconds())
}

// postponed counts a postponed job. Its duration is negligible.
func (m *metrics) postponed(task string) {
	if m != nil {
		m.runs.WithLabelValues(task, "postponed").Inc()
	}
}

// Describe describes the metrics of Collect.
func (m *metrics) Describe(to chan<- *prometheus.Desc) { to <- m.queued }

// Collect counts the jobs. While the database is unavailable it returns no metrics,
// since zero would be wrong.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectWithin)
	defer cancel()
	var counted []prometheus.Metric
	err := m.queue.count(ctx, func(task, state string, n int) {
		counted = append(counted, prometheus.MustNewConstMetric(m.queued, prometheus.GaugeValue, float64(n), task, state))
	})
	if err != nil {
		return
	}
	for _, c := range counted {
		to <- c
	}
}
