package security_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// waiting creates up to n waiting tasks as a caller of the small portal, and
// cancels them when the test ends. It returns the first response that refused a
// task.
func waiting(t *testing.T, c client, n int) (ids []string, refused answer) {
	t.Helper()
	c.awaitTemplate("trusted-wait")
	for len(ids) < n {
		a := c.do(http.MethodPost, api+"/tasks", `{"templateRef":"template:default/trusted-wait","values":{"seconds":300}}`)
		if a.status != http.StatusCreated {
			refused = a
			break
		}
		ids = append(ids, a.node(t).Get("id").Str())
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for _, id := range ids {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+api+"/tasks/"+id+"/cancel", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+c.token)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("cannot cancel task %s: %s, %v", id, resp.Status, err)
			}
		}
	})
	return ids, refused
}

// TestFairShares creates more waiting tasks as one caller than the portal has
// workers. It checks that a task of another caller still runs, and that the
// portal refuses the first caller's next one.
func TestFairShares(t *testing.T) {
	w := enter(t)
	greedy, other := w.small.client(t, ciToken), w.small.client(t, directoryToken)
	ids, refused := waiting(t, greedy, smallOpenTasks+1)
	if len(ids) != smallOpenTasks || refused.status != http.StatusTooManyRequests || !strings.Contains(refused.body, "scaffolder.limits.openTasks") {
		t.Errorf("%d tasks were accepted, want %d; the next one returned %d %s", len(ids), smallOpenTasks, refused.status, refused.body)
	}
	began := time.Now()
	other.completes("trusted-wait", `{"seconds":0}`)
	t.Logf("while %d tasks waited, the task of another caller took %v", len(ids), time.Since(began))

	t.Run("streams", func(t *testing.T) {
		var open int
		for range smallEventStreams + 1 {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, greedy.base+api+"/tasks/"+ids[0]+"/eventstream", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+greedy.token)
			resp, err := greedy.http.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close() // Each stream stays open until the test ends.
			if resp.StatusCode == http.StatusTooManyRequests {
				if resp.Header.Get("Retry-After") == "" {
					t.Error("refused stream has no Retry-After")
				}
				break
			}
			open++
		}
		if open != smallEventStreams {
			t.Errorf("one caller opened %d event streams, want %d", open, smallEventStreams)
		}
		if a := other.do(http.MethodGet, api+"/tasks?limit=1", ""); a.status != http.StatusOK {
			t.Errorf("request of another caller returned %d, want 200: %s", a.status, a.body)
		}
	})
}

