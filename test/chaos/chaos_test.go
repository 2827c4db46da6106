// Package chaos_test runs three replicas of the portal with all their sources
// and services, makes all of them fail at random, and compares what can be
// observed with a model: no stored version is lost or reverted, no existing
// entity disappears or gets another uid, and every accepted task is completed
// exactly once.
package chaos_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/test/gitserver"
)

const (
	// usually is how long faults happen, inTheEnd how long the system may take
	// to converge afterwards.
	usually  = 75 * time.Second
	inTheEnd = 150 * time.Second
)

// setting reads a number from the environment.
func setting(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("cannot parse %s: %v", name, err)
	}
	return n
}

// run is one run of the test.
type run struct {
	*world
	*model
	t    *testing.T
	seed int64
	// drawing counts the random number generators.
	drawing uint64
	// worktree is the Git worktree for commits of definitions.
	worktree string
}

// TestChaos runs for INGESTOR_CHAOS_MINUTES minutes. INGESTOR_CHAOS_SEED
// repeats an earlier run, as far as processes and networks are repeatable.
func TestChaos(t *testing.T) {
	gitserver.Need(t)
	seed := setting(t, "INGESTOR_CHAOS_SEED", time.Now().UnixNano()%1_000_000)
	lasts := time.Duration(setting(t, "INGESTOR_CHAOS_MINUTES", 0)) * time.Minute
	if lasts == 0 {
		lasts = usually
	}
	t.Logf("INGESTOR_CHAOS_SEED=%d", seed)
	c := &run{world: newWorld(t), model: newModel(t), t: t, seed: seed}
	c.begin()
	c.recordVersions()
	ctx, stop := context.WithCancel(t.Context())
	var writers, readers sync.WaitGroup
	writing, rest := context.WithTimeout(ctx, lasts)
	defer rest()
	for _, write := range []func(context.Context, *rand.Rand){c.writeFiles, c.writeGit, c.writeCluster, c.push, c.createTasks} {
		random := c.random()
		writers.Go(func() { write(writing, random) })
	}
	for range 2 {
		random := c.random()
		readers.Go(func() { c.watch(ctx, random) })
	}
	c.faults(writing, c.random())
	writers.Wait()
	c.endFaults()
	c.end(t)
	c.checkVersions(t)
	stop()
	readers.Wait()
	c.tally(t)
}

// random returns a new random number generator.
func (c *run) random() *rand.Rand {
	c.drawing++
	return rand.New(rand.NewPCG(uint64(c.seed), c.drawing))
}

// begin starts the replicas, and waits until they have ingested everything
// once.
func (c *run) begin() {
	for i := range 30 {
		c.putFile(i, false)
	}
	work := filepath.Join(c.t.TempDir(), "work")
	c.git(".", "clone", "--quiet", c.repository, work)
	c.worktree = work
	c.commit(0, 1, 2, 3, 4, 5, 6, 7)
	for i := range 15 {
		c.apply(i)
	}
	for _, r := range c.replicas {
		r.begin()
	}
	c.until("everything is there", inTheEnd, func() []string {
		c.readEntities(c.t.Context(), c.replicas[0])
		open := c.settled()
		var template []json.RawMessage
		if _, err := c.replicas[2].call(c.t.Context(), http.MethodGet, "/api/catalog/entities?filter=kind=template,metadata.name=commit", nil, &template); err != nil || len(template) != 1 {
			open = append(open, "Template for tasks is missing")
		}
		return open
	})
}

// until waits until nothing is open.
func (c *run) until(what string, within time.Duration, open func() []string) {
	c.t.Helper()
	deadline := time.Now().Add(within)
	for {
		left := open()
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			slices.Sort(left)
			c.t.Fatalf("%s: not reached within %v: %d open, such as %s", what, within, len(left), strings.Join(left[:min(5, len(left))], "; "))
		}
		time.Sleep(250 * time.Millisecond)
	}
}

