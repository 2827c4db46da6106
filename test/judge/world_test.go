package judge

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/debug"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/cli/ingestor"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/jobs"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/test/database"
)

// soonEnough is a timeout for short operations on a busy machine.
const soonEnough = 60 * time.Second

// instead are the actions of our Templates that debug:log replaces, including
// itself.
var instead = []string{"kubernetes:apply", "kubernetes:delete", "publish:change-request", "debug:log"}

// more is a configuration with everything that adds to forms and steps.
const more = `
composerIngestor:
  generateDayTwoTemplates: true
  templateGeneration: {addGitOpsActions: true}
  clusters:
    - {name: a, url: "https://a.example.org", serviceAccountToken: none}
    - {name: b, url: "https://b.example.org", serviceAccountToken: none}
`

// filled is a Template with the values it is run with.
type filled struct {
	template *tree.Node
	values   map[string]*tree.Node
}

// templates returns the Templates of each example by name, with and without a
// configuration, and those of flows.yaml.
func templates(t *testing.T) map[string]map[string]*filled {
	t.Helper()
	config := filepath.Join(t.TempDir(), "app-config.yaml")
	if err := os.WriteFile(config, []byte(more), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d examples, want at least 10: %v", len(files), err)
	}
	out := map[string]map[string]*filled{"flows": flows(t)}
	for _, file := range files {
		found := map[string]*filled{}
		for prefix, args := range map[string][]string{"plain": nil, "more": {"--config", config}} {
			for _, e := range generated(t, append(args, "--words", "upstream", "--stdout", "-f", "json", "--quiet", file)...) {
				if e.Get("kind").Str() != entity.KindTemplate {
					continue
				}
				f := &filled{template: e, values: map[string]*tree.Node{}}
				for _, s := range sets {
					if v := s.fill(t, e.Get("spec", "parameters")); s.fits(e) {
						f.values[s.name] = v
					}
				}
				found[prefix+" "+e.Get("metadata", "name").Str()] = f
			}
		}
		out[strings.TrimSuffix(filepath.Base(file), ".yaml")] = found
	}
	return out
}

// fits reports whether the set gives other values for a Template than the sets
// before it.
func (s set) fits(template *tree.Node) bool {
	return s.delivery == "apply" || s.likes != nil || strings.Contains(string(tree.AppendJSON(nil, template.Get("spec", "parameters"), "")), `"delivery"`)
}

// generated returns the entities that the command prints.
func generated(t *testing.T, args ...string) []*tree.Node {
	t.Helper()
	var out, notes bytes.Buffer
	env := &app.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &notes,
		Getenv: func(string) string { return "" }, Now: time.Now,
	}
	if code := app.Run(t.Context(), ingestor.Name, env, ingestor.Run); code != 0 {
		t.Fatalf("command %q ended with %d: %s", args, code, &notes)
	}
	docs, errs := parser.DecodeBytes(out.Bytes())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return docs
}

// flows returns the Templates of flows.yaml.
func flows(t *testing.T) map[string]*filled {
	t.Helper()
	raw, err := os.ReadFile("testdata/flows.yaml")
	if err != nil {
		t.Fatal(err)
	}
	docs, errs := parser.DecodeBytes(raw)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	out := map[string]*filled{}
	for i, d := range docs {
		name := d.Get("about").Str()
		out[name] = &filled{
			template: tree.Obj(tree.F("apiVersion", tree.Str("scaffolder.backstage.io/v1beta3")), tree.F("kind", tree.Str(entity.KindTemplate)),
				tree.F("metadata", tree.Obj(tree.F("name", tree.Str(fmt.Sprintf("flow-%d", i))))), tree.F("spec", d.Get("spec"))),
			values: map[string]*tree.Node{"all": d.Get("values")},
		}
	}
	return out
}

// world runs tasks like the portal.
type world struct {
	t     *testing.T
	store *store.Store
	queue *jobs.Queue
	tasks *task.Tasks
}

// open returns a world for dry runs.
func open(t *testing.T) *world {
	t.Helper()
	w, dir, log := &world{t: t}, t.TempDir(), slog.New(slog.DiscardHandler)
	var err error
	d := database.Open(t, database.SQLite(t))
	w.store = store.New(d, store.Options{})
	if w.queue, err = jobs.Open(t.Context(), jobs.Options{Client: db.SQLite, Path: filepath.Join(dir, "jobs.db"), Now: time.Now, Log: log}); err != nil {
		t.Fatal(err)
	}
	if w.tasks, err = task.New(task.Options{
		Authorize: func(context.Context, task.Requester, string, string, action.Target) error { return nil },
		Store:     taskstore.New(d), Queue: w.queue, Actions: logging(t), Dir: filepath.Join(dir, "work"), Now: time.Now, Log: log,
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.tasks.Close(); _ = w.queue.Close() })
	return w
}

// start returns a world that runs tasks until the test ends.
func start(t *testing.T) *world {
	t.Helper()
	w := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := w.queue.Run(ctx); err != nil {
			t.Errorf("queue ended with %v", err)
		}
	})
	running.Go(func() { w.tasks.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return w
}

// logging returns debug:log under the names of the actions it replaces.
func logging(t *testing.T) []action.Action {
	t.Helper()
	all := debug.Actions(debug.Options{})
	i := slices.IndexFunc(all, func(a action.Action) bool { return a.ID == debug.ActionLog })
	var out []action.Action
	for _, name := range instead {
		a := all[i]
		if name != a.ID {
			a.ID, a.Input, a.Aliases = name, nil, nil
		}
		out = append(out, a)
	}
	return out
}

// run runs a task until it ends.
func (w *world) run(o task.Order) (*taskstore.Task, []taskstore.TaskEvent) {
	w.t.Helper()
	id, err := w.tasks.Create(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), soonEnough)
	defer cancel()
	var events []taskstore.TaskEvent
	err = w.tasks.Follow(ctx, id, 0, func(some []taskstore.TaskEvent) error {
		events = append(events, some...)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	found, err := taskstore.New(w.store.DB).Task(w.t.Context(), id)
	if err != nil || found == nil {
		w.t.Fatalf("task is %v: %v", found, err)
	}
	return found, events
}
