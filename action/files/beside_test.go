package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/actiontest"
	"example.dev/ingestor/internal/secret"
)

// TestBeside checks relative URLs of a Template in a dry run: nothing is read
// from the local disk, and absolute URLs are still fetched.
func TestBeside(t *testing.T) {
	elsewhere := FetcherFunc(func(_ context.Context, _, address string, _ secret.Text, _ May) (*Tree, error) {
		return nil, errors.New("asked for " + address)
	})
	s := actiontest.New(t, Actions(Options{Fetcher: elsewhere}))
	beside := func(c *action.Call) { c.Beside = fstest.MapFS{"skeleton/a.txt": {Data: []byte("${{ values.x }}")}} }
	if _, err := s.Run(ActionTemplate, "{url: ./skeleton, values: {x: it}}", beside); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(s.Dir, "a.txt")); err != nil || string(got) != "it" {
		t.Errorf("%q (%v)", got, err)
	}
	for address, want := range map[string]string{
		"../other":                "outside the workspace",
		"/etc":                    "outside the workspace",
		"./none":                  "none",
		"https://example.org/a/b": "asked for https://example.org/a/b",
		"git@example.org:a/b.git": "asked for git@example.org:a/b.git",
		"file:///etc/passwd":      "asked for file:///etc/passwd",
	} {
		if _, err := s.Run(ActionFetch, "{url: '"+address+"'}", beside); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
