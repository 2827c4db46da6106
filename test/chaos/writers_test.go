package chaos_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// plural returns the plural name of a definition of a source.
func plural(source string, i int) string { return fmt.Sprintf("%s%02ds", source, i) }

// ref returns the reference of the Template of a definition.
func ref(plural string) string { return "template:default/" + plural + "." + group }

// definition returns a version of a definition.
func definition(plural string, version int) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.crossplane.io/v2","kind":"CompositeResourceDefinition",
"metadata":{"name":"%[1]s.%[2]s","labels":{"openportal.dev/ingest":"true"}},
"spec":{"scope":"Namespaced","group":"%[2]s","names":{"kind":"X%[1]s","plural":"%[1]s"},"versions":[{"name":"v1","served":true,"referenceable":true,
"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"string","description":"chaos-v%[3]d"}}}}}}}]}}
`, plural, group, version)
}

// putFile writes the next version of a file with two definitions. Slowly
// simulates editors that write in place: the file is empty for a while, and
// then only half of it is there.
func (c *run) putFile(i int, slowly bool) {
	a, b := plural("file", 2*i), plural("file", 2*i+1)
	first, second := definition(a, c.next(ref(a))), "---\n"+definition(b, c.next(ref(b)))
	path := filepath.Join(c.folder, fmt.Sprintf("%02d.yaml", i))
	if !slowly {
		hidden := filepath.Join(c.folder, ".new")
		if err := os.WriteFile(hidden, []byte(first+second), 0o600); err != nil {
			c.t.Error(err)
		}
		if err := os.Rename(hidden, path); err != nil {
			c.t.Error(err)
		}
		return
	}
	f, err := os.Create(path)
	if err != nil {
		c.t.Error(err)
		return
	}
	for _, part := range []string{first, second} {
		time.Sleep(300 * time.Millisecond)
		if _, err := io.WriteString(f, part); err != nil {
			c.t.Error(err)
		}
	}
	if err := f.Close(); err != nil {
		c.t.Error(err)
	}
}

// writeFiles changes files of the folder, and deletes a few.
func (c *run) writeFiles(ctx context.Context, random *rand.Rand) {
	deleted := map[int]bool{}
	for ctx.Err() == nil {
		i := random.IntN(30)
		switch {
		case deleted[i]:
		case len(deleted) < 5 && random.IntN(60) == 0:
			deleted[i] = true
			for _, n := range []int{2 * i, 2*i + 1} {
				c.remove(ref(plural("file", n)))
			}
			if err := os.Remove(filepath.Join(c.folder, fmt.Sprintf("%02d.yaml", i))); err != nil {
				c.t.Error(err)
			}
		default:
			c.putFile(i, random.IntN(4) == 0)
		}
		rest(ctx, random, 50, 300)
	}
}

// commit commits the next versions of definitions to the repository.
func (c *run) commit(which ...int) {
	for _, i := range which {
		name := plural("git", i)
		write(c.t, filepath.Join(c.worktree, name+".yaml"), definition(name, c.next(ref(name))))
	}
	c.git(c.worktree, "add", "--all")
	c.git(c.worktree, "commit", "--quiet", "--message", "another version")
	c.git(c.worktree, "push", "--quiet", "origin", "HEAD:main")
}

func (c *run) writeGit(ctx context.Context, random *rand.Rand) {
	for ctx.Err() == nil {
		c.commit(random.IntN(8), random.IntN(8))
		rest(ctx, random, 1000, 3000)
	}
}

// apply applies the next version of a definition to the cluster, bypassing the
// gate.
func (c *run) apply(i int) {
	name := plural("live", i)
	path := fmt.Sprintf("%s/apis/apiextensions.crossplane.io/v2/compositeresourcedefinitions/%s.%s?fieldManager=chaos&force=true", c.cluster.URL, name, group)
	req, err := http.NewRequest(http.MethodPatch, path, strings.NewReader(definition(name, c.next(ref(name)))))
	if err != nil {
		c.t.Error(err)
		return
	}
	req.Header.Set("Content-Type", "application/apply-patch+yaml")
	res, err := c.cluster.Client().Do(req)
	if err != nil {
		c.t.Error(err)
		return
	}
	defer func() { _ = res.Body.Close() }()
	if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode >= 300 {
		c.t.Errorf("cannot apply %s: %d %s", name, res.StatusCode, text)
	}
}

func (c *run) writeCluster(ctx context.Context, random *rand.Rand) {
	for ctx.Err() == nil {
		c.apply(random.IntN(15))
		rest(ctx, random, 100, 500)
	}
}

// push writes entities over HTTP. After a request without a response it is
// unknown whether it is still to be stored, so its provider writes no more.
func (c *run) push(ctx context.Context, random *rand.Rand) {
	const providers = 5
	var generation [providers]int
	for ctx.Err() == nil {
		i := random.IntN(providers)
		name := fmt.Sprintf("pushed-%d-%d", i, generation[i])
		ref := "component:default/" + name
		version := c.next(ref)
		body := fmt.Sprintf(`{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":%q,"description":"chaos-v%d"},"spec":{"type":"service","lifecycle":"x","owner":"team"}}`, name, version)
		// The request is completed even after the test time is over.
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		status, err := c.replicas[random.IntN(replicas)].call(asking, http.MethodPut, "/api/catalog/providers/"+name+"/entities", body, nil)
		cancel()
		if err == nil && status == http.StatusOK {
			c.ack(ref, version)
		} else {
			generation[i]++
			c.markUncertain(ref)
		}
		rest(ctx, random, 50, 250)
	}
}

// createTasks creates tasks.
func (c *run) createTasks(ctx context.Context, random *rand.Rand) {
	for i := 0; ctx.Err() == nil; i++ {
		name := fmt.Sprintf("task-%d", i)
		var made struct{ ID string }
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		status, err := c.replicas[random.IntN(replicas)].call(asking, http.MethodPost, "/api/scaffolder/v2/tasks",
			fmt.Sprintf(`{"templateRef":"template:default/commit","values":{"name":%q}}`, name), &made)
		cancel()
		if err == nil && status == http.StatusCreated {
			c.task(made.ID, name)
		}
		rest(ctx, random, 200, 1000)
	}
}
