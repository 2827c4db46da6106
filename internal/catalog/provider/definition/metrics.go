package definition

import "github.com/prometheus/client_golang/prometheus"

// The results of a refresh, as label values.
const (
	refreshDone      = "done"
	refreshUnchanged = "unchanged"
	refreshFailed    = "failed"
)

// metrics are the metrics of the provider. A nil metrics counts nothing.
type metrics struct {
	generated *Folder
	refreshes *prometheus.CounterVec
	gauges    []gauge
}

// gauge is a gauge of a number in the status.
type gauge struct {
	desc  *prometheus.Desc
	value func(Status) float64
}

func newMetrics(registry prometheus.Registerer, g *Folder) *metrics {
	if registry == nil {
		return nil
	}
	number := func(name, help string, value func(Status) float64) gauge {
		return gauge{prometheus.NewDesc("catalog_generated_"+name, help, nil, nil), value}
	}
	m := &metrics{
		generated: g,
		refreshes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "catalog_generated_refresh_total", Help: "Refreshes of the folder of generated entities, by result.",
		}, []string{"result"}),
		gauges: []gauge{
			number("files", "Files in the folder of generated entities.", func(s Status) float64 { return float64(s.Files) }),
			number("entities", "Entities in the catalog that come from the folder of generated entities.", func(s Status) float64 { return float64(s.Entities) }),
			number("problems", "Problems with files in the folder of generated entities.", func(s Status) float64 { return float64(s.Problems) }),
			number("last_success_timestamp_seconds", "When the folder of generated entities was last synced to the catalog; 0 if never.", func(s Status) float64 {
				if s.Succeeded.IsZero() {
					return 0
				}
				return float64(s.Succeeded.Unix())
			}),
		},
	}
	registry.MustRegister(m.refreshes, m)
	return m
}

func (m *metrics) refreshed(result string) {
	if m != nil {
		m.refreshes.WithLabelValues(result).Inc()
	}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	for _, g := range m.gauges {
		to <- g.desc
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	s := m.generated.Status()
	for _, g := range m.gauges {
		to <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, g.value(s))
	}
}
