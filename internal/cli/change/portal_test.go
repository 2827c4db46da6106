package change

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/xrd/impact"
)

// manyBuckets returns n definitions whose field takes some values.
func manyBuckets(n int, values string) string {
	var b strings.Builder
	for i := range n {
		name := fmt.Sprintf("b%02d", i)
		b.WriteString("---\n" + strings.NewReplacer("buckets", name+"s", "Bucket", strings.ToUpper(name)).Replace(sized(values)))
	}
	return b.String()
}

// diffed runs the command, and returns what it wrote.
func diffed(t *testing.T, args ...string) (code int, out, notes string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := &app.Env{Args: args, Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: clock()}
	code = app.Run(t.Context(), "ingestor-cli", env, func(ctx context.Context, env *app.Env) error {
		cmd := NewCommand(env, "ingestor-cli", engine.Extension{})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		return flags.Execute(ctx, env, cmd)
	})
	return code, stdout.String(), stderr.String()
}

// TestPortal checks that a portal is asked about a few definitions at a time, and that the
// diff is shown if it refuses some of them, or all.
func TestPortal(t *testing.T) {
	const inOne = "one cluster cannot be read"
	cases := map[string]struct {
		reason string
		// most is how many definitions the portal takes, and fails the request that fails.
		most, fails int
		args        []string
		// asked are the definitions in each answered request.
		asked      []int
		code       int
		checked    int
		incomplete []string
		notes      string
	}{
		"Batches": {"There are not more definitions in a request than a portal takes.", 20, 0, nil, []int{20, 20, 5}, app.ExitInvalid, 90, []string{inOne}, "90 resources in 2 clusters checked, 45 affected"},
		"Halves":  {"A request that is too large is divided.", 12, 0, nil, []int{10, 10, 10, 10, 5}, app.ExitInvalid, 90, []string{inOne}, "90 resources in 2 clusters checked, 45 affected"},
		"Fails": {"What the portal answered before it failed counts.", 20, 2, nil, []int{20}, app.ExitInvalid, 40,
			[]string{inOne, "the portal could not validate the resources of 25 definitions"}, "returned 403 Forbidden"},
		"Never": {"A portal that fails is a failure, if changes are none.", 20, 2, []string{"--fail-on", "never"}, []int{20}, app.ExitFailed, 40,
			[]string{inOne, "the portal could not validate the resources of 25 definitions"}, "returned 403 Forbidden"},
		"Down": {"The diff is shown without the portal.", 20, 1, nil, nil, app.ExitInvalid, 0, []string{"the portal could not validate the resources of 45 definitions"}, "returned 403 Forbidden"},
		"TooLarge": {"A definition that the portal does not take is left out.", 0, 0, nil, nil, app.ExitInvalid, 0,
			[]string{"the portal could not validate the resources of 45 definitions"}, "validate them with --cluster, which has no limits"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var asked []int
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests++
				text, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				n := bytes.Count(text, []byte("---\n")) + len(r.URL.Query()["removed"])
				switch {
				case requests == tc.fails:
					w.WriteHeader(http.StatusForbidden)
					return
				case n > tc.most:
					w.WriteHeader(http.StatusRequestEntityTooLarge)
					return
				}
				asked = append(asked, n)
				// Each definition has a resource in each of two clusters, one of which is affected.
				result := impact.Result{Checked: 2 * n, Affected: n, Clusters: 2}
				for i := range n {
					result.Definitions = append(result.Definitions, impact.Definition{Name: fmt.Sprintf("d%d-%d", requests, i), Checked: 2, Affected: 1, Clusters: []string{"east", "west"}, Effects: []impact.Effect{}})
				}
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(map[string]any{"impact": result, "incomplete": []string{inOne}}) // The client sees that it is cut off.
			}))
			defer server.Close()
			older, newer := write(t, "old.yaml", manyBuckets(45, "small, large")), write(t, "new.yaml", manyBuckets(45, "large"))
			args := slices.Concat([]string{older, newer, "--portal", server.URL}, tc.args)
			code, out, notes := diffed(t, args...)
			if code != tc.code || !strings.Contains(out, "b44s.example.org") && !strings.Contains(out, `enum value "small" removed`) || !strings.Contains(notes, tc.notes) {
				t.Errorf("%s\nexit code is %d, want %d\n%s%s", tc.reason, code, tc.code, out, notes)
			}
			if diff := cmp.Diff(tc.asked, asked); diff != "" {
				t.Errorf("%s\nrequests (-want +got):\n%s", tc.reason, diff)
			}
			requests = 0
			_, out, _ = diffed(t, append(args, "--output-format", "json")...)
			var got document
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.incomplete, got.Incomplete); diff != "" {
				t.Errorf("%s\nincomplete (-want +got):\n%s", tc.reason, diff)
			}
			checked := 0
			if got.Impact != nil {
				checked = got.Impact.Checked
			}
			if checked != tc.checked || len(got.Definitions) != 45 {
				t.Errorf("%s\n%d resources of %d definitions are checked, want %d", tc.reason, checked, len(got.Definitions), tc.checked)
			}
			requests = 0
			_, out, _ = diffed(t, append(args, "--output-format", "markdown")...)
			for _, why := range tc.incomplete {
				if !strings.HasPrefix(out, marker) || !strings.Contains(out, "Incomplete: "+why) {
					t.Errorf("%s\ncomment lacks %q:\n%s", tc.reason, why, out)
				}
			}
		})
	}
}
