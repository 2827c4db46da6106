package task

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the metrics of tasks. A nil *metrics counts nothing.
type metrics struct {
	tasks    *prometheus.CounterVec
	steps    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	running  prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	if registry == nil {
		return nil, nil
	}
	m := &metrics{
		tasks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "scaffolder_tasks_total", Help: "Tasks that ended in this process.",
		}, []string{"status"}),
		steps: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "scaffolder_steps_total", Help: "Steps that ended in this process: completed, failed or skipped.",
		}, []string{"action", "outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "scaffolder_step_duration_seconds", Help: "Duration of steps in this process.",
			Buckets: []float64{.005, .025, .1, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800},
		}, []string{"action"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "scaffolder_tasks_running", Help: "Tasks that run in this process.",
		}),
	}
	for i, c := range m.collectors() {
		if err := registry.Register(c); err != nil {
			for _, before := range m.collectors()[:i] {
				registry.Unregister(before)
			}
			return nil, fmt.Errorf("cannot register task metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.tasks, m.steps, m.duration, m.running}
}

func (m *metrics) unregister(registry prometheus.Registerer) {
	if m == nil {
		return
	}
	for _, c := range m.collectors() {
		registry.Unregister(c)
	}
}

// began increments the number of running tasks, and ended decrements it.
func (m *metrics) began() {
	if m != nil {
		m.running.Inc()
	}
}

func (m *metrics) ended() {
	if m != nil {
		m.running.Dec()
	}
}

// over counts a task that ended.
func (m *metrics) over(status string) {
	if m != nil {
		m.tasks.WithLabelValues(status).Inc()
	}
}

// step counts a step that ended.
func (m *metrics) step(action, outcome string, took time.Duration) {
	if m == nil {
		return
	}
	m.steps.WithLabelValues(action, outcome).Inc()
	m.duration.WithLabelValues(action).Observe(took.Seconds())
}
