package portal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// component returns a small entity as JSON.
func component(name string) string {
	return `{"apiVersion":"portal.io/v1alpha1","kind":"Component","metadata":{"name":"` + name +
		`"},"spec":{"type":"service","lifecycle":"production","owner":"team"}}`
}

// folder returns files with their contents.
func folder(files ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		out[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return out
}

func TestSync(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  fstest.MapFS
		opts   ProviderOptions
		pushed string // pushed names, empty if nothing was pushed
		err    string
	}{
		"Whole": {
			reason: "Files are read in the order of their paths, including subfolders, and no other files.",
			files: folder("b/c.json", component("c"), "a.yaml", component("a")+"\n---\n"+component("b"), "d.YML", component("d"),
				"README.md", "# no", ".hidden.yaml", component("x"), ".git/x.yaml", component("x")),
			pushed: "a b c d",
		},
		"Empty":   {reason: "A folder without entities is an error.", files: folder("README.md", ""), err: "no entities found"},
		"Allowed": {reason: "A folder without entities is accepted if AllowEmpty is set.", files: folder(), opts: ProviderOptions{AllowEmpty: true}, pushed: "-"},
		"Invalid": {
			reason: "An invalid entity prevents the push.", files: folder("a.yaml", component("a"), "b.yaml", "kind: Component"),
			err: "cannot push the folder: 3 errors, the first: b.yaml:1:1: ",
		},
		"Broken": {reason: "A file that cannot be parsed prevents the push.", files: folder("a.yaml", component("a"), "b.yaml", "a: ["), err: "b.yaml:1"},
		"Failed": {reason: "A failure record prevents the push.", files: folder("a.json", component("a")+"\n"+`{"error":{"message":"no cluster"}}`), err: "not complete: no cluster"},
		"Less":   {reason: "A push that removes more than half is refused.", files: folder("a.yaml", component("a")), err: "more than half"},
		"Meant":  {reason: "A push that removes more than half is accepted if AllowRemovals is set.", files: folder("a.yaml", component("a")), opts: ProviderOptions{AllowRemovals: true}, pushed: "a"},
		"Twice":  {reason: "A duplicate entity is refused.", files: folder("a.yaml", component("a"), "b.yaml", component("a")), err: "duplicate component:default/a, first at a.yaml:1:1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var pushed string
			portal := newStage(t, func(_ int, w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					fmt.Fprintf(w, `{"items":[{"name":%q,"entities":%d}]}`, DefaultProvider, 3)
					return
				}
				fmt.Fprint(w, `{"added":7}`)
			})
			r, err := NewXrdTemplateProvider(open(t, portal.URL, Options{}), tc.files, tc.opts).Sync(t.Context())
			for _, asked := range portal.requests() {
				if strings.HasPrefix(asked, "PUT") {
					pushed = names(asked)
				}
			}
			if pushed != tc.pushed || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) || err == nil && r.Added != 7 {
				t.Errorf("%s\npushed %q, %v, %v; want %q, %q", tc.reason, pushed, r, err, tc.pushed, tc.err)
			}
		})
	}
}

// names returns the names of the entities in a request; "-" if there are none.
func names(text string) string {
	var out []string
	for _, part := range strings.Split(text, `"name":"`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		out = append(out, name)
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, " ")
}

// TestRun checks that changes are pushed, and that errors are reported and do
// not end the run.
func TestRun(t *testing.T) {
	s := newStage(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"items":[]}`)
			return
		}
		fmt.Fprint(w, `{}`)
	})
	files := folder("a.yaml", component("a"))
	var mu sync.Mutex
	var synced []string
	touch := make(chan string)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := NewXrdTemplateProvider(open(t, s.URL, Options{}), files, ProviderOptions{
		Watch: func(ctx context.Context, changed func()) error {
			for {
				select {
				case text := <-touch:
					files["a.yaml"] = &fstest.MapFile{Data: []byte(text)}
					changed()
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		},
		Synced: func(_ Report, err error) {
			mu.Lock()
			defer mu.Unlock()
			text := "fine"
			if err != nil {
				text = "broken"
			}
			synced = append(synced, text)
		},
	})
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	until := func(n int) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
			mu.Lock()
			enough := len(synced) == n
			mu.Unlock()
			if enough {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("timed out waiting for sync %d: %q", n, synced)
			}
		}
	}
	until(1)
	touch <- "a: ["
	until(2)
	touch <- component("b")
	until(3)
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("got %v, want a cancellation", err)
	}
	if diff := cmp.Diff([]string{"fine", "broken", "fine"}, synced); diff != "" {
		t.Errorf("results of syncs (-want +got):\n%s", diff)
	}
}

// TestRunUnwatched checks that a provider without a watch reports so, unless it
// polls.
func TestRunUnwatched(t *testing.T) {
	s := newStage(t, always(http.StatusOK, `{"items":[]}`))
	broken := errors.New("there are too many watches")
	opts := ProviderOptions{Watch: func(context.Context, func()) error { return broken }}
	if err := NewXrdTemplateProvider(open(t, s.URL, Options{}), folder("a.yaml", component("a")), opts).Run(t.Context()); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	opts.Every = time.Millisecond
	n := 0
	opts.Synced = func(Report, error) {
		if n++; n == 3 {
			cancel()
		}
	}
	if err := NewXrdTemplateProvider(open(t, s.URL, Options{}), folder("a.yaml", component("a")), opts).Run(ctx); err != nil || n != 3 {
		t.Errorf("got %v after %d", err, n)
	}
}
