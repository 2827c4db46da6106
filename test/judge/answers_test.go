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

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/task"
)

// recorded is what the real scaffolder made of a Template.
type recorded struct {
	// Steps are those of the Template, which say when it is another one.
	Steps json.RawMessage    `json:"steps"`
	Cases map[string]*answer `json:"cases"`

	template *tree.Node
}

// answer is what it made of values.
type answer struct {
	Values json.RawMessage `json:"values"`
	// Errors are what is wrong with the values, Error why it could not be tried
	// out.
	Errors []json.RawMessage `json:"errors,omitempty"`
	Error  string            `json:"error,omitempty"`
	// Log is what it said when it was tried out, a line for each message; Inputs
	// are those of the steps that ran.
	Log    []string                   `json:"log,omitempty"`
	Inputs map[string]json.RawMessage `json:"inputs,omitempty"`
	Output json.RawMessage            `json:"output,omitempty"`
	// Events are those of a task, a line for each; Spec is its spec without what
	// stands elsewhere.
	Events []string        `json:"events,omitempty"`
	Spec   json.RawMessage `json:"spec,omitempty"`
	Status string          `json:"status,omitempty"`
}

// each are the steps that are done for each of something.
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

// reduce makes lines of messages. The input that a step tells is taken out, and
// stands once beside them.
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
			t.Errorf("it is not indented as usual: %s", m.Message)
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

// short is the spec of a task without what is compared elsewhere.
func short(spec *tree.Node) []byte {
	spec = spec.Clone()
	spec.Delete("steps")
	spec.Delete("parameters")
	spec.Get("templateInfo").Delete("entity")
	return tree.AppendJSON(nil, spec, "")
}

// readAll yields what was recorded, with today's Templates.
func readAll(t *testing.T) iter.Seq2[string, *recorded] {
	t.Helper()
	return func(yield func(string, *recorded) bool) {
		for file, templates := range templates(t) {
			raw, err := os.ReadFile(filepath.Join("testdata", file+".json"))
			if err != nil {
				t.Fatalf("%v\nrecord anew", err)
			}
			all := decode[map[string]*recorded](t, raw)
			for _, name := range slices.Sorted(maps.Keys(templates)) {
				if all[name] == nil {
					t.Errorf("%s: nothing was recorded of %s: record anew", file, name)
					continue
				}
				all[name].template = templates[name].template
				if !yield(file+": "+name, all[name]) {
					return
				}
			}
			if len(all) != len(templates) {
				t.Errorf("%s: %d Templates were recorded, and today there are %d: record anew", file, len(all), len(templates))
			}
		}
	}
}

// write writes what was recorded, a line for each case.
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

// encode writes JSON as it is: no character is escaped for a web page.
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
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

func node(t *testing.T, raw []byte) *tree.Node {
	t.Helper()
	docs, errs := tree.DecodeBytes(raw)
	if len(errs) > 0 || len(docs) != 1 {
		t.Fatalf("%d documents, %v in %s", len(docs), errs, raw)
	}
	return docs[0]
}

// order asks for a Template with values.
func order(t *testing.T, template *tree.Node, a *answer) task.Order {
	t.Helper()
	return task.Order{Template: template, Read: true, Values: node(t, a.Values), User: user}
}
