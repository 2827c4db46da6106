package scaffolder_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

const api = "/api/scaffolder/v2"

// client calls a portal.
type client struct {
	t           *testing.T
	base, token string
	http        *http.Client
}

// in returns the client for a subtest.
func (c client) in(t *testing.T) client {
	c.t = t
	return c
}

// open sends a request. The caller closes the response body.
func (c client) open(method, path, kind string, body []byte) *http.Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", kind)
	resp, err := c.http.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp
}

// send sends JSON and returns the status and body of the response.
func (c client) send(method, path string, body []byte) (int, []byte) {
	c.t.Helper()
	resp := c.open(method, path, "application/json", body)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, data
}

// want sends JSON, checks the status and returns the decoded response.
func (c client) want(status int, method, path string, body []byte) *tree.Node {
	c.t.Helper()
	got, data := c.send(method, path, body)
	if got != status {
		c.t.Fatalf("%s %s: got %d, want %d: %s", method, path, got, status, data)
	}
	n, err := wire.Decoder{}.Decode(data)
	if err != nil {
		c.t.Fatalf("%s %s: cannot decode: %v in %s", method, path, err, data)
	}
	return n
}

// push pushes Templates in YAML to the catalog.
func (c client) push(provider string, templates ...string) {
	c.t.Helper()
	var lines []byte
	for _, text := range templates {
		lines = append(tree.AppendJSON(lines, parse(c.t, text), ""), '\n')
	}
	resp := c.open(http.MethodPut, "/api/catalog/providers/"+provider+"/entities?allowEmpty=true", "application/x-ndjson", lines)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !bytes.Contains(data, []byte(`"refused":[]`)) {
		c.t.Fatalf("cannot push Templates: %v, %s: %s", err, resp.Status, data)
	}
}

// form waits until a Template exists and returns its form, filled from a
// resource if the query names one.
func (c client) form(template, query string) *tree.Node {
	c.t.Helper()
	path := api + "/templates/default/template/" + template + "/parameter-schema"
	until(c.t, "there is the Template "+template, func() bool {
		status, _ := c.send(http.MethodGet, path, nil)
		return status == http.StatusOK
	})
	return c.want(http.StatusOK, http.MethodGet, path+query, nil)
}

