package config

import (
	"regexp"
	"time"

	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
	"example.dev/ingestor/source"
)

// Telemetry is the section backend.telemetry: where traces and metrics are sent.
type Telemetry struct {
	// Endpoint is the base URL of an OpenTelemetry collector, without a trailing slash;
	// empty means that nothing is sent.
	Endpoint string
	// Headers are sent with every export. Their values may be credentials.
	Headers map[string]source.Secret
	// Traces and Metrics say what is sent.
	Traces, Metrics bool
	// SampleRatio is the fraction of traces that are recorded, from 0 to 1. It applies to
	// traces that begin here; others are recorded as their caller decided.
	SampleRatio float64
	// Interval is how often metrics are sent.
	Interval time.Duration
	// ServiceName is the name of the service in traces and metrics.
	ServiceName string
}

// HasTraces reports whether traces are sent.
func (t Telemetry) HasTraces() bool { return t.Endpoint != "" && t.Traces }

// HasMetrics reports whether metrics are sent.
func (t Telemetry) HasMetrics() bool { return t.Endpoint != "" && t.Metrics }

func (t *Telemetry) read(m *keys.Map) {
	readBaseURL(m, "endpoint", &t.Endpoint)
	m.Map("headers", func(m *keys.Map) {
		m.Note("<name>", "secret", nil)
		for _, f := range m.Fields() {
			var value source.Secret
			m.Password(f.Key, &value)
			switch {
			case !headerName.MatchString(f.Key):
				m.ReportKey(rule.Value, f.Key, "write the name of an HTTP header, such as Authorization", "%s: invalid header name", m.PathTo(f.Key))
			case value != "" && t.Headers == nil:
				t.Headers = map[string]source.Secret{f.Key: value}
			case value != "":
				t.Headers[f.Key] = value
			}
		}
	})
	m.Flag("traces", &t.Traces)
	m.Flag("metrics", &t.Metrics)
	m.Ratio("sampleRatio", &t.SampleRatio)
	m.Between("interval", &t.Interval, time.Second, time.Hour)
	m.Text("serviceName", &t.ServiceName, nil)
}

// headerName matches the name of an HTTP header.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
