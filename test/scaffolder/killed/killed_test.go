package killed_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/postgres"
)

var rounds = flag.Int("rounds", 2, "how many rounds of tasks are made while replicas are killed")

const (
	replicas = 3
	tasks    = 200
	clients  = 8
	// between is the average number of applications between two kills.
	between = 40
)

// steps are the steps of a task. Each applies one object; the second uses an
// output of the first and a secret.
var steps = []string{"one", "two"}

// template is a Template for the tasks of a round.
const template = `{"apiVersion":"scaffolder.portal.io/v1beta3","kind":"Template","metadata":{"name":%q},"spec":{"type":"x",
"parameters":{"required":["name"],"properties":{"name":{"type":"string"}}},
"steps":[
{"id":"one","name":"one","action":"cluster:apply","input":{"manifest":{"apiVersion":"v1","kind":"ConfigMap",
	"metadata":{"name":"${{ parameters.name }}-one"},"data":{"task":"${{ context.task.id }}"}}}},
{"id":"two","name":"two","action":"cluster:apply","input":{"manifest":{"apiVersion":"v1","kind":"ConfigMap",
	"metadata":{"name":"${{ parameters.name }}-two"},"data":{"uid":"${{ steps.one.output.resources[0].uid }}","word":"${{ secrets.word }}"}}}}
],"output":{"uid":"${{ steps.one.output.resources[0].uid }}"}}}`

// TestKilled runs tasks on replicas that are killed at random times. It checks
// that every task completes, that no finished step is repeated, and that
// repeating an interrupted step changes nothing.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kill test takes a minute")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	c := apiserver.Start(t, apiserver.Options{})
	pg := postgres.Start(t)
	g := newGate(t, c, seed)
	random := rand.New(rand.NewPCG(seed, 2))
	var w *world
	g.kill = func(who string) {
		w.mu.Lock()
		l := w.lives[who]
		w.mu.Unlock()
		if l == nil {
			g.mu.Lock()
			r := w.replicas[random.IntN(len(w.replicas))]
			g.mu.Unlock()
			l = r.now()
		}
		w.kill(l)
	}
	w = newWorld(t, replicas, pg.Database(t), g)
	again := 0
	for i := range *rounds {
		r := &round{world: w, name: fmt.Sprintf("round%02d", i), cluster: c, made: map[string]string{}}
		again += r.run()
		if t.Failed() {
			break
		}
	}
	if again == 0 {
		t.Error("no kill interrupted a step, so the test proves nothing")
	}
	t.Logf("kills: %d before an application, %d after one, %d at other times", g.hits[before], g.hits[behind], g.hits[soon])
}

// round is a run of many tasks with many kills.
type round struct {
	*world
	name    string
	cluster *apiserver.Server

	mu sync.Mutex
	// made has the names of tasks whose creation was acknowledged, by id.
	made map[string]string
}

// run makes a round, and returns how many steps were repeated.
func (r *round) run() (again int) {
	t := r.t
	t.Helper()
	entity := strings.ReplaceAll(fmt.Sprintf(template, r.name), "\n", " ")
	r.ask(http.MethodPut, "/api/catalog/providers/"+r.name+"/entities", []byte(entity+"\n"), nil)
	began, kills := time.Now(), r.kills()
	r.gate.kills(between)
	r.post()
	posted := time.Since(began)
	all := r.wait()
	took := time.Since(began)
	r.gate.kills(0)
	kills = r.kills() - kills
	for _, replica := range r.replicas {
		r.ready(replica)
	}
	if len(all) < tasks {
		t.Errorf("scaffolder lists %d tasks, want at least %d", len(all), tasks)
	}
	found := map[string]bool{}
	for _, task := range all {
		found[task.ID] = true
		again += r.check(task)
	}
	for id, name := range r.made {
		if !found[id] {
			t.Errorf("task %s, %s, was lost", id, name)
		}
	}
	r.clean()
	t.Logf("%s: %d tasks in %.1f s, posted in %.1f s, %d kills, %d steps interrupted and repeated", r.name, len(all), took.Seconds(), posted.Seconds(), kills, again)
	return again
}

// post creates the tasks. A request without a response is sent again to another
// replica for a task of another name, as the first task may exist.
func (r *round) post() {
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for i := client; i < tasks; i += clients {
				r.postOne(i)
			}
		})
	}
	wg.Wait()
}

