package service_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/xrd"
)

// built builds a program of the repository with linker flags, and returns its
// path.
func built(t *testing.T, pkg, name, flags string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags", flags, "-o", path, pkg)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot build %s: %v\n%s", pkg, err, out)
	}
	return path
}

// printedBy runs a program and returns the entities that it prints as one JSON
// object per line.
func printedBy(t *testing.T, executable string, args ...string) map[string]any {
	t.Helper()
	var out, notes bytes.Buffer
	cmd := exec.CommandContext(t.Context(), executable, args...)
	cmd.Stdout, cmd.Stderr = &out, &notes
	if err := cmd.Run(); err != nil {
		t.Fatalf("program failed: %v: %s", err, notes.String())
	}
	all := map[string]any{}
	for line := range bytes.Lines(out.Bytes()) {
		var e map[string]any
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		all[plain(e, false)] = e
	}
	return all
}

// TestExtending builds the backend and the command line of examples/extending
// with the same hooks. It checks that both produce the same entities, with the
// organisation's annotation, and that a build with changed hooks rebuilds every
// entity although no definition has changed and the database has all of them.
func TestExtending(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "rhos.yaml"), definition("rhos", "one"))
	put(t, filepath.Join(dir, "more.yaml"), composition("rhos", "rhos")+"---\n"+composite("mine", "rhos"))
	with := setup{sections: sections{"composerIngestor": parity(sections{
		"sources":         []any{sections{"name": "files", "type": "file", "path": dir}},
		"changeDetection": sections{"storage": "database", "method": "hash"},
	})}}
	cli := built(t, "./examples/extending/cli", "ingestor-cli", "")
	args := []string{"--config", with.write(t, "127.0.0.1:1"), "--profile", "composerIngestor", "--stdout", "--format", "json"}
	want := printedBy(t, cli, args...)
	if len(want) < 4 || !strings.Contains(fmt.Sprint(want), "example.org/runbook:https://runbooks.example.org/rhos") || !strings.Contains(fmt.Sprint(want), "costCentre") {
		t.Fatalf("ingestor-cli printed no annotation of the hooks: %v", want)
	}
	with.executable = built(t, "./examples/extending/backend", "portal-backend", "")
	p := launch(t, with).ready()
	compareEntities(t, want, catalogued(p.service, want, false))
	p.Kill()

	const other = "-X example.dev/ingestor/examples/extending.runbooks=https://wiki.example.org/"
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	// Links are not part of a spec, so no version mark changes.
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte("https://runbooks.example.org/"), []byte("https://wiki.example.org/")), &want); err != nil {
		t.Fatal(err)
	}
	with.executable = built(t, "./examples/extending/backend", "portal-backend", other)
	p = launch(t, with).ready()
	p.until("the annotation of the changed hooks", func() error {
		var list []map[string]any
		if _, err := p.get("/api/catalog/entities", &list); err != nil {
			return err
		}
		if text := fmt.Sprint(list); len(list) == 0 || strings.Contains(text, "runbooks.example.org") {
			return errors.New("catalog still has entities of the previous hooks")
		}
		return nil
	})
	compareEntities(t, want, catalogued(p.service, want, false))
}

// TestExtensionFails checks that a hook that panics or returns an error fails
// one definition, which is named. The other definitions are ingested, and the
// existing entities of the failed one are kept.
func TestExtensionFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, plural := range []string{"rhos", "sigmas", "taus"} {
		put(t, filepath.Join(dir, plural+".yaml"), definition(plural, "one"))
	}
	with := setup{sections: sections{"composerIngestor": parity(sections{
		"sources":    []any{sections{"name": "files", "type": "file", "path": dir}},
		"processing": sections{"retryAttempts": 0},
	})}, database: sections{"client": "sqlite", "connection": sections{"filename": filepath.Join(t.TempDir(), "portal.sqlite")}}}
	s := start(t, with)
	all := []string{template("rhos"), template("sigmas"), template("taus")}
	s.waitForRefs("kind=template", all...)
	s.stop()
	with.extension = engine.Extension{Version: "2", Hooks: engine.Hooks{
		PreProcess: func(d *xrd.Definition) (*xrd.Definition, error) {
			switch d.Name {
			case "rhos." + group:
				panic("no rhos today")
			case "sigmas." + group:
				return nil, errors.New("no sigmas either")
			}
			return d, nil
		},
		PostProcess: func(es []*entity.Entity) ([]*entity.Entity, error) {
			for _, e := range es {
				e.Metadata.Annotations["example.org/second"] = "yes"
			}
			return es, nil
		},
	}}
	s = start(t, with)
	s.until("the hook's annotation on taus", func() error {
		if e := s.entity(template("taus")); e == nil || e.Metadata.Annotations["example.org/second"] != "yes" {
			return fmt.Errorf("template of taus is %+v", e)
		}
		return nil
	})
	s.until("the failures in health", func() error {
		failures := s.health().Failures
		if !strings.Contains(failures["rhos."+group], "no rhos today") || !strings.Contains(failures["sigmas."+group], "no sigmas either") || len(failures) != 2 {
			return fmt.Errorf("failures are %q", slices.Sorted(maps.Keys(failures)))
		}
		return nil
	})
	s.waitForRefs("kind=template", all...)
}
