// Package judge compares our checks with the code that decides in a cluster:
// that of the API server and of Crossplane. The corpus of real definitions is
// outside the repository: the tests are skipped unless INGESTOR_CORPUS is set.
package judge

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
	"example.dev/ingestor/xrd/structural"
)

const kindDefinition = "CompositeResourceDefinition"

// file is a file of the corpus with one object in it.
type file struct {
	path string
	text []byte
	// object is the object that a cluster receives.
	object map[string]any
}

// files returns the files below folders of the corpus that contain one object
// in Crossplane's group, or of one of its definitions, ordered by path.
func files(t *testing.T, folders ...string) []file {
	t.Helper()
	root := os.Getenv("INGESTOR_CORPUS")
	if root == "" {
		t.Skip("INGESTOR_CORPUS is not set: no real definitions to test")
	}
	var all []file
	for _, folder := range folders {
		err := fs.WalkDir(os.DirFS(root), folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") {
				return err
			}
			text, err := os.ReadFile(filepath.Join(root, path))
			if err != nil {
				return err
			}
			if object := read(text); object != nil {
				all = append(all, file{path: path, text: text, object: object})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// read parses a file like kubectl. It returns nil unless there is exactly one
// object.
func read(text []byte) map[string]any {
	if bytes.Count(append([]byte("\n"), text...), []byte("\n---")) > 1 {
		return nil
	}
	raw, err := yaml.ToJSON(text)
	if err != nil {
		return nil
	}
	var object map[string]any
	// Whole numbers are integers, not floats, as in a server.
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	return object
}

// definitions returns the files that contain definitions in Crossplane's
// vocabulary.
func definitions(all []file) []file {
	return slices.DeleteFunc(all, func(f file) bool {
		version, _ := f.object["apiVersion"].(string)
		return f.object["kind"] != kindDefinition || !strings.HasPrefix(version, "apiextensions.crossplane.io/")
	})
}

// checked returns the errors that our checks find in a text.
func checked(text []byte) ([]finding.Finding, error) {
	var s xrd.Set
	if err := s.Read(bytes.NewReader(text), xrd.Origin{File: "in.yaml"}); err != nil {
		return nil, err
	}
	found := s.Findings
	for _, d := range s.Definitions {
		found = append(found, lint.Definition(d, lint.Options{Schemas: structural.Checker{}})...)
	}
	return slices.DeleteFunc(found, func(f finding.Finding) bool { return f.Severity != finding.Error }), nil
}

// each calls f for every index, on all CPUs.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
