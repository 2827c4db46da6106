// Package collector is an OpenTelemetry collector for tests. It receives OTLP over HTTP
// (protobuf), remembers everything, and can fail on demand.
package collector

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector is a running collector. All methods may be called concurrently.
type Collector struct {
	// URL is its base URL.
	URL string
	t   testing.TB
	// ended is closed when the test ends.
	ended chan struct{}

	mu       sync.Mutex
	answer   int
	requests []Request
	spans    []Span
	metrics  []Metric
}

// Request is an export, which the collector may have refused.
type Request struct {
	Path   string
	Header http.Header
	// Body is the decompressed body.
	Body []byte
}

// Span is a span that was received.
type Span struct {
	Name, Kind           string
	TraceID, ID, Parent  string
	Attributes, Resource map[string]string
	Failed               bool
	Description          string
	Start, End           time.Time
}

// Metric is a metric that was received.
type Metric struct {
	Name     string
	Resource map[string]string
}

// Answers of the collector, besides a status.
const (
	accept = 0
	hang   = -1
)

// Start starts a collector, which ends with the test.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{t: t, ended: make(chan struct{})}
	server := httptest.NewServer(c)
	c.URL = server.URL
	t.Cleanup(func() {
		close(c.ended)
		server.Close()
	})
	return c
}

// Refuse makes the collector answer with a status from now on.
func (c *Collector) Refuse(status int) { c.set(status) }

// Hang makes the collector answer nothing from now on.
func (c *Collector) Hang() { c.set(hang) }

// Accept makes the collector accept exports again.
func (c *Collector) Accept() { c.set(accept) }

func (c *Collector) set(answer int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = answer
}

// ServeHTTP receives an export.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := read(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	c.requests = append(c.requests, Request{Path: r.URL.Path, Header: r.Header.Clone(), Body: body})
	answer := c.answer
	c.mu.Unlock()
	switch {
	case answer == hang:
		select {
		case <-r.Context().Done():
		case <-c.ended:
		}
		return
	case answer != accept:
		w.WriteHeader(answer)
		return
	}
	if err := c.take(r, body); err != nil {
		c.t.Errorf("collector received an invalid export to %s: %v", r.URL.Path, err)
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func read(r *http.Request) ([]byte, error) {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(r.Body)
	}
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// take decodes an export and remembers it.
func (c *Collector) take(r *http.Request, body []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.URL.Path == "/v1/metrics" {
		var in metrics.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &in); err != nil {
			return err
		}
		for _, rm := range in.GetResourceMetrics() {
			of := values(rm.GetResource().GetAttributes())
			for _, s := range rm.GetScopeMetrics() {
				for _, m := range s.GetMetrics() {
					c.metrics = append(c.metrics, Metric{Name: m.GetName(), Resource: of})
				}
			}
		}
		return nil
	}
	var in traces.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &in); err != nil {
		return err
	}
	for _, rs := range in.GetResourceSpans() {
		of := values(rs.GetResource().GetAttributes())
		for _, s := range rs.GetScopeSpans() {
			for _, span := range s.GetSpans() {
				c.spans = append(c.spans, spanOf(span, of))
			}
		}
	}
	return nil
}

func spanOf(s *tracev1.Span, of map[string]string) Span {
	at := func(nanos uint64) time.Time { return time.Unix(0, int64(nanos)) }
	return Span{
		Name: s.GetName(), Kind: strings.ToLower(strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_")),
		TraceID: hex.EncodeToString(s.GetTraceId()), ID: hex.EncodeToString(s.GetSpanId()), Parent: hex.EncodeToString(s.GetParentSpanId()),
		Attributes: values(s.GetAttributes()), Resource: of,
		Failed: s.GetStatus().GetCode() == tracev1.Status_STATUS_CODE_ERROR, Description: s.GetStatus().GetMessage(),
		Start: at(s.GetStartTimeUnixNano()), End: at(s.GetEndTimeUnixNano()),
	}
}

// values returns attributes as text.
func values(attributes []*common.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range attributes {
		switch v := a.GetValue().GetValue().(type) {
		case *common.AnyValue_IntValue:
			all[a.GetKey()] = strconv.FormatInt(v.IntValue, 10)
		case *common.AnyValue_BoolValue:
			all[a.GetKey()] = strconv.FormatBool(v.BoolValue)
		default:
			all[a.GetKey()] = a.GetValue().GetStringValue()
		}
	}
	return all
}

// Spans returns the spans that were accepted so far.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Metrics returns the metrics that were accepted so far, one for each export.
func (c *Collector) Metrics() []Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.metrics)
}

// Requests returns the exports so far, also those that were refused.
func (c *Collector) Requests() []Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests)
}

// patience is how long Wait waits.
const patience = 30 * time.Second

// Wait waits for a span that fits, and returns it.
func (c *Collector) Wait(what string, fits func(Span) bool) Span {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		all := c.Spans()
		if i := slices.IndexFunc(all, fits); i >= 0 {
			return all[i]
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("collector has no span of %s after %v; spans are %+v", what, patience, all)
		}
	}
}
