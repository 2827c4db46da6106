package httpd

import (
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"example.dev/ingestor/internal/rest"
)

// trace starts the span of a request, whose endpoint is known, and returns the request
// with it. Probes, monitoring and pages are not traced. The query is left out: it may
// contain secrets, such as the code of a sign-in.
func (s *Server) trace(res *response, r *http.Request) *http.Request {
	e := res.endpoint
	if s.opts.Tracer == nil || e.quiet || e.page != nil {
		return r
	}
	method := methodLabel(r.Method)
	if method == otherMethod {
		method = "_OTHER"
	}
	name := method
	attrs := []attribute.KeyValue{
		attribute.String("http.request.method", method),
		// A path may have any bytes, and a span only valid text.
		attribute.String("url.path", strings.ToValidUTF8(shorten(res.Original.URL.Path), "\uFFFD")),
	}
	if e.Path != noRoute {
		route := rest.APIPrefix + e.plugin + e.Path
		name += " " + route
		attrs = append(attrs, attribute.String("http.route", route))
	}
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, res.span = s.opts.Tracer.Start(ctx, name,
		trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(res.start), trace.WithAttributes(attrs...))
	// The log line of the request has the trace too.
	res.Original = res.Original.WithContext(ctx)
	return r.WithContext(ctx)
}

// endSpan ends the span of a request, if there is one. A client that did not wait for
// the response is no error of the server.
func (w *response) endSpan(took time.Duration, aborted bool) {
	if w.span == nil {
		return
	}
	w.span.SetAttributes(attribute.Int("http.response.status_code", w.status))
	gone := w.lost != nil || w.status == clientGone
	if w.status >= http.StatusInternalServerError || aborted && !gone {
		w.span.SetStatus(codes.Error, "")
	}
	w.span.End(trace.WithTimestamp(w.start.Add(took)))
}