// compressed returns a repeated text as gzip.
func compressed(t *testing.T, text string, times int) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range times {
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCostlyRequests sends small requests that once used a CPU for a minute,
// and checks that each is rejected with a reason. The tests of the packages
// tree and values count the steps; the time depends on the machine.
func TestCostlyRequests(t *testing.T) {
	w := enter(t)
	// Each definition refers to the next one twice.
	definitions := []string{`"d60":{"type":"string"}`}
	for i := range 60 {
		definitions = append(definitions, fmt.Sprintf(`"d%d":{"oneOf":[{"$ref":"#/definitions/d%d"},{"$ref":"#/definitions/d%d"}]}`, i, i+1, i+1))
	}
	doubling := `{"$ref":"#/definitions/d0","definitions":{` + strings.Join(definitions, ",") + `}}`
	pages := "[" + strings.TrimSuffix(strings.Repeat(doubling+",", 50), ",") + "]"
	form := func(parameters string) string {
		return `{"apiVersion":"scaffolder.backstage.io/v1beta3","kind":"Template","metadata":{"name":"costly"},"spec":{"type":"x","owner":"team-b","parameters":` + parameters +
			`,"steps":[{"id":"a","action":"debug:log","input":{"message":"x"}}]}}`
	}
	cases := map[string]struct {
		reason, path, media, encoding, body string
		status                              int
		says                                string
	}{
		"pages":    {"a form of 50 pages, each with 2^60 alternatives", api + "/dry-run", "application/json", "", `{"template":` + form(pages) + `,"values":{}}`, 400, "schema is too complex"},
		"empty":    {"8 KB of gzip that become millions of empty documents", "/api/catalog/providers/costly/delta", "application/yaml", "gzip", compressed(t, "---\n", 2_000_000), 413, "more than 300000 documents, including empty ones"},
		"comments": {"the same with comments", "/api/catalog/providers/costly/delta", "application/yaml", "gzip", compressed(t, "--- #\n", 1_500_000), 413, "decompresses to more than 100 times its size"},
		"bodies":   {"gzip that becomes more than a push may have", "/api/catalog/providers/costly/delta", "application/yaml", "gzip", compressed(t, strings.Repeat("x", 1<<20), 300), 413, "PayloadTooLargeError"},
		"doubling": {"an expression that doubles a text", api + "/dry-run", "application/json", "", `{"template":` + strings.Replace(form(`{}`), `"message":"x"`, `"message":"{% set s = 'x' %}`+strings.Repeat("{% set s = s ~ s %}", 60)+`{{ s }}"`, 1) + `,"values":{}}`, 400, "evaluation takes more than"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := w.as(t, bob)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.base+tc.path, strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+c.token)
			req.Header.Set("Content-Type", tc.media)
			if tc.encoding != "" {
				req.Header.Set("Content-Encoding", tc.encoding)
			}
			began := time.Now()
			resp, err := c.http.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			var b bytes.Buffer
			if _, err := b.ReadFrom(resp.Body); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes, answered %d after %v: %.300s", len(tc.body), resp.StatusCode, time.Since(began), b.String())
			if resp.StatusCode != tc.status || !strings.Contains(b.String(), tc.says) {
				t.Errorf("%s: got %d, want %d and %q: %.2000s", tc.reason, resp.StatusCode, tc.status, tc.says, b.String())
			}
		})
	}
}

// TestVanishedWorkspaces removes the workspace folder of a running portal, as
// programs do that clean temporary folders.
func TestVanishedWorkspaces(t *testing.T) {
	w := enter(t)
	c := w.open.client(t, ciToken)
	c.completes("trusted-beside", "{}")
	dir := filepath.Join(w.open.dir, "tasks")
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	c.completes("trusted-beside", "{}")
	// With a file in its place the portal is not ready; once it is removed, a
	// task runs.
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if a := w.open.client(t, "").do(http.MethodGet, "/health/ready", ""); a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "workspace folder") {
		t.Errorf("readiness without a folder for workspaces: %d %s", a.status, a.body)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	w.open.client(t, "").want(http.StatusOK, http.MethodGet, "/health/ready", "")
	c.completes("trusted-beside", "{}")
}

// TestScriptLinks checks that entities with links that would run a script are
// refused.
func TestScriptLinks(t *testing.T) {
	w := enter(t)
	component := func(name, metadata string) string {
		return `{apiVersion: backstage.io/v1alpha1, kind: Component, metadata: {name: ` + name + `, ` + metadata + `}, spec: {type: x, lifecycle: x, owner: team-b}}`
	}
	for _, target := range []string{
		"javascript:alert(1)", "JavaScript:alert(1)", "java\\tscript:alert(1)", " javascript:alert(1)", "\\u0001javascript:alert(1)", "vbscript:x",
		"data:text/html,<script>alert(1)</script>", "DATA:text/html;base64,PHNjcmlwdD4=",
	} {
		for where, metadata := range map[string]string{
			"link":     `links: [{url: "` + target + `"}]`,
			"view-url": `annotations: {backstage.io/view-url: "` + target + `"}`,
			"edit-url": `annotations: {backstage.io/edit-url: "` + target + `"}`,
		} {
			name := unique("links")
			c := w.as(t, bob)
			if a := c.push("granted", component(name, metadata)); strings.Contains(a.body, `"refused":[]`) {
				t.Errorf("%s %q was accepted: %d %s", where, target, a.status, a.body)
			}
			c.want(http.StatusNotFound, http.MethodGet, "/api/catalog/entities/by-name/component/default/"+name, "")
		}
	}
	w.as(t, bob).pushed("granted", component(unique("links"), `links: [{url: "https://example.org/"}]`))
}
