// Package e2e runs whole programs against real clusters and backends.
package e2e

import (
	"bytes"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// TestParity applies definitions to a real cluster and checks that the entities
// generated from the cluster equal those generated from the files, byte for byte,
// apart from the origin annotations. It uses the examples and, with
// INGESTOR_CORPUS set, every real definition that the server accepts.
func TestParity(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{CRDs: "both"})
	files := readFiles(t, filepath.Join("..", "..", "examples"))
	examples := len(files)
	if corpus := os.Getenv("INGESTOR_CORPUS"); corpus != "" {
		for name, d := range readFiles(t, filepath.Join(corpus, "xrds")) {
			if files[name] == nil {
				files[name] = d
			}
		}
	} else {
		t.Log("INGESTOR_CORPUS is not set: examples only")
	}
	accepted := create(t, s, files)
	if accepted < examples || len(files) > examples && accepted < len(files)/2 {
		t.Errorf("API server accepted %d of %d definitions", accepted, len(files))
	}

	c, err := cluster.Connect(source.Cluster{Name: "real", Kubeconfig: s.Kubeconfig}, cluster.Options{PageSize: 100})
	if err != nil {
		t.Fatal(err)
	}
	set, err := c.Read(t.Context(), cluster.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Definitions) != accepted {
		t.Errorf("%d definitions were read of %d that were accepted", len(set.Definitions), accepted)
	}
	same := 0
	for _, d := range set.Definitions {
		file := files[d.Name]
		if file == nil {
			t.Errorf("%s was not applied", d.Name)
			continue
		}
		equal := true
		for _, profile := range engine.Profiles {
			if diff := cmp.Diff(entities(t, profile, file), entities(t, profile, d)); diff != "" {
				equal = false
				t.Errorf("%s: profile %s (-file +cluster):\n%.2000s", d.Name, profile.Name, diff)
				break
			}
		}
		if equal {
			same++
		}
	}
	t.Logf("%d definitions, %d accepted by the API server, %d have the same entities from the file and from the cluster", len(files), accepted, same)
}

// readFiles reads the definitions below a folder and keeps the first of each name.
func readFiles(t *testing.T, dir string) map[string]*xrd.Definition {
	t.Helper()
	out := map[string]*xrd.Definition{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var set xrd.Set
		if err := set.Read(bytes.NewReader(data), xrd.Origin{File: path}); err != nil {
			return err
		}
		for _, d := range set.Definitions {
			if out[d.Name] == nil {
				out[d.Name] = d
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// create creates definitions and returns how many the API server accepts.
func create(t *testing.T, s *apiserver.Server, defs map[string]*xrd.Definition) int {
	t.Helper()
	work := make(chan *xrd.Definition)
	var accepted atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for d := range work {
				path := s.URL + "/apis/" + d.Node.Get("apiVersion").Str() + "/compositeresourcedefinitions"
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, path, bytes.NewReader(tree.AppendJSON(nil, d.Node, "")))
				if err != nil {
					continue // The apiVersion is invalid.
				}
				req.Header.Set("Content-Type", "application/json")
				resp, err := s.Client().Do(req)
				if err != nil {
					t.Error(err)
					continue
				}
				body, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode == http.StatusCreated {
					accepted.Add(1)
					continue
				}
				t.Logf("%s was not accepted: %s: %.200s", d.Name, resp.Status, body)
			}
		})
	}
	for _, d := range defs {
		work <- d
	}
	close(work)
	wg.Wait()
	return int(accepted.Load())
}

// entities returns the entities that a profile generates from a definition, as
// text without the origin annotations; empty if the profile skips it.
func entities(t *testing.T, profile engine.Profile, d *xrd.Definition) string {
	t.Helper()
	var out strings.Builder
	if ok, why := profile.Admit(d); !ok {
		return "refused: " + why
	}
	res, err := engine.New(profile, engine.Options{}, engine.Hooks{}).Transform(engine.Input{Definition: d})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range res.Entities {
		for _, key := range []string{
			words.AnnotationSourceLocation, words.AnnotationManagedBy, words.AnnotationManagedByOrigin, words.AnnotationDiscoveredFrom,
		} {
			for _, spelling := range words.Spellings(words.Key, key) {
				delete(e.Metadata.Annotations, spelling)
			}
		}
		out.Write(entity.AppendYAML(nil, e))
	}
	return out.String()
}
