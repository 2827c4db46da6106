package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"
)

// ReadJSON reads the body into v. An error of the client is a *Fault that says where.
func ReadJSON(r *http.Request, v any) error {
	data, err := ReadBody(r)
	if err != nil {
		return err
	}
	return DecodeJSON(data, v)
}

// DecodeJSON is ReadJSON for a body that has been read.
func DecodeJSON(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if err == nil {
		return nil
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return Input("request/body is empty; it must be JSON")
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return badSyntax(data, wrong)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at := "request/body"
		if wrong.Field != "" {
			at += "/" + strings.ReplaceAll(wrong.Field, ".", "/")
		}
		return Input("%s must be %s, and not %s", at, typeName(wrong.Type), wrong.Value)
	}
	return Input("cannot decode request/body: %s", err)
}

func badSyntax(data []byte, wrong *json.SyntaxError) error {
	// The offset is after the invalid byte, or at the end of the data.
	at := max(int(wrong.Offset)-1, 0)
	what := wrong.Error()
	if strings.HasPrefix(what, "unexpected end") {
		at, what = len(data), "unexpected end"
	}
	before := data[:min(at, len(data))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - (bytes.LastIndexByte(before, '\n') + 1) + 1
	return Input("%s%s in JSON at position %d (line %d column %d)", strings.ToUpper(what[:1]), what[1:], at, line, column)
}

// typeName returns the JSON name of a Go type.
func typeName(t reflect.Type) string {
	if t == nil {
		return "of another type"
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Float32, reflect.Float64:
		return "number"
	}
	return "integer"
}

// ReadBody reads the whole body. An error of the client is a *Fault.
func ReadBody(r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, BodyFault(err)
	}
	return data, nil
}

// BodyFault converts an error of reading a body into the one for the client, for
// handlers that read the body piece by piece.
func BodyFault(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		f := fault(http.StatusRequestTimeout, "RequestTimeoutError", "The body did not arrive in time", nil)
		f.Err = err
		return f
	}
	f := Input("The body is incomplete or does not match its headers")
	f.Err = fmt.Errorf("cannot read the body: %w", err)
	return f
}

// bound limits the size of a body, and the time to read it. A body whose Content-Length
// is too large is refused unread.
func (e *endpoint) bound(res *response, r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	if r.ContentLength > e.MaxBody {
		return &http.MaxBytesError{Limit: e.MaxBody}
	}
	most := bodyTimeout
	if e.Timeout > 0 {
		most = min(most, e.Timeout)
	}
	in := &body{ReadCloser: http.MaxBytesReader(res.ResponseWriter, r.Body, e.MaxBody), res: res, most: most, left: most}
	// Without a deadline a client that stops in the middle holds the connection even if
	// the handler does not read, because the rest is drained.
	in.until(e.server.opts.Now().Add(in.left))
	r.Body = in
	return nil
}

const (
	// bodyTimeout is how long a client may take to send a part of a body.
	bodyTimeout = 30 * time.Second
	// slowestBody is the minimum average rate of a body, in bytes per second: a byte now
	// and then is not progress.
	slowestBody = 16 << 10
)

// body waits for the client as long as there is progress, however large the body is. It
// clears the deadline once the body has been read, so that it does not affect what the
// handler does next.
type body struct {
	io.ReadCloser
	res *response
	// left is how long to wait for the client from now on, at most most.
	left, most time.Duration
	done       bool
}

func (b *body) until(t time.Time) {
	_ = http.NewResponseController(b.res.ResponseWriter).SetReadDeadline(t)
}

func (b *body) Read(p []byte) (int, error) {
	if b.done {
		return b.ReadCloser.Read(p)
	}
	now := b.res.server.opts.Now
	begun := now()
	b.until(begun.Add(b.left))
	n, err := b.ReadCloser.Read(p)
	earned := time.Duration(n) * time.Second / slowestBody
	b.left = min(b.left-now().Sub(begun)+earned, b.most)
	if errors.Is(err, io.EOF) {
		b.done = true
		b.until(time.Time{})
	}
	return n, err
}
