package service_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/ingestion/change"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/size"
)

// manyResources is how many resources a blast radius has: ten thousand at full size, which
// takes minutes to create, and otherwise fewer.
var manyResources = size.Of(2000, 10_000)

// The limits of a blast radius. At full size the resources together are as large as
// mostRadius, so that a program cannot hold them all.
const (
	resourceSize = 20 << 10
	mostTime     = 30 * time.Second
	mostRadius   = 200 << 20
)

// noted returns the definition of sized with a field for a long text.
func noted(values string) string {
	return strings.Replace(sized(values), "size: {", "note: {type: string}\n                size: {", 1)
}

// TestBlastRadiusLoad validates many resources of a real cluster with the real programs,
// within a time and memory that are promised.
func TestBlastRadiusLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("creates thousands of resources")
	}
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{noted("small, large")}})
	kinds := c.URL + "/apis/" + group + "/v1/namespaces/default/alphas"
	var made atomic.Int64
	work, ctx := errgroup.WithContext(t.Context())
	work.SetLimit(16)
	for i := range manyResources {
		work.Go(func() error {
			takes := "large"
			if i%4 == 0 {
				takes = "small"
			}
			body := fmt.Sprintf(`{"apiVersion":%q,"kind":"Xalpha","metadata":{"name":"r%d"},"spec":{"size":%q,"note":%q}}`, group+"/v1", i, takes, strings.Repeat("x", resourceSize))
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, kinds, strings.NewReader(body))
			if err != nil {
				return err
			}
			req.Header.Set("Content-Type", "application/json")
			res, err := c.Client().Do(req)
			if err != nil {
				return err
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusCreated {
				return fmt.Errorf("resource %d: %s", i, res.Status)
			}
			made.Add(1)
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		t.Fatalf("after %d resources: %v", made.Load(), err)
	}
	t.Run("Command", func(t *testing.T) { commandRadius(t, c) })
	t.Run("Portal", func(t *testing.T) { portalRadius(t, c) })
}

// within fails a test if a blast radius took more than is promised.
func within(t *testing.T, took time.Duration, memory int) {
	t.Helper()
	t.Logf("%d resources of %d KiB: %v, %d MiB", manyResources, resourceSize>>10, took.Round(10*time.Millisecond), memory>>20)
	if took > mostTime || memory > mostRadius {
		t.Errorf("took %v and %d MiB; at most %v and %d MiB", took, memory>>20, mostTime, mostRadius>>20)
	}
}

// commandRadius runs ingestor-cli diff.
func commandRadius(t *testing.T, c *apiserver.Server) {
	dir := t.TempDir()
	program := filepath.Join(dir, "ingestor-cli")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/ingestor-cli").CombinedOutput(); err != nil {
		t.Fatalf("cannot build: %v\n%s", err, out)
	}
	for name, text := range map[string]string{"old.yaml": noted("small, large"), "new.yaml": noted("large")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), program, "diff", "old.yaml", "new.yaml", "--kubeconfig", c.Kubeconfig)
	cmd.Dir = dir
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	if code := cmd.ProcessState.ExitCode(); code != app.ExitInvalid {
		t.Fatalf("ended with %d, %v\n%s", code, err, out)
	}
	if want := fmt.Sprintf("%d of %d resources in 1 cluster would be refused", manyResources/4, manyResources); !strings.Contains(string(out), want) {
		t.Errorf("output lacks %q:\n%s", want, out)
	}
	within(t, took, int(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)<<10)
}

// portalRadius asks a portal that does not ingest the resources.
func portalRadius(t *testing.T, c *apiserver.Server) {
	p := launch(t, setup{sections: composer(sections{"composites": sections{"enabled": false}}, cluster("one", c))}).ready()
	p.waitForRefs("kind=template", template("alphas"))
	began := time.Now()
	var got change.Answer
	if status, err := p.ask(http.MethodPost, "/api/composer-ingestor/impact", strings.NewReader(noted("large")), &got); status != http.StatusOK || err != nil {
		t.Fatalf("got %d, %v", status, err)
	}
	took := time.Since(began)
	if im := got.Impact; im == nil || im.Checked != manyResources || im.Affected != manyResources/4 || len(got.Incomplete) > 0 {
		t.Errorf("got %+v, incomplete: %v", im, got.Incomplete)
	}
	within(t, took, peakMemory(t, p.PID()))
}
