// Package portal_test checks a complete portal backend against its contract:
// the recorded responses of Backstage, the official client, the document
// api/openapi.yaml, and error cases of all kinds.
package portal_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// contract is api/openapi.yaml.
type contract struct {
	doc *openapi3.T
	// mux finds operations: paths in the document have the syntax of ServeMux.
	mux *http.ServeMux
}

// theContract reads the document once for all tests.
var theContract = sync.OnceValues(func() (*contract, error) {
	doc, err := openapi3.NewLoader().LoadFromFile(filepath.Join("..", "..", "api", "openapi.yaml"))
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background(), openapi3.EnableExamplesValidation()); err != nil {
		return nil, err
	}
	c := &contract{doc: doc, mux: http.NewServeMux()}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			c.mux.Handle(method+" "+path, &found{route: &routers.Route{
				Spec: doc, Path: path, PathItem: item, Method: method, Operation: operation,
			}})
		}
	}
	// The validator treats bodies with several documents and event streams as
	// text.
	for _, kind := range []string{"application/yaml", "application/x-ndjson", "text/event-stream"} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.PlainBodyDecoder)
	}
	return c, nil
})

// found is an operation of the document.
type found struct {
	http.Handler
	route *routers.Route
}

// parameter matches the parameters of a path.
var parameter = regexp.MustCompile(`{(\w+)}`)

// find returns the operation of a request with its path parameters, nil if
// there is none.
func (c *contract) find(req *http.Request) (*routers.Route, map[string]string) {
	handler, _ := c.mux.Handler(req)
	f, ok := handler.(*found)
	if !ok {
		return nil, nil
	}
	params := map[string]string{}
	parts := strings.Split(req.URL.EscapedPath(), "/")
	for i, part := range strings.Split(f.route.Path, "/") {
		if name := parameter.FindStringSubmatch(part); name != nil {
			params[name[1]], _ = url.PathUnescape(parts[i])
		}
	}
	return f.route, params
}

func readContract(t *testing.T) *contract {
	t.Helper()
	c, err := theContract()
	if err != nil {
		t.Fatalf("cannot read the contract: %v", err)
	}
	return c
}

// exchange is a request with its response, with both bodies read.
type exchange struct {
	req       *http.Request
	sent, got []byte
	res       *http.Response
}

// beside are the statuses that any path may return, according to the
// introduction of the document.
var beside = map[int]bool{
	http.StatusMethodNotAllowed: true, http.StatusRequestTimeout: true,
	http.StatusRequestURITooLong: true, http.StatusRequestHeaderFieldsTooLarge: true,
	http.StatusMisdirectedRequest: true,
}

// check validates an exchange against the document: the response must be
// documented, and a request that violates the document must not have succeeded.
func (c *contract) check(x exchange) error {
	if err := c.checkResponse(x); err != nil {
		return err
	}
	route, params := c.find(x.req)
	if route == nil || beside[x.res.StatusCode] {
		return c.checkUndocumented(x)
	}
	in := &openapi3filter.RequestValidationInput{
		Request: x.request(), Route: route, PathParams: params,
		Options: &openapi3filter.Options{
			SkipSettingDefaults: true, IncludeResponseStatus: true, AuthenticationFunc: authenticated,
		},
	}
	if x.res.StatusCode < 400 {
		if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
			return fmt.Errorf("request violates the document and was accepted with %d: %w", x.res.StatusCode, err)
		}
	}
	in.Request = x.request()
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: x.res.StatusCode, Header: x.res.Header, Options: in.Options,
	}
	out.SetBodyBytes(x.got)
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		return fmt.Errorf("response is not documented: %w", err)
	}
	documented := route.Operation.Responses.Status(x.res.StatusCode)
	if documented != nil && len(documented.Value.Content) == 0 && len(x.got) > 0 && x.res.StatusCode != http.StatusFound {
		return fmt.Errorf("document has no body for %d, and the response has %q", x.res.StatusCode, brief(x.got))
	}
	return nil
}

// checkResponse checks what holds for every response.
func (c *contract) checkResponse(x exchange) error {
	if x.res.StatusCode == http.StatusInternalServerError {
		return fmt.Errorf("server error: %s", brief(x.got))
	}
	if x.res.Header.Get("X-Request-Id") == "" && !beside[x.res.StatusCode] {
		return errors.New("response has no request id")
	}
	if x.res.StatusCode >= 400 {
		for _, trace := range []string{"goroutine ", ".go:", "panic", "runtime error", "SQLITE_", "SQLSTATE"} {
			if bytes.Contains(x.got, []byte(trace)) {
				return fmt.Errorf("error exposes internals of the program: %s", brief(x.got))
			}
		}
	}
	return nil
}

// checkUndocumented checks the response to a request for an undocumented path.
func (c *contract) checkUndocumented(x exchange) error {
	if x.res.StatusCode == http.StatusNoContent && x.req.Method == http.MethodOptions {
		return nil
	}
	if x.res.StatusCode < 400 {
		return fmt.Errorf("path is not documented and returned %d", x.res.StatusCode)
	}
	if x.req.Method == http.MethodHead || !strings.HasPrefix(x.res.Header.Get("Content-Type"), "application/json") {
		return nil
	}
	body, err := openapi3filter.JSONBodyDecoder(bytes.NewReader(x.got), nil, nil, nil)
	if err != nil {
		return err
	}
	if err := c.doc.Components.Schemas["Error"].Value.VisitJSON(body, openapi3.EnableJSONSchema2020()); err != nil {
		return fmt.Errorf("error has another shape: %w", err)
	}
	return nil
}

// request returns the request with its body unread.
func (x exchange) request() *http.Request {
	r := x.req.Clone(context.Background())
	r.Body = io.NopCloser(bytes.NewReader(x.sent))
	r.ContentLength = int64(len(x.sent))
	return r
}

// authenticated checks that a request has a token where the document requires
// one.
func authenticated(_ context.Context, in *openapi3filter.AuthenticationInput) error {
	if in.SecurityScheme.Type == "http" && in.RequestValidationInput.Request.Header.Get("Authorization") == "" {
		return errors.New("token is missing")
	}
	return nil
}

// checked is a transport that checks all exchanges against the contract.
type checked struct {
	t        *testing.T
	contract *contract
	next     http.RoundTripper
	// passed counts the exchanges.
	mu     sync.Mutex
	passed int
}

// RoundTrip sends a request and checks the response.
func (c *checked) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent []byte
	if req.Body != nil {
		var err error
		if sent, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(sent))
	}
	res, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	got, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(got))
	plain := got
	if res.Header.Get("Content-Encoding") == "gzip" {
		if plain, err = gunzip(got); err != nil {
			return nil, err
		}
	}
	if err := c.contract.check(exchange{req: req, sent: sent, res: res, got: plain}); err != nil {
		c.t.Errorf("%s %s: %v", req.Method, brief([]byte(req.URL.RequestURI())), err)
	}
	c.mu.Lock()
	c.passed++
	c.mu.Unlock()
	return res, nil
}

func gunzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// brief returns the beginning of a text that may be long.
func brief(data []byte) string {
	if len(data) > 400 {
		return string(data[:400]) + "…"
	}
	return string(data)
}
