package telemetry

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/propagation"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/source"
	"example.dev/ingestor/test/collector"
)

// log is what was logged.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// settings returns the default settings for a collector.
func settings(endpoint string) config.Telemetry {
	return config.Telemetry{Endpoint: endpoint, Traces: true, Metrics: true, SampleRatio: 1, Interval: time.Hour, ServiceName: "portal-backend"}
}

// open opens telemetry, which ends with the test.
func open(t *testing.T, c config.Telemetry, registry prometheus.Gatherer) (*Telemetry, *log) {
	t.Helper()
	if registry == nil {
		registry = prometheus.NewRegistry()
	}
	l := &log{}
	tel, err := New(t.Context(), Options{Config: c, Version: "v1.2.3", Instance: "host/1", Registry: registry, Log: slog.New(slog.NewTextHandler(l, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if err := tel.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tel.Shutdown(context.Background()) })
	return tel, l
}

func TestTraces(t *testing.T) {
	t.Parallel()
	c := collector.Start(t)
	cfg := settings(c.URL)
	cfg.Headers = map[string]source.Secret{"Authorization": "Bearer s3cr3t"}
	tel, l := open(t, cfg, nil)
	ctx, span := tel.Tracer().Start(t.Context(), "outer")
	tel.Log(slog.New(slog.NewTextHandler(l, nil))).With("a", 1).WithGroup("b").InfoContext(ctx, "inside")
	tel.Log(slog.New(slog.NewTextHandler(l, nil))).InfoContext(t.Context(), "outside")
	span.End()
	tel.Shutdown(t.Context())
	all := c.Spans()
	if len(all) != 1 || all[0].Name != "outer" {
		t.Fatalf("spans are %+v, want one", all)
	}
	want := map[string]string{"service.name": "portal-backend", "service.version": "v1.2.3", "service.instance.id": "host/1"}
	if diff := cmp.Diff(want, all[0].Resource); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
	for _, r := range c.Requests() {
		if got := r.Header.Get("Authorization"); got != "Bearer s3cr3t" {
			t.Errorf("%s has Authorization %q", r.Path, got)
		}
	}
	if id := "traceId=" + all[0].TraceID; !strings.Contains(l.String(), "inside") || !strings.Contains(l.String(), id) || strings.Count(l.String(), "traceId") != 1 {
		t.Errorf("log is %q, want %s in the line of the span only", l, id)
	}
}

// TestOff checks that nothing is sent without an endpoint, whatever the environment is.
func TestOff(t *testing.T) {
	c := collector.Start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "a"}))
	tel, _ := open(t, settings(""), registry)
	if _, span := tel.Tracer().Start(t.Context(), "x"); span.IsRecording() {
		t.Error("a span is recorded")
	}
	if l := slog.New(slog.DiscardHandler); tel.Log(l) != l {
		t.Error("the log is wrapped")
	}
	if tel.Transport("a", http.DefaultTransport) != http.DefaultTransport {
		t.Error("the transport is wrapped")
	}
	tel.Shutdown(t.Context())
	if all := c.Requests(); len(all) > 0 {
		t.Errorf("%d exports without an endpoint", len(all))
	}
}

// TestSwitches checks that traces and metrics can be switched off separately.
func TestSwitches(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(*config.Telemetry)
		want   []string
	}{
		"Both":      {"Both are sent by default.", func(*config.Telemetry) {}, []string{"/v1/metrics", "/v1/traces"}},
		"NoTraces":  {"traces: false sends metrics only.", func(c *config.Telemetry) { c.Traces = false }, []string{"/v1/metrics"}},
		"NoMetrics": {"metrics: false sends traces only.", func(c *config.Telemetry) { c.Metrics = false }, []string{"/v1/traces"}},
		"Sampled":   {"With a ratio of 0 no trace begins here.", func(c *config.Telemetry) { c.SampleRatio = 0 }, []string{"/v1/metrics"}},
		"Below":     {"An endpoint may have a path.", func(c *config.Telemetry) { c.Endpoint += "/otlp" }, []string{"/otlp/v1/metrics", "/otlp/v1/traces"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := collector.Start(t)
			c.Refuse(http.StatusBadRequest)
			cfg := settings(c.URL)
			tc.change(&cfg)
			registry := prometheus.NewRegistry()
			registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "a"}))
			tel, _ := open(t, cfg, registry)
			_, span := tel.Tracer().Start(t.Context(), "x")
			span.End()
			tel.Shutdown(t.Context())
			var got []string
			for _, r := range c.Requests() {
				got = append(got, r.Path)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEnvironment checks that variables of the SDK do not override the configuration.
func TestEnvironment(t *testing.T) {
	c, other := collector.Start(t), collector.Start(t)
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": other.URL, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": other.URL + "/v1/traces",
		"OTEL_EXPORTER_OTLP_HEADERS": "x-other=1", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
		"OTEL_SERVICE_NAME": "other", "OTEL_TRACES_SAMPLER": "always_off", "OTEL_METRIC_EXPORT_INTERVAL": "10",
		"OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=test,service.version=other",
	} {
		t.Setenv(name, value)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "a"}))
	tel, _ := open(t, settings(c.URL), registry)
	_, span := tel.Tracer().Start(t.Context(), "x")
	span.End()
	tel.Shutdown(t.Context())
	if len(c.Spans()) != 1 || len(c.Metrics()) != 1 || len(other.Requests()) != 0 {
		t.Fatalf("collector has %d spans and %d metrics, the other one %d exports", len(c.Spans()), len(c.Metrics()), len(other.Requests()))
	}
	want := map[string]string{"service.name": "portal-backend", "service.version": "v1.2.3", "service.instance.id": "host/1", "deployment.environment": "test"}
	if diff := cmp.Diff(want, c.Spans()[0].Resource); diff != "" {
		t.Errorf("resource of traces (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, c.Metrics()[0].Resource); diff != "" {
		t.Errorf("resource of metrics (-want +got):\n%s", diff)
	}
	for _, r := range c.Requests() {
		if r.Header.Get("X-Other") != "" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("headers of %s are %v", r.Path, r.Header)
		}
	}
}

