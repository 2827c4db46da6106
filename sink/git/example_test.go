package git_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	gogit "github.com/go-git/go-git/v5"

	"example.dev/ingestor/sink/git"
)

// Files are written to a folder of a branch in one commit; files of the
// previous commit that are no longer written are removed.
func ExampleSink_Commit() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	repository := filepath.Join(dir, "catalog.git")
	if _, err := gogit.PlainInit(repository, true); err != nil {
		fmt.Println(err)
		return
	}

	to := git.New(repository, git.Options{Branch: "catalog", Path: "entities", Manifest: ".written.json", Prune: true})
	for _, files := range []map[string][]byte{
		{"a.yaml": []byte("kind: API\n"), "b.yaml": []byte("kind: System\n")},
		{"a.yaml": []byte("kind: API\n"), "b.yaml": []byte("kind: System\n")},
		{"b.yaml": []byte("kind: Domain\n")},
	} {
		r, err := to.Commit(context.Background(), files)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Pushed, r.Added, r.Changed, r.Removed)
	}
	// Output:
	// true [entities/a.yaml entities/b.yaml] [] []
	// false [] [] []
	// true [] [entities/b.yaml] [entities/a.yaml]
}
