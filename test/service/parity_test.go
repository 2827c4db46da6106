package service_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/ingestor"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/words"
)

// examples is the folder of the example definitions.
const examples = "../../examples"

// apart are the annotations for the place and time of discovery, which may
// differ between the command line and the service.
var apart = []string{
	words.AnnotationSourceLocation, words.AnnotationManagedBy, words.AnnotationManagedByOrigin,
	words.AnnotationDiscoveredAt, words.AnnotationDiscoveredFrom, words.AnnotationStale, words.AnnotationStaleSince,
}

// plain removes from an entity the fields that may differ and those that the
// catalog adds, and returns its reference. The name of a composite ends with a
// hash over its cluster and other values; the hash is removed if one of the two
// sides knows no cluster.
func plain(e map[string]any, unplaced bool) string {
	delete(e, "relations")
	meta, _ := e["metadata"].(map[string]any)
	delete(meta, "uid")
	delete(meta, "etag")
	annotations, _ := meta["annotations"].(map[string]any)
	for _, key := range apart {
		for _, spelling := range words.Spellings(words.Key, key) {
			delete(annotations, spelling)
		}
	}
	if meta["namespace"] == nil {
		meta["namespace"] = "default"
	}
	spec, _ := e["spec"].(map[string]any)
	if name, _ := meta["name"].(string); unplaced && spec["type"] == "crossplane-xr" {
		meta["name"] = name[:len(name)-len("-01234567")]
	}
	return strings.ToLower(fmt.Sprintf("%v:%v/%v", e["kind"], meta["namespace"], meta["name"]))
}

// printed returns what the command line prints with a configuration, from its
// sources or from files that the service reads from a cluster.
func printed(t *testing.T, profile, file string, paths ...string) map[string]any {
	t.Helper()
	var out, notes bytes.Buffer
	code := app.Run(t.Context(), ingestor.Name, &app.Env{
		Args:   append([]string{"--config", file, "--profile", profile, "--stdout", "--format", "json"}, paths...),
		Stdout: &out, Stderr: &notes, Now: time.Now, Getenv: func(string) string { return "" },
	}, ingestor.Run)
	if code != app.ExitOK && code != app.ExitInvalid {
		t.Fatalf("ingestor-cli ended with %d: %s", code, notes.String())
	}
	all := map[string]any{}
	for line := range bytes.Lines(out.Bytes()) {
		var e map[string]any
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("cannot parse output: %v in %s", err, line)
		}
		all[plain(e, len(paths) > 0)] = e
	}
	if len(all) == 0 {
		t.Fatalf("ingestor-cli printed no entities: %s", notes.String())
	}
	return all
}

// catalogued waits until every source was scanned and the catalog has exactly
// these entities, and returns them.
func catalogued(s *service, want map[string]any, unplaced bool) map[string]any {
	s.t.Helper()
	// An entity that is built while its source is read has only a part of its objects.
	for _, source := range s.health().Sources {
		s.scan(source.Name)
	}
	all := map[string]any{}
	s.until("the entities that ingestor-cli prints", func() error {
		var list []map[string]any
		if _, err := s.get("/api/catalog/entities", &list); err != nil {
			return err
		}
		clear(all)
		for _, e := range list {
			all[plain(e, unplaced)] = e
		}
		var lacks, more []string
		for _, ref := range slices.Sorted(maps.Keys(want)) {
			if all[ref] == nil {
				lacks = append(lacks, ref)
			}
		}
		for _, ref := range slices.Sorted(maps.Keys(all)) {
			if want[ref] == nil {
				more = append(more, ref)
			}
		}
		if len(lacks)+len(more) > 0 {
			return fmt.Errorf("catalog should have %d entities; missing are %d %q, unexpected are %d %q", len(want), len(lacks), lacks[:min(20, len(lacks))], len(more), more[:min(20, len(more))])
		}
		return nil
	})
	return all
}

// compareEntities compares printed entities with those of the catalog.
func compareEntities(t *testing.T, want, got map[string]any) {
	t.Helper()
	shown := 0
	for _, ref := range slices.Sorted(maps.Keys(want)) {
		if diff := cmp.Diff(want[ref], got[ref]); diff != "" && shown < 5 {
			t.Errorf("%s (- ingestor-cli, + service):\n%s", ref, diff)
			shown++
		}
	}
	t.Logf("%d entities are equal", len(want))
}

// parity returns a configuration with settings that affect entities.
func parity(more sections) sections {
	out := sections{
		"defaultOwner": "team-red", "defaultSystem": "shop",
		"templateGeneration": sections{"addGitOpsActions": true, "defaultNamespace": "sandbox"},
		"schedule":           sections{"frequency": "1h"},
	}
	maps.Copy(out, more)
	return out
}

