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