// order returns the body of a request that creates a task.
func order(t *testing.T, template string, values *tree.Node, secrets map[string]string) []byte {
	t.Helper()
	data, err := json.Marshal(map[string]any{
		"templateRef": "template:default/" + template, "values": json.RawMessage(tree.AppendJSON(nil, values, "")), "secrets": secrets,
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// create creates a task and returns its id.
func (c client) create(template string, values *tree.Node, secrets map[string]string) string {
	c.t.Helper()
	return c.want(http.StatusCreated, http.MethodPost, api+"/tasks", order(c.t, template, values, secrets)).Get("id").Str()
}

// event is an event of a stream.
type event struct {
	Type string
	ID   int64
	Body struct {
		Message, StepID, Status string
		Output                  json.RawMessage
		Error                   struct{ Name, Message string }
	}
}

// history has the events of a task.
type history struct {
	id     string
	status string
	events []event
	raw    string
}

// log returns all events as text.
func (h *history) log() string {
	var b strings.Builder
	for i := range h.events {
		e := &h.events[i]
		fmt.Fprintf(&b, "%s %s %s: %s %s\n", e.Type, e.Body.StepID, e.Body.Status, e.Body.Message, e.Body.Error.Message)
	}
	return b.String()
}

// stream opens the event stream of a task after a given event.
func (c client) stream(id string, after int64) *http.Response {
	c.t.Helper()
	resp := c.open(http.MethodGet, fmt.Sprintf("%s/tasks/%s/eventstream?after=%d", api, id, after), "", nil)
	if resp.StatusCode != http.StatusOK {
		c.t.Fatalf("cannot follow task %s: %s", id, resp.Status)
	}
	return resp
}

// read reads a stream event by event, until each returns true or the stream
// ends.
func (c client) read(from io.Reader, each func(e event, raw string) (enough bool)) {
	c.t.Helper()
	lines := bufio.NewReaderSize(from, 64<<10)
	kind := ""
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF && line == "" {
			return
		}
		if err != nil {
			c.t.Fatalf("stream ended with an error: %v", err)
		}
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			kind = name
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(data), &e); err != nil || e.Type != kind {
			c.t.Fatalf("cannot decode the event %s %s: %v", kind, data, err)
		}
		if each(e, data) {
			return
		}
	}
}

// follow reads the events of a task until its end, and checks that their ids
// are consecutive.
func (c client) follow(id string) *history {
	c.t.Helper()
	resp := c.stream(id, 0)
	defer resp.Body.Close()
	h := &history{id: id}
	var raw strings.Builder
	c.read(resp.Body, func(e event, data string) bool {
		h.events = append(h.events, e)
		raw.WriteString(data + "\n")
		if e.ID != int64(len(h.events)) {
			c.t.Errorf("event %d of task %s has the id %d", len(h.events), id, e.ID)
		}
		return e.Type == taskstore.EventCompletion
	})
	h.raw = raw.String()
	h.status = c.task(id).Get("status").Str()
	return h
}

// task returns a task.
func (c client) task(id string) *tree.Node {
	c.t.Helper()
	return c.want(http.StatusOK, http.MethodGet, api+"/tasks/"+id, nil)
}

// run runs a Template until its task ends.
func (c client) run(template string, values *tree.Node) *history {
	c.t.Helper()
	return c.follow(c.create(template, values, nil))
}

// completes runs a Template and checks that its task completes.
func (c client) completes(template string, values *tree.Node) *history {
	c.t.Helper()
	h := c.run(template, values)
	if h.status != taskstore.TaskCompleted {
		c.t.Fatalf("task of %s with %s is %s, want completed:\n%s", template, tree.AppendJSON(nil, values, ""), h.status, h.log())
	}
	return h
}

// fails runs a Template and checks that its task fails with the given texts in
// its error.
func (c client) fails(template string, values *tree.Node, why ...string) *history {
	c.t.Helper()
	h := c.run(template, values)
	if h.status != taskstore.TaskFailed {
		c.t.Fatalf("task of %s is %s, want failed:\n%s", template, h.status, h.log())
	}
	last := h.events[len(h.events)-1]
	for _, s := range why {
		if !strings.Contains(last.Body.Error.Message+last.Body.Message, s) {
			c.t.Errorf("error does not contain %q:\n%s", s, h.log())
		}
	}
	return h
}

// parse parses YAML.
func parse(t *testing.T, text string) *tree.Node {
	t.Helper()
	docs, errs := parser.DecodeBytes([]byte(text))
	if len(errs) > 0 || len(docs) != 1 {
		t.Fatalf("cannot parse: %d documents, errors %v in\n%s", len(docs), errs, text)
	}
	return docs[0]
}

// override returns values overridden by others.
func override(t *testing.T, values *tree.Node, text string) *tree.Node {
	t.Helper()
	out := tree.Obj(append([]tree.Field(nil), values.Fields...)...)
	for _, f := range parse(t, text).Fields {
		out.Set(f.Key, f.Value)
	}
	return out
}

// find returns an object of the cluster, nil if there is none.
func (w *world) find(t *testing.T, path string) *tree.Node {
	t.Helper()
	status, n := w.ask(t, http.MethodGet, path, "", "")
	if status == http.StatusNotFound {
		return nil
	}
	if status != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, status, tree.AppendJSON(nil, n, ""))
	}
	return n
}

// ask sends a request to the API server as its administrator.
func (w *world) ask(t *testing.T, method, path, kind, body string) (int, *tree.Node) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, w.cluster.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	resp, err := w.cluster.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	n, err := wire.Decoder{}.Decode(data)
	if err != nil {
		t.Fatalf("%s %s: cannot decode: %v in %s", method, path, err, data)
	}
	return resp.StatusCode, n
}

// made counts the generated names, so that a test can run repeatedly.
var made atomic.Int64

// unique returns a name that no other test uses.
func unique(name string) string { return name + "-" + strconv.FormatInt(made.Add(1), 10) }

// namespace creates a namespace in the cluster.
func (w *world) namespace(t *testing.T, name string) string {
	t.Helper()
	name = unique(name)
	if status, n := w.ask(t, http.MethodPost, "/api/v1/namespaces", "application/json", `{"metadata":{"name":"`+name+`"}}`); status != http.StatusCreated {
		t.Fatalf("cannot create the namespace %s: %d %s", name, status, tree.AppendJSON(nil, n, ""))
	}
	return name
}

// escape escapes a text for a query.
func escape(s string) string { return url.QueryEscape(s) }