func (r *round) postOne(number int) {
	var err error
	for try := 0; try < 1000; try++ {
		name := fmt.Sprintf("%s-%03d-%03d", r.name, number, try)
		body := fmt.Sprintf(`{"templateRef":"template:default/%s","values":{"name":%q},"secrets":{"word":%q}}`, r.name, name, word(name))
		var made struct{ ID string }
		if err = r.replicas[(number+try)%len(r.replicas)].ask(http.MethodPost, "/api/scaffolder/v2/tasks", []byte(body), &made); err == nil {
			r.mu.Lock()
			r.made[made.ID] = name
			r.mu.Unlock()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	r.t.Errorf("cannot create task %d: %v", number, err)
}

// word is the secret of a task.
func word(name string) string { return "word-of-" + name }

// task is a task in the API of the scaffolder.
type task struct {
	ID     string
	Status string
	Spec   struct {
		Parameters struct{ Name string }
	}
}

// wait waits until all tasks of the round have ended, and returns them.
func (r *round) wait() []task {
	r.t.Helper()
	var all struct{ Tasks []task }
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		// Two of three replicas may be down.
		r.ask(http.MethodGet, "/api/scaffolder/v2/tasks?templateRef="+url.QueryEscape("template:default/"+r.name), nil, &all)
		var left []string
		for _, task := range all.Tasks {
			if task.Status == "open" || task.Status == "processing" {
				left = append(left, task.ID+" is "+task.Status)
			}
		}
		if len(left) == 0 {
			return all.Tasks
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%d tasks do not end; first: %s", len(left), left[0])
		}
	}
}

// event is an event of a task.
type event struct {
	ID        int64
	Type      string
	CreatedAt time.Time
	Body      struct{ Message, StepID, Status string }
}

// check compares a task with the expected state, and returns how many steps
// were repeated.
func (r *round) check(task task) (again int) {
	r.t.Helper()
	var events []event
	r.ask(http.MethodGet, "/api/scaffolder/v2/tasks/"+task.ID+"/events", nil, &events)
	told := func(format string, args ...any) {
		r.t.Helper()
		r.t.Errorf("task %s, %s: %s\n%s", task.ID, task.Spec.Parameters.Name, fmt.Sprintf(format, args...), formatEvents(events))
	}
	if task.Status != "completed" {
		told("status is %s, want completed", task.Status)
		return 0
	}
	ended := map[string]time.Time{}
	for i, e := range events {
		if e.ID != int64(i)+1 {
			told("event %d has the id %d", i+1, e.ID)
		}
		if (e.Type == "completion") != (i == len(events)-1) {
			told("event %d is of type %s", e.ID, e.Type)
		}
		if e.Body.Status == "completed" {
			if _, twice := ended[e.Body.StepID]; twice {
				told("step %s ended twice", e.Body.StepID)
			}
			ended[e.Body.StepID] = e.CreatedAt
		}
	}
	var uid string
	for _, step := range steps {
		name := task.Spec.Parameters.Name + "-" + step
		end, ok := ended[step]
		if !ok {
			told("step %s did not end", step)
			continue
		}
		again += r.applied(name, end, told)
		var found struct {
			Metadata struct{ UID string }
			Data     map[string]string
		}
		if err := r.read(name, &found); err != nil {
			told("%v", err)
			continue
		}
		if step == "one" {
			uid = found.Metadata.UID
			continue
		}
		if found.Data["uid"] != uid || found.Data["word"] != word(task.Spec.Parameters.Name) {
			told("step two applied %v, and the uid of the first object is %s", found.Data, uid)
		}
	}
	return again
}

// applied checks the applications of an object: each was made by another
// process, each process but the last was killed before the next application,
// none was made after the step ended, and repetitions changed nothing. It
// returns the number of repetitions.
func (r *round) applied(name string, end time.Time, told func(string, ...any)) (again int) {
	all := r.gate.of(name)
	if len(all) == 0 {
		told("%s was not applied", name)
		return 0
	}
	version := ""
	for i, a := range all {
		if version != "" && a.version != "" && a.version != version {
			told("repetition of %s by %s resulted in version %s, want %s", name, a.who, a.version, version)
		}
		version = cmp.Or(version, a.version)
		// Recorded times have milliseconds.
		if a.at.Truncate(time.Millisecond).After(end) {
			told("%s was applied at %v by %s after its step had ended at %v", name, a.at, a.who, end)
		}
		if i == 0 {
			continue
		}
		r.world.mu.Lock()
		killed := r.lives[all[i-1].who].killed
		r.world.mu.Unlock()
		if killed.IsZero() || killed.After(a.at) {
			told("%s was applied again by %s while %s, which had applied it, was alive", name, a.who, all[i-1].who)
		}
	}
	return len(all) - 1
}

// read reads an object of the cluster.
func (r *round) read(name string, v any) error {
	resp, err := r.cluster.Client().Get(r.cluster.URL + "/api/v1/namespaces/default/configmaps/" + name)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("cannot find %s in the cluster: %s", name, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(v)
}

// clean checks that no workspace is left.
func (r *round) clean() {
	r.t.Helper()
	r.until("the workspaces are removed", func() error {
		for _, replica := range r.replicas {
			left, err := filepath.Glob(filepath.Join(replica.work, "*", "*"))
			if err != nil {
				return err
			}
			for _, path := range left {
				if info, err := os.Stat(path); err == nil && info.IsDir() {
					return fmt.Errorf("workspace %s still exists", path)
				}
			}
		}
		return nil
	})
}

// formatEvents returns the events of a task as text, one per line.
func formatEvents(events []event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "\t%d %s %s %s %s: %s\n", e.ID, e.CreatedAt.Format("15:04:05.000"), e.Type, e.Body.StepID, e.Body.Status, e.Body.Message)
	}
	return b.String()
}