// watch reads the catalog from all replicas.
func (c *run) watch(ctx context.Context, random *rand.Rand) {
	for ctx.Err() == nil {
		c.readEntities(ctx, c.replicas[random.IntN(replicas)])
		rest(ctx, random, 50, 150)
	}
}

// readEntities reads all entities of the model.
func (c *run) readEntities(ctx context.Context, r *replica) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	for _, kind := range []string{"template", "component"} {
		var all []json.RawMessage
		asked := time.Now()
		if status, err := r.call(ctx, http.MethodGet, "/api/catalog/entities?filter=kind="+kind, nil, &all); err != nil || status != http.StatusOK {
			// The replica may be down.
			return
		}
		found := map[string]entity{}
		for _, text := range all {
			var e struct {
				Metadata struct{ Name, UID string }
			}
			if err := json.Unmarshal(text, &e); err != nil {
				c.t.Error(err)
				return
			}
			found[kind+":default/"+e.Metadata.Name] = entity{versionIn(text), e.Metadata.UID}
		}
		c.read(r.number, asked, kind, found)
	}
}

// rest waits for a random number of milliseconds, or until ctx ends.
func rest(ctx context.Context, random *rand.Rand, least, most int) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(least+random.IntN(most-least)) * time.Millisecond):
	}
}

// endFaults ends all faults.
func (c *run) endFaults() {
	c.gate.to(passes)
	for _, r := range c.replicas {
		r.wire.Pass()
		r.pause(false)
		r.begin()
	}
}

// end waits until the system has converged.
func (c *run) end(t *testing.T) {
	t.Helper()
	c.until("in the end", inTheEnd, func() []string {
		for _, r := range c.replicas {
			r.restartIfEnded()
		}
		return append(c.settled(), c.undone()...)
	})
	out, err := exec.Command("git", "-C", c.live, "log", "--format=%s", "main").Output()
	if err != nil {
		t.Fatalf("cannot read the commits of tasks: %v", err)
	}
	commits := map[string]int{}
	for line := range strings.Lines(string(out)) {
		commits[strings.TrimSpace(line)]++
	}
	for id, name := range c.tasks {
		if n := commits["Add "+name]; n != 1 {
			c.violated("task %s has %d commits for %s", id, n, name)
		}
	}
}

// undone returns the tasks that are not completed.
func (c *run) undone() (open []string) {
	r := c.replicas[1]
	for offset := 0; ; offset += 100 {
		var page struct {
			Tasks []struct{ ID, Status string }
		}
		path := fmt.Sprintf("/api/scaffolder/v2/tasks?limit=100&offset=%d", offset)
		if status, err := r.call(c.t.Context(), http.MethodGet, path, nil, &page); err != nil || status != http.StatusOK {
			return []string{fmt.Sprintf("cannot read tasks: %d %v", status, err)}
		}
		for _, task := range page.Tasks {
			name, taken := c.tasks[task.ID]
			switch {
			case !taken || task.Status == "completed":
			case task.Status == "failed" || task.Status == "cancelled":
				var events json.RawMessage
				_, err := r.call(c.t.Context(), http.MethodGet, "/api/scaffolder/v2/tasks/"+task.ID+"/events", nil, &events)
				c.t.Fatalf("task %s (%s) is %s, want completed: %s, %v", task.ID, name, task.Status, events, err)
			default:
				open = append(open, fmt.Sprintf("task %s (%s) is %s", task.ID, name, task.Status))
			}
		}
		if len(page.Tasks) < 100 {
			return open
		}
	}
}

// tally logs how much happened, and checks that it was enough for the checks to
// be meaningful.
func (c *run) tally(t *testing.T) {
	t.Helper()
	written, acked := 0, 0
	for _, o := range c.objects {
		written += o.attempted
		acked += o.acked
	}
	t.Logf("seed %d: %d versions of %d objects (%d pushed), %d tasks, %d reads, %d violations",
		c.seed, written, len(c.objects), acked, len(c.tasks), c.reads, c.violations)
	if written < 200 || len(c.tasks) == 0 || acked == 0 || c.reads < 100 {
		t.Error("too little happened for the checks to be meaningful")
	}
}