// TestParent checks that the caller of a request decides whether it is recorded.
func TestParent(t *testing.T) {
	t.Parallel()
	c := collector.Start(t)
	cfg := settings(c.URL)
	cfg.SampleRatio = 0
	tel, _ := open(t, cfg, nil)
	for _, flags := range []string{"00", "01"} {
		carrier := propagation.MapCarrier{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-" + flags}
		_, span := tel.Tracer().Start(propagation.TraceContext{}.Extract(t.Context(), carrier), flags)
		span.End()
	}
	tel.Shutdown(t.Context())
	all := c.Spans()
	if len(all) != 1 || all[0].Name != "01" || all[0].TraceID != "0af7651916cd43dd8448eb211c80319c" || all[0].Parent != "b7ad6b7169203331" {
		t.Errorf("spans are %+v, want the one whose parent is sampled", all)
	}
}

// broken is a collector of metrics that fails.
type broken struct{ desc *prometheus.Desc }

func (b broken) Describe(to chan<- *prometheus.Desc) { to <- b.desc }

func (b broken) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.NewInvalidMetric(b.desc, errors.New("no database"))
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	c := collector.Start(t)
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "things_total"}, []string{"kind"})
	counter.WithLabelValues("x").Inc()
	registry.MustRegister(counter, prometheus.NewHistogram(prometheus.HistogramOpts{Name: "things_seconds"}),
		broken{prometheus.NewDesc("broken", "Fails.", nil, nil)})
	cfg := settings(c.URL)
	cfg.Interval = 20 * time.Millisecond
	tel, l := open(t, cfg, registry)
	for deadline := time.Now().Add(10 * time.Second); len(c.Metrics()) < 6; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("metrics are %+v, want those of three exports", c.Metrics())
		}
	}
	tel.Shutdown(t.Context())
	names := map[string]bool{}
	for _, m := range c.Metrics() {
		names[m.Name] = true
	}
	if diff := cmp.Diff(map[string]bool{"things_total": true, "things_seconds": true}, names); diff != "" {
		t.Errorf("metrics have other names than the registry's (-want +got):\n%s", diff)
	}
	if n := strings.Count(l.String(), "no database"); n != 1 {
		t.Errorf("the failure of one metric was logged %d times, want once:\n%s", n, l)
	}
}

// TestLoggedOnce checks that a failing collector is logged once, and that it works again.
func TestLoggedOnce(t *testing.T) {
	t.Parallel()
	c := collector.Start(t)
	c.Refuse(http.StatusUnauthorized)
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "a"}))
	cfg := settings(c.URL)
	cfg.Interval = 10 * time.Millisecond
	cfg.Headers = map[string]source.Secret{"Authorization": "Bearer s3cr3t"}
	_, l := open(t, cfg, registry)
	until(t, func() bool { return len(c.Requests()) > 5 })
	c.Accept()
	until(t, func() bool { return strings.Contains(l.String(), "telemetry export recovered") })
	if n := strings.Count(l.String(), "telemetry export failed"); n != 1 {
		t.Errorf("failure was logged %d times, want once:\n%s", n, l)
	}
	if strings.Contains(l.String(), "s3cr3t") || !strings.Contains(l.String(), "401") {
		t.Errorf("log has a secret, or not the reason:\n%s", l)
	}
}

func until(t *testing.T, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not reached in time")
		}
	}
}

// TestShutdownBounded checks that a collector that does not respond does not keep the
// process from ending, nor spans in memory.
func TestShutdownBounded(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		set    func(*collector.Collector)
	}{
		"Hangs":       {"The collector accepts connections and never responds.", (*collector.Collector).Hang},
		"Unavailable": {"The collector asks to try again later.", func(c *collector.Collector) { c.Refuse(http.StatusServiceUnavailable) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := collector.Start(t)
			tc.set(c)
			registry := prometheus.NewRegistry()
			registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "a"}))
			tel, l := open(t, settings(c.URL), registry)
			began := time.Now()
			for range 10_000 {
				_, span := tel.Tracer().Start(t.Context(), "x")
				span.End()
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%s\n10,000 spans took %v", tc.reason, took)
			}
			began = time.Now()
			tel.Shutdown(context.Background())
			if took := time.Since(began); took > flushTimeout+2*time.Second {
				t.Errorf("%s\nshutdown took %v, want about %v", tc.reason, took, flushTimeout)
			}
			if !strings.Contains(l.String(), "telemetry discarded") {
				t.Errorf("%s\nlog does not say that telemetry was discarded:\n%s", tc.reason, l)
			}
		})
	}
}
