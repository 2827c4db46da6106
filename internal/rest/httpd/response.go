package httpd

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/trace"

	"example.dev/ingestor/internal/rest"
)

// response is the http.ResponseWriter of a request, with the state of the request.
type response struct {
	http.ResponseWriter
	server *Server
	start  time.Time
	rest.Request
	// endpoint is nil until the mux has found one.
	endpoint *endpoint
	// caller is the context with the caller, nil if there was no authentication.
	caller context.Context
	status int
	bytes  int64
	// extended is when the write deadline was last extended.
	extended time.Time
	// said is the status of the mux itself, for a path or method it does not know. The
	// mux's response is not sent; the client gets a Fault instead.
	said int
	// span is that of the request, nil if it is not traced.
	span trace.Span
	// lost is why a write to the client failed.
	lost error
}

// A client must accept a piece of a response within the write timeout: one that reads
// nothing does not hold its connection forever, and a slow one gets everything.
const (
	pieceSize    = 64 << 10
	writeTimeout = 30 * time.Second
)

// WriteHeader begins the response.
func (w *response) WriteHeader(status int) {
	if w.endpoint == nil && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed) {
		w.said = status
		return
	}
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
		w.part()
	}
	w.ResponseWriter.WriteHeader(status)
}

// part closes the connection after this response once the server is stopping, so that
// the client sends no further request on it.
func (w *response) part() {
	if w.server.draining.Load() {
		w.Header()["Connection"] = []string{"close"}
	}
}

// Write writes a part of the body.
func (w *response) Write(p []byte) (int, error) {
	if w.said != 0 {
		return len(p), nil
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	written := 0
	for {
		w.extend()
		n, err := w.ResponseWriter.Write(p[written:min(written+pieceSize, len(p))])
		written += n
		w.bytes += int64(n)
		if err != nil {
			w.lost = err
		}
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// Flush sends what is buffered.
func (w *response) Flush() { _ = w.FlushError() }

// FlushError is Flush with an error.
func (w *response) FlushError() error {
	w.extend()
	err := http.NewResponseController(w.ResponseWriter).Flush()
	if err != nil {
		w.lost = err
	}
	return err
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// extend extends the write deadline. Most of the time, the last extension is recent
// enough.
func (w *response) extend() {
	now := w.server.opts.Now()
	if now.Sub(w.extended) < w.server.writeTimeout/8 {
		return
	}
	w.extended = now
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(now.Add(w.server.writeTimeout))
}
