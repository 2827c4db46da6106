package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/task"
)

// recorded is the result of the real scaffolder for a Template.
type recorded struct {
	// Steps are the steps of the Template, which show whether it has changed.
	Steps json.RawMessage    `json:"steps"`
	Cases map[string]*answer `json:"cases"`

	template *tree.Node
}

// answer is the result for a set of values.
type answer struct {
	Values json.RawMessage `json:"values"`
	// Errors are the validation errors of the values, Error is why the dry run
	// failed.
	Errors []json.RawMessage `json:"errors,omitempty"`
	Error  string            `json:"error,omitempty"`
	// Log has the log of the dry run, one line per message; Inputs are the
	// inputs of the steps that ran.
	Log    []string                   `json:"log,omitempty"`
	Inputs map[string]json.RawMessage `json:"inputs,omitempty"`
	Output json.RawMessage            `json:"output,omitempty"`
	// Events are the events of a task, one per line; Spec is its spec without
	// the parts that are recorded elsewhere.
	Events []string        `json:"events,omitempty"`
	Spec   json.RawMessage `json:"spec,omitempty"`
	Status string          `json:"status,omitempty"`
}

// each returns the steps with an each loop.
func (r *recorded) each() map[string]bool {
	out := map[string]bool{}
	for _, s := range r.template.Get("spec", "steps").List() {
		if s.Has("each") {
			out[s.Get("id").Str()] = true
		}
	}
	return out
}

// message is the body of an event.
type message struct {
	Type, StepID, Status, Message string
	Output                        json.RawMessage
	Error                         *struct{ Name, Message string }
}

// reduce converts messages to lines. The logged input of a step is returned
// separately, once.
func reduce(t *testing.T, all []message) (lines []string, inputs map[string]json.RawMessage) {
	t.Helper()
	inputs = map[string]json.RawMessage{}
	told := map[string]string{}
	for _, m := range all {
		if inputs[m.StepID] != nil || !strings.HasPrefix(m.Message, "{") || !json.Valid([]byte(m.Message)) {
			continue
		}
		var flat, indented bytes.Buffer
		if json.Compact(&flat, []byte(m.Message)) != nil || json.Indent(&indented, flat.Bytes(), "", "  ") != nil || indented.String() != m.Message {
			t.Errorf("input in the log is not indented as usual: %s", m.Message)
			continue
		}
		told[m.StepID], inputs[m.StepID] = m.Message, flat.Bytes()
	}
	for _, m := range all {
		text := m.Message
		if told[m.StepID] != "" {
			text = strings.ReplaceAll(text, told[m.StepID], "<input>")
		}
		parts := []string{m.StepID, m.Status, text}
		if m.Type != "" {
			parts = slices.Insert(parts, 0, m.Type)
		}
		if m.Error != nil {
			parts = append(parts, m.Error.Name, m.Error.Message)
		}
		lines = append(lines, strings.Join(parts, "|"))
	}
	return lines, inputs
}

// short returns the spec of a task without the parts that are compared
// elsewhere.
func short(spec *tree.Node) []byte {
	spec = spec.Clone()
	spec.Delete("steps")
	spec.Delete("parameters")
	spec.Get("templateInfo").Delete("entity")
	return tree.AppendJSON(nil, spec, "")
}

// readAll yields the recorded results with the current Templates.
func readAll(t *testing.T) iter.Seq2[string, *recorded] {
	t.Helper()
	return func(yield func(string, *recorded) bool) {
		for file, templates := range templates(t) {
			raw, err := os.ReadFile(filepath.Join("testdata", file+".json"))
			if err != nil {
				t.Fatalf("%v\nrun TestRecord again", err)
			}
			all := decode[map[string]*recorded](t, raw)
			for _, name := range slices.Sorted(maps.Keys(templates)) {
				if all[name] == nil {
					t.Errorf("%s: no result was recorded for %s: run TestRecord again", file, name)
					continue
				}
				all[name].template = templates[name].template
				if !yield(file+": "+name, all[name]) {
					return
				}
			}
			if len(all) != len(templates) {
				t.Errorf("%s: %d Templates were recorded, and there are %d now: run TestRecord again", file, len(all), len(templates))
			}
		}
	}
}

// write writes the recorded results, one line per case.
func write(t *testing.T, file string, all map[string]*recorded) {
	t.Helper()
	var b bytes.Buffer
	comma := func(i, n int) string {
		if i == n-1 {
			return "\n"
		}
		return ",\n"
	}
	b.WriteString("{\n")
	names := slices.Sorted(maps.Keys(all))
	for i, name := range names {
		r := all[name]
		fmt.Fprintf(&b, "%s: {\n\"steps\": %s,\n\"cases\": {\n", encode(t, name), encode(t, r.Steps))
		cases := slices.Sorted(maps.Keys(r.Cases))
		for j, c := range cases {
			fmt.Fprintf(&b, "%s: %s%s", encode(t, c), encode(t, r.Cases[c]), comma(j, len(cases)))
		}
		b.WriteString("}}" + comma(i, len(names)))
	}
	b.WriteString("}\n")
	if err := os.WriteFile(filepath.Join("testdata", file+".json"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// encode encodes JSON without HTML escaping.
func encode(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

func decode[T any](t *testing.T, raw []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("cannot decode: %v in %s", err, raw)
	}
	return v
}

func node(t *testing.T, raw []byte) *tree.Node {
	t.Helper()
	docs, errs := parser.DecodeBytes(raw)
	if len(errs) > 0 || len(docs) != 1 {
		t.Fatalf("cannot parse: %d documents, errors %v in %s", len(docs), errs, raw)
	}
	return docs[0]
}

// order returns the order of a task for a Template with values.
func order(t *testing.T, template *tree.Node, a *answer) task.Order {
	t.Helper()
	return task.Order{Template: template, Read: true, Values: node(t, a.Values), User: user}
}
