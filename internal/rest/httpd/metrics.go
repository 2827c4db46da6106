package httpd

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are the metrics of requests. Routes are labeled by pattern, not by path, so
// that their number is limited.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

func newMetrics(reg *prometheus.Registry) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "http_requests_total",
			Help: "Requests answered.",
		}, []string{"plugin", "route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "http_request_duration_seconds",
			Help:    "Duration of requests in seconds.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"plugin", "route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "http_requests_in_flight",
			Help: "Requests in flight.",
		}),
	}
	reg.MustRegister(m.requests, m.duration, m.inFlight,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) count(res *response, took time.Duration) {
	m.inFlight.Dec()
	plugin, route := "", noRoute
	if e := res.endpoint; e != nil {
		plugin, route = e.plugin, e.Path
		e.duration.Observe(took.Seconds())
	}
	m.requests.WithLabelValues(plugin, route, methodLabel(res.Original.Method), statusLabel(res.status)).Inc()
}

// otherMethod is the label of methods that are not standard ones.
const otherMethod = "other"

// methodLabel returns the method, if it is a standard one: clients may send any number
// of others.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return otherMethod
}

func statusLabel(status int) string {
	switch status {
	case http.StatusOK:
		return "200"
	case http.StatusNotModified:
		return "304"
	}
	return strconv.Itoa(status)
}
