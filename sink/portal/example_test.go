package portal_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"example.dev/ingestor/sink/portal"
	"example.dev/ingestor/source/file"
)

const shop = `{"apiVersion":"portal.io/v1alpha1","kind":"Component","metadata":{"name":"shop"},"spec":{"type":"website","lifecycle":"production","owner":"shops"}}
`

// backend returns a portal that accepts everything.
func backend() *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/catalog/providers", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"items":[]}`) })
	mux.HandleFunc("PUT /api/catalog/providers/{name}/entities", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"added":1,"updated":0,"removed":0,"unchanged":0,"kept":0,"refused":[]}`)
	})
	return httptest.NewServer(mux)
}

// A push has one entity per line; the report has the result of each.
func Example() {
	server := backend()
	defer server.Close()

	p, err := portal.New(server.URL, portal.Options{
		Provider: "shops",
		Token:    func() (string, error) { return "a-token-of-the-portal", nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := p.Push(context.Background(), strings.NewReader(shop), portal.PushOptions{Mode: portal.Full})
	fmt.Println(report.Added, "added,", len(report.Refused), "refused,", err)
	// Output: 1 added, 0 refused, <nil>
}

// An XrdTemplateProvider keeps the catalog in sync with a folder: once with
// Sync, or with Run for as long as the program runs. A watch of the folder
// reports changes to it.
func ExampleXrdTemplateProvider() {
	server := backend()
	defer server.Close()
	dir, err := os.MkdirTemp("", "entities-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is a temporary directory
	if err := os.WriteFile(filepath.Join(dir, "shop.json"), []byte(shop), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	p, err := portal.New(server.URL, portal.Options{Provider: "shops"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	provider := portal.NewXrdTemplateProvider(p, os.DirFS(dir), portal.ProviderOptions{
		Watch: file.New([]string{dir}, file.Options{Recursive: true}).Watch,
		Synced: func(r portal.Report, err error) {
			fmt.Println(r.Added, "added,", err)
			cancel() // A service would continue.
		},
	})
	fmt.Println(provider.Run(ctx))
	// Output:
	// 1 added, <nil>
	// <nil>
}
