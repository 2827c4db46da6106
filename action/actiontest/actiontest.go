// Package actiontest runs actions in tests: with a workspace of their own, and
// with their inputs, outputs and examples held against their schemas.
package actiontest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// Stage is where actions are run: a workspace that steps share, and all they
// told.
type Stage struct {
	t testing.TB
	// Dir is the folder of the workspace.
	Dir string
	// Context is what actions are run with.
	Context context.Context //nolint:containedctx // the test's
	actions []action.Action
	mu      sync.Mutex
	log     []string
}

// New returns a Stage for these actions.
func New(t testing.TB, all []action.Action) *Stage {
	return &Stage{t: t, Dir: t.TempDir(), Context: t.Context(), actions: all}
}

// Find returns the action of a name or alias. The test ends if there is none.
func (s *Stage) Find(id string) action.Action {
	s.t.Helper()
	i := slices.IndexFunc(s.actions, func(a action.Action) bool { return a.ID == id || slices.Contains(a.Aliases, id) })
	if i < 0 {
		s.t.Fatalf("there is no action %q", id)
	}
	return s.actions[i]
}

// Run runs an action with an input, which is YAML and has to fit its schema, and
// returns its outputs, which do too. set, if it is not nil, changes the call.
func (s *Stage) Run(id, input string, set func(*action.Call)) (*tree.Node, error) {
	s.t.Helper()
	return s.run(s.Find(id), s.decode(input), set)
}

func (s *Stage) run(a action.Action, in *tree.Node, set func(*action.Call)) (*tree.Node, error) {
	s.t.Helper()
	if err := Fits(a.Input, in); err != nil {
		s.t.Fatalf("the input of %s does not fit: %v", a.ID, err)
	}
	w, err := action.OpenWorkspace(s.Dir)
	if err != nil {
		s.t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	out := tree.Obj()
	c := &action.Call{
		Input: in, Workspace: w, Task: "task", Step: "step", Key: "key", Secrets: map[string]action.Secret{},
		Logf: func(format string, args ...any) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.log = append(s.log, fmt.Sprintf(format, args...))
		},
		Output: out.Set,
		// A test that is about permissions brings its own.
		Caller:    action.Caller{Ref: "test", Service: true},
		Authorize: func(context.Context, string, action.Target) error { return nil },
	}
	if set != nil {
		set(c)
	}
	if err := a.Run(s.Context, c); err != nil {
		return out, err
	}
	if err := Fits(a.Output, out); err != nil {
		s.t.Errorf("the output of %s does not fit: %v", a.ID, err)
	}
	return out, nil
}

// Log returns what was told since it was last asked, a line a message.
func (s *Stage) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.log = nil }()
	return strings.Join(s.log, "\n")
}

// Write puts files into the workspace, by name.
func (s *Stage) Write(files map[string]string) {
	s.t.Helper()
	for name, text := range files {
		at := filepath.Join(s.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// Files returns what is in the workspace, by name. One that can be run has a
// star behind its name.
func (s *Stage) Files() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(s.Dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			all[name] = "a link"
			return nil
		}
		text, err := os.ReadFile(filepath.Join(s.Dir, filepath.FromSlash(name)))
		if info.Mode()&0o100 != 0 {
			name += "*"
		}
		all[name] = string(text)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// Examples calls each with every step of every example, once its input was held
// against the schema of its action. An action without a description, a schema or
// an example, and an example of something else, fail the test.
func (s *Stage) Examples(each func(a action.Action, input *tree.Node)) {
	s.t.Helper()
	for _, a := range s.actions {
		if a.Description == "" || a.Input == nil || a.Run == nil || len(a.Examples) == 0 {
			s.t.Errorf("%s lacks a description, a schema of its input, an example or what it does", a.ID)
		}
		if a.Input.Get("$schema").Str() != action.Draft {
			s.t.Errorf("%s does not say which JSON Schema its input has", a.ID)
		}
		for _, e := range a.Examples {
			steps := s.decode(e.Example).Get("steps").List()
			if e.Description == "" || len(steps) == 0 {
				s.t.Errorf("an example of %s has no description or no steps:\n%s", a.ID, e.Example)
			}
			for _, step := range steps {
				if id := step.Get("action").Str(); id != a.ID && !slices.Contains(a.Aliases, id) {
					s.t.Errorf("an example of %s is one of %q", a.ID, id)
				}
				if step.Get("id").Str() == "" || step.Get("name").Str() == "" {
					s.t.Errorf("a step in an example of %s has no id or no name", a.ID)
				}
				if err := Fits(a.Input, step.Get("input")); err != nil {
					s.t.Errorf("an example of %s does not fit: %v", a.ID, err)
				}
				each(a, step.Get("input"))
			}
		}
	}
}

// decode reads one document.
func (s *Stage) decode(text string) *tree.Node {
	s.t.Helper()
	docs, errs := parser.DecodeBytes([]byte(text))
	if len(errs) > 0 || len(docs) != 1 {
		s.t.Fatalf("cannot read %q: %v", text, errs)
	}
	return docs[0]
}

// Fits holds a value against a schema; nil means that nothing fits but an empty
// object.
func Fits(schema, value *tree.Node) error {
	if schema == nil {
		schema = action.Schema()
	}
	if value == nil {
		value = tree.Obj()
	}
	c := jsonschema.NewCompiler()
	s, err := jsonschema.UnmarshalJSON(bytes.NewReader(tree.AppendJSON(nil, schema, "")))
	if err != nil {
		return err
	}
	if err := c.AddResource("schema.json", s); err != nil {
		return err
	}
	is, err := c.Compile("schema.json")
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(tree.AppendJSON(nil, value, "")))
	if err != nil {
		return err
	}
	return is.Validate(v)
}
