package telemetry

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"example.dev/ingestor/internal/text"
)

// Transport returns next with a client span for every request to a cluster. Spans have
// no header and no query, and no text of an error, which may quote the URL. If no traces
// are sent, it returns next.
func (t *Telemetry) Transport(cluster string, next http.RoundTripper) http.RoundTripper {
	if !t.On() {
		return next
	}
	return &transport{tracer: t.tracer, cluster: cluster, next: next}
}

type transport struct {
	tracer  trace.Tracer
	cluster string
	next    http.RoundTripper
}

// longestPath limits the length of a path in a span.
const longestPath = 200

// RoundTrip sends a request. Its span ends with the response's body; that of a watch,
// which may last for minutes, with the response's header.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, span := t.tracer.Start(r.Context(), r.Method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("http.request.method", r.Method),
		attribute.String("k8s.cluster.name", t.cluster),
		attribute.String("server.address", r.URL.Hostname()),
		// A path may have any bytes, and a span only valid text.
		attribute.String("url.path", strings.ToValidUTF8(text.Shorten(r.URL.Path, longestPath), "\uFFFD")),
	))
	resp, err := t.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		fail(span, kindOf(err))
		span.End()
		return resp, err
	}
	span.SetAttributes(attribute.Int("http.response.status_code", resp.StatusCode))
	if resp.StatusCode >= http.StatusBadRequest {
		fail(span, strconv.Itoa(resp.StatusCode))
	}
	if r.URL.Query().Has("watch") {
		span.End()
		return resp, nil
	}
	resp.Body = &body{ReadCloser: resp.Body, end: sync.OnceFunc(func() { span.End() }), span: span}
	return resp, nil
}

func fail(span trace.Span, kind string) {
	span.SetStatus(codes.Error, "")
	span.SetAttributes(attribute.String("error.type", kind))
}

// kindOf returns what kind of failure an error is.
func kindOf(err error) string {
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), ok && timeout.Timeout():
		return "timeout"
	}
	return "connection"
}

// body is the body of a response, with which a span ends.
type body struct {
	io.ReadCloser
	span trace.Span
	end  func()
}

// Read reads a part of the body.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			fail(b.span, kindOf(err))
		}
		b.end()
	}
	return n, err
}

// Close closes the body.
func (b *body) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