// TestParityFiles checks that ingestor-cli prints the same entities for files
// as the service writes.
func TestParityFiles(t *testing.T) {
	t.Parallel()
	folders := map[string]string{"Examples": examples, "Copies": copies(t)}
	if corpus := os.Getenv("INGESTOR_CORPUS"); corpus != "" {
		folders["Corpus"] = copyDefinitions(t, corpus, 300)
	}
	for name, folder := range folders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, err := filepath.Abs(folder)
			if err != nil {
				t.Fatal(err)
			}
			settings := sections{"sources": []any{sections{"name": "files", "type": "file", "path": path}}}
			if name == "Copies" {
				settings["xrdFilters"] = sections{"namespaces": []any{"default"}, "exclude": []any{"copy7s." + group}}
			}
			with := setup{sections: sections{"composerIngestor": parity(settings)}}
			want := printed(t, "composerIngestor", with.write(t, "127.0.0.1:1"))
			compareEntities(t, want, catalogued(start(t, with), want, false))
		})
	}
}

// copies writes several definitions and Compositions of the same name, in one
// file and in several, so that one of each must be selected.
func copies(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i := range 8 {
		plural := fmt.Sprintf("copy%ds", i)
		put(t, filepath.Join(dir, "b", plural+".yaml"), definition(plural, "second")+"---\n"+definition(plural, "third"))
		put(t, filepath.Join(dir, "c", plural+".yaml"), definition(plural, "fourth")+"---\n"+definition(plural, "fifth"))
		one := composition(plural, plural)
		put(t, filepath.Join(dir, "c", "composition"+plural+".yaml"), edited(one, "step: one", "step: two")+"---\n"+edited(one, "step: one", "step: three"))
		// This Composition is for another kind; it hides another one or is
		// hidden.
		other := composition(plural, fmt.Sprintf("copy%ds", (i+1)%8))
		put(t, filepath.Join(dir, string("bd"[i%2]), "other"+plural+".yaml"), other)
		put(t, filepath.Join(dir, "e", plural+".yaml"), composite("mine", plural)+"---\n"+edited(composite("mine", plural), "spec: {}", "spec: {one: two}")+
			"---\n"+edited(composite("yours", plural), "namespace: default", "namespace: elsewhere"))
	}
	return dir
}

// copyDefinitions copies real definitions into a folder, with the label for ingestion and
// all their Compositions and composites.
func copyDefinitions(t *testing.T, corpus string, most int) string {
	t.Helper()
	dir := t.TempDir()
	for _, part := range []string{"xrds", "compositions", "xrs"} {
		n := 0
		err := filepath.WalkDir(filepath.Join(corpus, part), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || n >= most && part == "xrds" || n >= 3*most {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text, ok := ingestible(string(data))
			if part == "xrds" && !ok {
				return nil
			}
			n++
			put(t, filepath.Join(dir, part, fmt.Sprintf("%d-%s", n, entry.Name())), text)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ingestible adds the label to a definition in the usual layout.
func ingestible(text string) (string, bool) {
	const label = "    openportal.dev/ingest: \"true\"\n"
	if at := strings.Index(text, "\n  labels:\n"); at >= 0 && strings.Count(text, "\n  labels:\n") == 1 {
		at += len("\n  labels:\n")
		return text[:at] + label + text[at:], true
	}
	if at := strings.Index("\n"+text, "\nmetadata:\n"); at >= 0 && !strings.Contains(text, "\n  labels:") && strings.Count(text, "metadata:\n") == 1 {
		at += len("metadata:\n")
		return text[:at] + "  labels:\n" + label + text[at:], true
	}
	return text, false
}

// TestParityClusters checks that ingestor-cli prints the same entities for
// files as the service writes after the files were applied to a cluster.
func TestParityClusters(t *testing.T) {
	t.Parallel()
	path, err := filepath.Abs(examples)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(path, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c := apiserver.Start(t, apiserver.Options{CRDs: "both", XRCRDs: true})
	c.Apply(t, files...)
	for _, profile := range []string{"composerIngestor", "clusterIngestor"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			with := setup{sections: sections{"composerIngestor": parity(sections{"clusters": []any{cluster("prod", c)}})}}
			if profile == "clusterIngestor" {
				with.sections = sections{
					"clusterIngestor": sections{"composer": sections{"xrds": sections{"ingestAllXRDs": true}}},
					"orchestrator": sections{
						"serviceLocatorMethod":  sections{"type": "multiTenant"},
						"clusterLocatorMethods": []any{sections{"type": "config", "clusters": []any{cluster("prod", c)}}},
					},
				}
			}
			want := printed(t, profile, with.write(t, "127.0.0.1:1"), files...)
			compareEntities(t, want, catalogued(start(t, with), want, true))
		})
	}
}
