// Package telemetry sends traces and metrics to an OpenTelemetry collector, in OTLP over
// HTTP. It is the only package that imports the SDK: the others get a trace.Tracer, and
// register their metrics with Prometheus. There is no global state.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	tracesdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"example.dev/ingestor/internal/config"
)

// Options configure New. All are required.
type Options struct {
	Config config.Telemetry
	// Version is the version of the program, and Instance distinguishes its replicas:
	// without it, a collector could not tell their metrics apart.
	Version, Instance string
	// Registry has the metrics to send.
	Registry prometheus.Gatherer
	// Log receives failures of exports, once until they succeed again.
	Log *slog.Logger
}

const (
	// scope is the name of the code that makes the spans.
	scope = "example.dev/ingestor"
	// exportTimeout is that of one request to the collector.
	exportTimeout = 10 * time.Second
	// flushTimeout is how long Shutdown waits for the last exports.
	flushTimeout = 3 * time.Second
)

// Telemetry sends traces and metrics. If it is off, its methods do nothing. All methods
// may be called concurrently.
type Telemetry struct {
	opts   Options
	log    *slog.Logger
	tracer trace.Tracer
	// traces and spans are nil if no traces are sent. Stopping spans ends a request that
	// hangs.
	traces *tracesdk.TracerProvider
	spans  tracesdk.SpanExporter

	mu sync.Mutex
	// metrics is nil until Run.
	metrics *metric.MeterProvider
	stopped bool
}

// New returns telemetry as it is configured; without an endpoint it is off. The caller
// must call Shutdown. Nothing is sent before there is a span, or Run is called.
func New(ctx context.Context, opts Options) (*Telemetry, error) {
	t := &Telemetry{opts: opts, log: opts.Log, tracer: noop.NewTracerProvider().Tracer(scope)}
	if !opts.Config.HasTraces() {
		return t, nil
	}
	// Every setting is given, so that environment variables of the SDK cannot override it.
	spans, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(opts.Config.Endpoint+"/v1/traces"),
		otlptracehttp.WithHeaders(t.headers()),
		otlptracehttp.WithHTTPClient(newClient()),
		otlptracehttp.WithTLSClientConfig(nil),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
		otlptracehttp.WithEncoding(otlptracehttp.EncodingProtobuf),
	)
	if err != nil {
		return nil, fmt.Errorf("cannot send traces to the collector: %w", err)
	}
	t.spans = spans
	t.traces = tracesdk.NewTracerProvider(
		tracesdk.WithResource(t.resource()),
		tracesdk.WithSampler(tracesdk.ParentBased(tracesdk.TraceIDRatioBased(opts.Config.SampleRatio))),
		tracesdk.WithBatcher(&spanExporter{SpanExporter: spans, state: t.state("traces")}),
	)
	t.tracer = t.traces.Tracer(scope, trace.WithInstrumentationVersion(opts.Version))
	return t, nil
}

// newClient returns the client for the collector. It follows no redirects, so that
// headers are sent to no other address.
func newClient() *http.Client {
	return &http.Client{Timeout: exportTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (t *Telemetry) headers() map[string]string {
	all := map[string]string{}
	for name, value := range t.opts.Config.Headers {
		all[name] = value.Reveal()
	}
	return all
}

// resource describes this process. The SDK adds OTEL_RESOURCE_ATTRIBUTES, which do not
// override these.
func (t *Telemetry) resource() *resource.Resource {
	return resource.NewSchemaless(
		attribute.String("service.name", t.opts.Config.ServiceName),
		attribute.String("service.version", t.opts.Version),
		attribute.String("service.instance.id", t.opts.Instance),
	)
}

// Tracer returns the tracer for the spans of this process. If no traces are sent, it
// does nothing.
func (t *Telemetry) Tracer() trace.Tracer { return t.tracer }

// On reports whether traces are sent.
func (t *Telemetry) On() bool { return t.traces != nil }

// Run begins to send metrics. It may be called once.
func (t *Telemetry) Run(ctx context.Context) error {
	if !t.opts.Config.HasMetrics() {
		return nil
	}
	exporter, err := otlpmetrichttp.New(ctx,
		otlpmetrichttp.WithEndpointURL(t.opts.Config.Endpoint+"/v1/metrics"),
		otlpmetrichttp.WithHeaders(t.headers()),
		otlpmetrichttp.WithHTTPClient(newClient()),
		otlpmetrichttp.WithTLSClientConfig(nil),
		otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression),
	)
	if err != nil {
		return fmt.Errorf("cannot send metrics to the collector: %w", err)
	}
	state := t.state("metrics")
	producer := bridge.NewMetricProducer(bridge.WithGatherer(gatherer{t.opts.Registry, t.state("collection of metrics")}))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return nil
	}
	t.metrics = metric.NewMeterProvider(
		metric.WithResource(t.resource()),
		metric.WithReader(metric.NewPeriodicReader(&metricExporter{exporter, state},
			metric.WithInterval(t.opts.Config.Interval), metric.WithProducer(producer))),
	)
	return nil
}

// Shutdown sends what is left and ends. A collector that does not respond delays it by
// three seconds at most, and loses the rest.
func (t *Telemetry) Shutdown(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, flushTimeout, errors.New("collector did not respond in time"))
	defer cancel()
	t.mu.Lock()
	t.stopped = true
	metrics := t.metrics
	t.mu.Unlock()
	var all sync.WaitGroup
	if t.traces != nil {
		// The exporters log why an export failed.
		all.Go(func() { _ = t.traces.Shutdown(ctx) })
	}
	if metrics != nil {
		all.Go(func() { _ = metrics.Shutdown(ctx) })
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	// Collecting metrics may wait for a database, whatever the context is.
	select {
	case <-ended:
	case <-ctx.Done():
	}
	if ctx.Err() == nil {
		return
	}
	t.log.Warn("telemetry discarded", "error", context.Cause(ctx))
	if t.spans != nil {
		_ = t.spans.Shutdown(ctx) // It only interrupts a request.
	}
}
