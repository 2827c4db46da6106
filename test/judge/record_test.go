package judge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/document/tree"
)

var modules = flag.String("record", "", "the node_modules with the real scaffolder, whose answers are recorded")

// TestRecord runs the Templates with the real scaffolder and records the
// results.
func TestRecord(t *testing.T) {
	if *modules == "" {
		t.Skip("-record is not set, so the recorded results are kept")
	}
	r := scaffolder{t: t, url: run(t, append([]string{"scaffolder.mjs", *modules, user}, instead...))}
	for file, all := range templates(t) {
		out := map[string]*recorded{}
		for name, f := range all {
			out[name] = r.record(f)
		}
		write(t, file, out)
	}
	raw := r.call("GET", "/versions", nil, http.StatusOK)
	if err := os.WriteFile("testdata/versions.json", append(raw, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run starts the real scaffolder and returns its URL.
func run(t *testing.T, args []string) string {
	t.Helper()
	cmd := exec.Command("node", args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("real scaffolder does not start: %v", err)
	}
	return strings.TrimSpace(line)
}

// scaffolder is a client of the real scaffolder.
type scaffolder struct {
	t   *testing.T
	url string
}

// call sends a request and returns the response.
func (r scaffolder) call(method, path string, body any, status ...int) []byte {
	r.t.Helper()
	var send io.Reader
	if body != nil {
		send = bytes.NewReader(encode(r.t, body))
	}
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, send)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, s := range status {
		if s == res.StatusCode {
			return raw
		}
	}
	r.t.Fatalf("%s %s returned %d: %s", method, path, res.StatusCode, raw)
	return nil
}

// record returns the results for a Template.
func (r scaffolder) record(f *filled) *recorded {
	r.t.Helper()
	template := raw(f.template)
	out := &recorded{Cases: map[string]*answer{}}
	for name, v := range f.values {
		got := decode[struct {
			Log    []struct{ Body message }
			Output json.RawMessage
			Errors []map[string]json.RawMessage
			Error  *struct{ Message string }
		}](r.t, r.call("POST", "/v2/dry-run", map[string]any{"template": template, "values": raw(v), "directoryContents": []any{}},
			http.StatusOK, http.StatusBadRequest, http.StatusInternalServerError))
		a := &answer{Values: raw(v), Output: got.Output}
		if got.Error != nil {
			a.Error = got.Error.Message
		}
		for _, e := range got.Errors {
			// The schema is in the Template.
			delete(e, "schema")
			a.Errors = append(a.Errors, encode(r.t, e))
		}
		var said []message
		for _, l := range got.Log {
			said = append(said, l.Body)
		}
		if len(said) > 0 {
			a.Log, a.Inputs = reduce(r.t, plain(said))
		}
		if name == "all" {
			out.Steps = r.task(f, a)
		}
		out.Cases[name] = a
	}
	return out
}

// task runs a task, adds its result to the answer, and returns its steps.
func (r scaffolder) task(f *filled, a *answer) json.RawMessage {
	r.t.Helper()
	r.call("PUT", "/template", raw(f.template), http.StatusNoContent)
	made := decode[struct{ ID string }](r.t, r.call("POST", "/v2/tasks", map[string]any{
		"templateRef": "template:default/" + f.template.Get("metadata", "name").Str(), "values": a.Values,
	}, http.StatusCreated))
	var found struct {
		Status string
		Spec   json.RawMessage
	}
	for end := time.Now().Add(soonEnough); ; time.Sleep(20 * time.Millisecond) {
		found.Spec = nil
		if err := json.Unmarshal(r.call("GET", "/v2/tasks/"+made.ID, nil, http.StatusOK), &found); err != nil {
			r.t.Fatal(err)
		}
		if found.Status != "open" && found.Status != "processing" {
			break
		}
		if time.Now().After(end) {
			r.t.Fatalf("task is %s, want it ended", found.Status)
		}
	}
	a.Status, a.Spec = found.Status, short(node(r.t, found.Spec))
	var said []message
	for _, e := range decode[[]struct {
		Type string
		Body message
	}](r.t, r.call("GET", "/v2/tasks/"+made.ID+"/events", nil, http.StatusOK)) {
		e.Body.Type = e.Type
		if e.Type == "completion" && a.Output == nil {
			a.Output = e.Body.Output
		}
		said = append(said, e.Body)
	}
	inputs := a.Inputs
	a.Events, a.Inputs = reduce(r.t, plain(said))
	if inputs != nil && fmt.Sprintf("%s", inputs) != fmt.Sprintf("%s", a.Inputs) {
		r.t.Errorf("inputs of task and dry run differ: %s and %s", inputs, a.Inputs)
	}
	return raw(node(r.t, found.Spec).Get("steps"))
}

var colour = regexp.MustCompile("^\x1b\\[\\d+minfo\x1b\\[\\d+m: ")

// plain removes colours and stack traces from messages.
func plain(all []message) []message {
	for i, m := range all {
		m.Message = colour.ReplaceAllString(m.Message, "")
		if m.Status == "failed" {
			m.Message, _, _ = strings.Cut(m.Message, "\n    at ")
		}
		all[i] = m
	}
	return all
}

func raw(n *tree.Node) json.RawMessage { return tree.AppendJSON(nil, n, "") }
