package task

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/jobs"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/internal/secret"
	"example.dev/ingestor/test/postgres"
)

// soonEnough is a generous limit for short operations, as the machine may be
// busy.
const soonEnough = 60 * time.Second

// shared is the PostgreSQL server of tests that do not stop it.
var shared postgres.Shared

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
		return
	}
	os.Exit(shared.End(m.Run()))
}

// place is the location of a database. Several worlds may share one.
type place struct{ client, dir, url string }

func onSQLite(tb testing.TB) place { return place{client: db.SQLite, dir: tb.TempDir()} }

func onPostgres(tb testing.TB) place {
	return place{client: db.Postgres, dir: tb.TempDir(), url: shared.Database(tb)}
}

// world is a process that runs tasks.
type world struct {
	tb    testing.TB
	store *taskstore.Store
	queue *jobs.Queue
	tasks *Tasks
	log   *logBuffer
	// stop stops the process, as SIGTERM does.
	stop func()
}

// logBuffer collects log lines.
type logBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *logBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.String()
}

// hunter are the secrets of the tests.
var hunter = map[string]secret.Text{"token": "hunter2"}

// key is the encryption key of the tests.
var key = []byte("a key for tests, long enough")

// open opens a world that does not run yet.
func open(tb testing.TB, at place, opts Options) *world {
	tb.Helper()
	w := &world{tb: tb, log: &logBuffer{}}
	log := slog.New(slog.NewTextHandler(w.log, nil))
	d, err := db.Open(context.Background(), db.Options{Client: at.client, Path: filepath.Join(at.dir, "portal.db"), URL: at.url, Now: time.Now})
	if err != nil {
		tb.Fatal(err)
	}
	w.store = taskstore.New(d)
	w.queue, err = jobs.Open(context.Background(), jobs.Options{Client: at.client, Path: filepath.Join(at.dir, "jobs.db"), URL: at.url, Now: time.Now, Log: log})
	if err != nil {
		tb.Fatal(err)
	}
	opts.Store, opts.Queue, opts.Now, opts.Log = w.store, w.queue, time.Now, log
	if opts.Authorize == nil {
		opts.Authorize = func(context.Context, Requester, string, string, action.Target) error { return nil }
	}
	if opts.Dir == "" {
		opts.Dir = filepath.Join(at.dir, "work")
	}
	if opts.beat == 0 {
		opts.beat, opts.sweep, opts.idle = 100*time.Millisecond, 100*time.Millisecond, time.Second
	}
	if w.tasks, err = New(opts); err != nil {
		tb.Fatal(err)
	}
	w.stop = func() { _ = w.tasks.Close(); _ = w.queue.Close(); _ = w.store.Close() }
	tb.Cleanup(func() { w.stop() })
	return w
}

// start opens a world and runs it until the test ends or it is stopped.
func start(tb testing.TB, at place, opts Options) *world {
	tb.Helper()
	w := open(tb, at, opts)
	closeAll := w.stop
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := w.queue.Run(ctx); err != nil {
			tb.Errorf("queue ended with %v", err)
		}
	})
	running.Go(func() { w.tasks.Run(ctx) })
	var once sync.Once
	w.stop = func() { once.Do(func() { cancel(); running.Wait(); closeAll() }) }
	return w
}

// order returns an order of a Template whose spec is YAML.
func order(tb testing.TB, spec, values string) Order {
	tb.Helper()
	t := node(tb, "apiVersion: scaffolder.backstage.io/v1beta3\nkind: Template\nmetadata: {name: demo}\n")
	t.Set("spec", node(tb, spec))
	return Order{Template: t, Values: node(tb, values), User: "user:default/ann",
		By: ann}
}

func node(tb testing.TB, yaml string) *tree.Node {
	tb.Helper()
	docs, errs := parser.DecodeBytes([]byte(yaml))
	if len(errs) > 0 || len(docs) != 1 {
		tb.Fatalf("template has %d documents, %v in %s", len(docs), errs, yaml)
	}
	return docs[0]
}

// create creates a task.
func (w *world) create(o Order) string {
	w.tb.Helper()
	id, err := w.tasks.Create(w.tb.Context(), o)
	if err != nil {
		w.tb.Fatal(err)
	}
	return id
}

// waitForEnd waits until a task has ended, and returns it.
func (w *world) waitForEnd(id string) *taskstore.Task {
	w.tb.Helper()
	var found *taskstore.Task
	w.eventually("the task has ended", func() bool {
		var err error
		if found, err = w.store.Task(context.Background(), id); err != nil || found == nil {
			w.tb.Fatalf("task is %v: %v", found, err)
		}
		return found.Status != taskstore.TaskOpen && found.Status != taskstore.TaskProcessing
	})
	return found
}

func (w *world) eventually(what string, is func() bool) {
	w.tb.Helper()
	for end := time.Now().Add(soonEnough); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.tb.Fatalf("condition was not met within %s: %s\n%s", soonEnough, what, w.log.text())
		}
	}
}

// await waits for a value from a channel.
func await[T any](tb testing.TB, what string, c <-chan T) T {
	tb.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(soonEnough):
		tb.Fatalf("%s: no value after %s", what, soonEnough)
		panic("unreachable")
	}
}

// events returns the events of a task as lines of type, step, status and
// message.
func (w *world) events(id string) []string {
	w.tb.Helper()
	all, err := w.tasks.Events(context.Background(), id, 0)
	if err != nil {
		w.tb.Fatal(err)
	}
	var out []string
	for _, e := range all {
		out = append(out, eventText(w.tb, e))
	}
	return out
}

func eventText(tb testing.TB, e taskstore.TaskEvent) string {
	tb.Helper()
	var b struct {
		Message, StepID, Status string
		Error                   *struct{ Name, Message string }
	}
	if err := json.Unmarshal(e.Body, &b); err != nil {
		tb.Fatalf("event %s cannot be decoded: %v", e.Body, err)
	}
	s := strings.Join([]string{e.Type, b.StepID, b.Status, b.Message}, "|")
	if b.Error != nil {
		s += "|" + b.Error.Name + "|" + b.Error.Message
	}
	return s
}

// echoAction returns an action that logs its input and returns it as output.
func echoAction() action.Action {
	return action.Action{ID: "test:say", Aliases: []string{"test:speak"}, DryRun: true,
		Input: tree.Obj(tree.F("type", tree.Str("object")), tree.F("required", tree.Strs([]string{"text"})),
			tree.F("properties", tree.Obj(tree.F("text", tree.Obj(tree.F("type", tree.Str("string"))))))),
		Run: func(_ context.Context, c *action.Call) error {
			c.Logf("%s", c.Input.Get("text").Str())
			c.Output("said", c.Input.Get("text"))
			c.Output("key", tree.Str(c.Key))
			return nil
		}}
}

// newAction returns an action with an id and a function.
func newAction(id string, run func(ctx context.Context, c *action.Call) error) action.Action {
	return action.Action{ID: id, Run: run}
}

// ann is the requester of all tasks.
var ann = Requester{Caller: identity.Caller{Kind: identity.User, Subject: "user:default/ann"}}
