package service_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/app"
	composercli "example.dev/ingestor/internal/cli/composer"
	"example.dev/ingestor/test/apiserver"
)

// composed runs composer-ingestor and returns its output.
func composed(t *testing.T, args ...string) string {
	t.Helper()
	var out, notes bytes.Buffer
	code := app.Run(t.Context(), composercli.Name, &app.Env{
		Args: args, Stdout: &out, Stderr: &notes, Stdin: strings.NewReader(""), Now: time.Now, Getenv: func(string) string { return "" },
	}, composercli.Run)
	if code != app.ExitOK {
		t.Fatalf("composer-ingestor %q ended with %d: %s%s", args, code, out.String(), notes.String())
	}
	return out.String()
}

// exported returns the entities that composer-ingestor export writes, without
// the Location.
func exported(t *testing.T, file string) map[string]any {
	t.Helper()
	dir := t.TempDir()
	composed(t, "export", "--config", file, "--composites", "--output", dir)
	all := map[string]any{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "catalog-info.yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		docs, bad := parser.DecodeBytes(data)
		if len(docs) != 1 || len(bad) > 0 {
			t.Fatalf("%s has %d documents, want 1; errors: %v", path, len(docs), bad)
		}
		var e map[string]any
		if err := json.Unmarshal(tree.AppendJSON(nil, docs[0], ""), &e); err != nil {
			return err
		}
		all[plain(e, false)] = e
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// bothIngestors returns a configuration of both ingestors, and the cluster they
// read: definitions for the first, for the second, for both and for neither,
// with several versions, Compositions, composites and workloads.
func bothIngestors(t *testing.T) setup {
	t.Helper()
	twice := strings.Replace(versioned(formed("taus", "true")), "labels: {", "labels: {openportal.dev/ingest: \"true\", ", 1)
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{
		definition("rhos", "one"), versioned(formed("sigmas", "true")), twice, formed("upsilons", "no"), v1Definition(formed("phis", "true")),
		composition("rhos", "rhos"), composition("sigmas", "sigmas"), composition("taus", "taus"), composite("mine", "rhos"), composite("yours", "sigmas"),
		workload("Deployment", "front", idUpstream, "shop"), workload("CronJob", "nightly", idUpstream, "shop"), workload("StatefulSet", "state", idContract, "state"),
	}})
	return setup{sections: both(cluster("prod", c), sections{}, sections{"composerIngestor": parity(sections{"clusters": []any{cluster("prod", c)}})})}
}

// TestParityExport compares the output of composer-ingestor for both ingestors
// with what the service writes: definitions, versions, Components.
func TestParityExport(t *testing.T) {
	t.Parallel()
	with := bothIngestors(t)
	file := with.write(t, "127.0.0.1:1")
	want := exported(t, file)
	s := start(t, with)
	compareEntities(t, want, catalogued(s, want, false))
	for _, ref := range []string{
		template("rhos"), template("sigmas") + "-v1", template("sigmas") + "-v1beta1", template("taus"), "component:default/shop", "component:default/state",
	} {
		if want[ref] == nil {
			t.Errorf("export does not contain %s: %q", ref, slices.Sorted(maps.Keys(want)))
		}
	}
	if want[template("taus")+"-v1"] != nil || want[template("sigmas")] != nil {
		t.Errorf("definition was ingested twice: %q", slices.Sorted(maps.Keys(want)))
	}
	t.Run("discover", func(t *testing.T) {
		var found struct {
			Discovered []struct{ Metadata struct{ Name string } }
			Components []struct{ Name string }
		}
		if err := json.Unmarshal([]byte(composed(t, "discover", "--config", file, "--output", "json")), &found); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, d := range found.Discovered {
			names = append(names, d.Metadata.Name)
		}
		for _, c := range found.Components {
			names = append(names, c.Name)
		}
		if got := []string{"rhos." + group, "sigmas." + group, "taus." + group, "shop", "state"}; !slices.Equal(names, got) {
			t.Errorf("discover listed %q, want %q", names, got)
		}
	})
	t.Run("explain", func(t *testing.T) { explains(t, s, file) })
	t.Run("transform", func(t *testing.T) {
		out := composed(t, "transform", "--config", file, "--cluster", "prod", "--xrd", "sigmas."+group, "--stdout")
		for _, want := range []string{"name: sigmas." + group + "-v1\n", "name: sigmas." + group + "-v1beta1\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("output of transform does not contain %q:\n%s", want, out)
			}
		}
	})
	t.Run("test-connection", func(t *testing.T) {
		out := composed(t, "test-connection", "--config", file)
		for _, want := range []string{"composerIngestor, cluster prod", "clusterIngestor, cluster prod", "list deployments.apps"} {
			if !strings.Contains(out, want) {
				t.Errorf("output of test-connection does not contain %q:\n%s", want, out)
			}
		}
	})
}

// explains compares the explanations of the command and of the service for each
// definition.
func explains(t *testing.T, s *service, file string) {
	for _, plural := range []string{"rhos", "sigmas", "taus", "upsilons", "phis"} {
		name := plural + "." + group
		var got struct {
			Definitions []struct {
				TakenBy  string
				Entities []struct{ Kind, Namespace, Name string }
			}
		}
		if err := json.Unmarshal([]byte(composed(t, "explain", "--config", file, "--xrd", name, "--output", "json")), &got); err != nil {
			t.Fatal(err)
		}
		var want struct {
			TakenBy  string
			Entities []string
		}
		if _, err := s.get("/api/composer-ingestor/explain/"+name, &want); err != nil {
			t.Fatal(err)
		}
		if len(got.Definitions) != 1 || got.Definitions[0].TakenBy != want.TakenBy {
			t.Errorf("%s: command returned %+v, service %+v", name, got, want)
			continue
		}
		if want.TakenBy == "" {
			continue // The command shows the entities that would be made of it.
		}
		var made []string
		for _, e := range got.Definitions[0].Entities {
			made = append(made, strings.ToLower(e.Kind)+":"+e.Namespace+"/"+e.Name)
		}
		// The command does not read composites.
		want.Entities = slices.DeleteFunc(want.Entities, func(ref string) bool {
			return strings.Contains(ref, "/mine") || strings.Contains(ref, "/yours") || strings.Contains(ref, "-mine-") || strings.Contains(ref, "-yours-")
		})
		slices.Sort(made)
		slices.Sort(want.Entities)
		if !slices.Equal(made, want.Entities) {
			t.Errorf("%s: command makes %q, service makes %q", name, made, want.Entities)
		}
	}
}
