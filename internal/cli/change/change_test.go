package change

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
)

// sized returns a definition whose field takes some values.
func sized(values string) string {
	return `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: buckets.example.org}
spec:
  group: example.org
  names: {kind: Bucket, plural: buckets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: string, enum: [` + values + `]}}}}
`
}

// standIn starts an API server that has small resources of sized, and returns a kubeconfig
// for it.
func standIn(t *testing.T, resources int) string {
	t.Helper()
	type object = map[string]any
	items := make([]object, resources)
	for i := range items {
		items[i] = object{"apiVersion": "example.org/v1", "kind": "Bucket", "metadata": object{"name": fmt.Sprintf("r%d", i), "namespace": "team"}, "spec": object{"size": "small"}}
	}
	answers := map[string]object{
		"/apis/example.org/v1":         {"kind": "APIResourceList", "resources": []object{{"name": "buckets"}}},
		"/apis/example.org/v1/buckets": {"kind": "BucketList", "apiVersion": "example.org/v1", "metadata": object{"resourceVersion": "1"}, "items": items},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // The client sees that it is cut off.
	}))
	t.Cleanup(server.Close)
	return write(t, "kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: one
contexts: [{name: one, context: {cluster: one, user: one}}]
clusters: [{name: one, cluster: {server: %q}}]
users: [{name: one, user: {token: secret}}]
`, server.URL))
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestProgress checks that a terminal sees how many resources are validated while they are,
// and that the line is gone before the result.
func TestProgress(t *testing.T) {
	args := []string{write(t, "old.yaml", sized("small, large")), write(t, "new.yaml", sized("large")), "--kubeconfig", standIn(t, 3)}
	const summary = "1 definition compared: 1 breaking change, 0 warnings, 0 compatible changes\n3 resources in 1 cluster checked, 3 affected\n"
	cases := map[string]struct {
		reason   string
		args     []string
		terminal bool
		want     string
	}{
		"Terminal": {"Each line replaces the one before it.", nil, true,
			"\r\x1b[Kvalidating 1 resources\r\x1b[Kvalidating 2 resources\r\x1b[Kvalidating 3 resources\r\x1b[K" + summary},
		"Pipe":  {"A log has no progress.", nil, false, summary},
		"Quiet": {"With --quiet there is no progress.", []string{"--quiet"}, true, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out, notes bytes.Buffer
			env := &app.Env{
				Args: append(args, tc.args...), Stdout: &out, Stderr: &notes, StderrTerminal: tc.terminal,
				Getenv: func(string) string { return "" }, Now: clock(),
			}
			code := app.Run(t.Context(), "ingestor-cli", env, func(ctx context.Context, env *app.Env) error {
				cmd := NewCommand(env, "ingestor-cli", engine.Extension{})
				cmd.SilenceErrors = true
				return flags.Execute(ctx, env, cmd)
			})
			if code != app.ExitInvalid {
				t.Errorf("%s\nexit code is %d: %s", tc.reason, code, notes.String())
			}
			if diff := cmp.Diff(tc.want, notes.String()); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// clock returns a clock that is a second later whenever it is read.
func clock() func() time.Time {
	var mu sync.Mutex
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
}
