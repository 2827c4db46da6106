package composer

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
)

// files lists the files below a directory.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// location returns the text of the Location.
func location(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "catalog-info.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestExport(t *testing.T) {
	a := newStandIn(t, definition("apps.example.org"), unlabelled("bees.example.org"))
	a.others["/apis/example.org/v1/apps"] = []object{{"metadata": object{"name": "shop", "namespace": "team-a"}}}
	a.others["/apis/example.org/v1/namespaces/team-a/apps"] = a.others["/apis/example.org/v1/apps"]
	config := configure(t, "xrdFilters:\n  namespaces: [team-a]\n", a)
	out := filepath.Join(t.TempDir(), "out")
	stdout, notes, code := run(t, "export", "--config", config, "--output", out)
	if code != app.ExitOK || stdout != "" {
		t.Fatalf("exit code %d, %q\n%s", code, stdout, notes)
	}
	want := []string{"API/apps.example.org-api.yaml", "Resource/apps.example.org-xrd.yaml", "Template/apps.example.org.yaml", "catalog-info.yaml"}
	if diff := cmp.Diff(want, files(t, out)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	wantLocation := `apiVersion: backstage.io/v1alpha1
kind: Location
metadata:
  name: composer-ingestor
  description: Entities of composite resource definitions
spec:
  targets:
    - "./API/apps.example.org-api.yaml"
    - "./Resource/apps.example.org-xrd.yaml"
    - "./Template/apps.example.org.yaml"
`
	if diff := cmp.Diff(wantLocation, location(t, out)); diff != "" {
		t.Errorf("Location (-want +got):\n%s", diff)
	}
	wantNotes := "cluster a (" + a.URL + "): 2 definitions\n" +
		"1 definition not selected (bees.example.org: label openportal.dev/ingest: \"true\" is missing; see explain)\n" +
		"3 entities from 1 definition (1 Template, 1 API, 1 Resource) in 3 files under " + out + "\n"
	if diff := cmp.Diff(wantNotes, notes); diff != "" {
		t.Errorf("standard error (-want +got):\n%s", diff)
	}
	a.calls()
	if _, notes, code := run(t, "export", "--config", config, "--output", out, "--composites", "--words", "portal"); code != app.ExitOK {
		t.Errorf("exit code %d\n%s", code, notes)
	}
	if text := location(t, out); !strings.HasPrefix(text, "apiVersion: portal.io/v1alpha1\n") || strings.Count(text, "./Resource/shop-") != 1 {
		t.Errorf("Location lacks composites or has another vocabulary:\n%s", text)
	}
	for _, call := range a.calls() {
		if strings.HasSuffix(call, "/bees") || call == "/apis/example.org/v1/apps" {
			t.Errorf("request %s is for composites of other definitions or namespaces", call)
		}
	}
}

// TestExportWithout checks that no catalog is written without entities.
func TestExportWithout(t *testing.T) {
	config := configure(t, "", newStandIn(t, unlabelled("bees.example.org")))
	out := filepath.Join(t.TempDir(), "out")
	_, notes, code := run(t, "export", "--config", config, "--output", out)
	if _, err := os.Stat(out); code != app.ExitNothing || !os.IsNotExist(err) {
		t.Errorf("exit code %d, %v\n%s", code, err, notes)
	}
}

// TestExportOutage checks that an unreachable cluster removes nothing from the
// catalog, and that stale entities are removed once everything can be read.
func TestExportOutage(t *testing.T) {
	a, b := newStandIn(t, definition("apps.example.org")), newStandIn(t, definition("bees.example.org"))
	config := configure(t, "", a, b)
	out := t.TempDir()
	export := func(code int, args ...string) string {
		t.Helper()
		_, notes, got := run(t, append([]string{"export", "--config", config, "--output", out}, args...)...)
		if got != code {
			t.Errorf("exit code %d, want %d\n%s", got, code, notes)
		}
		return notes
	}
	has := func(reason string, text string, want bool, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if strings.Contains(text, p) != want {
				t.Errorf("%s: %q is contained: %v, want %v, in\n%s", reason, p, !want, want, text)
			}
		}
	}
	theirs := []string{"./Template/bees.example.org.yaml", "./API/bees.example.org-api.yaml", "./Resource/bees.example.org-xrd.yaml"}
	export(app.ExitOK)
	has("all files are listed", location(t, out), true, theirs...)

	b.refuse["/apis"] = http.StatusUnauthorized
	notes := export(app.ExitFailed, "--prune")
	has("an outage keeps all files", location(t, out), true, append(theirs, "./Template/apps.example.org.yaml")...)
	has("kept files are reported", notes, true, "kept: 3 files of an earlier export")
	if n := len(files(t, out)); n != 7 {
		t.Errorf("--prune removed files of an unreachable cluster: %q", files(t, out))
	}

	a.refuse["/apis"] = http.StatusUnauthorized
	before := location(t, out)
	export(app.ExitUnreachable, "--prune")
	if diff := cmp.Diff(before, location(t, out)); diff != "" || len(files(t, out)) != 7 {
		t.Errorf("Location changed without any readable cluster (-before +after):\n%s", diff)
	}

	delete(a.refuse, "/apis")
	delete(b.refuse, "/apis")
	b.definitions = []object{unlabelled("bees.example.org")}
	notes = export(app.ExitOK)
	has("stale files are not listed", strings.SplitAfter(location(t, out), "targets:")[1], false, theirs...)
	has("stale files stay, with a hint how to remove them", notes, true, "left: 3 files of an earlier export that are stale; use --prune to remove")
	if n := len(files(t, out)); n != 7 {
		t.Errorf("files were removed without --prune: %q", files(t, out))
	}

	notes = export(app.ExitOK, "--prune")
	has("the next run still knows the stale files", notes, true, "removed: 3 files of an earlier export")
	want := []string{"API/apps.example.org-api.yaml", "Resource/apps.example.org-xrd.yaml", "Template/apps.example.org.yaml", "catalog-info.yaml"}
	if diff := cmp.Diff(want, files(t, out)); diff != "" {
		t.Errorf("files after --prune (-want +got):\n%s", diff)
	}
	has("removed files are not listed", location(t, out), false, "bees")

	a.definitions = nil
	export(app.ExitNothing, "--prune")
	if diff := cmp.Diff([]string{"catalog-info.yaml"}, files(t, out)); diff != "" {
		t.Errorf("files after the last definition was removed (-want +got):\n%s", diff)
	}
}

// TestExportMissing checks that a missing file is not listed, also during an
// outage.
func TestExportMissing(t *testing.T) {
	a, b := newStandIn(t, definition("apps.example.org")), newStandIn(t, definition("bees.example.org"))
	config := configure(t, "", a, b)
	out := t.TempDir()
	if _, notes, code := run(t, "export", "--config", config, "--output", out); code != app.ExitOK {
		t.Fatalf("exit code %d\n%s", code, notes)
	}
	if err := os.Remove(filepath.Join(out, "Template", "bees.example.org.yaml")); err != nil {
		t.Fatal(err)
	}
	b.refuse["/apis"] = http.StatusUnauthorized
	_, notes, code := run(t, "export", "--config", config, "--output", out)
	if text := location(t, out); code != app.ExitFailed || strings.Contains(text, "./Template/bees") || !strings.Contains(text, "./API/bees") {
		t.Errorf("exit code %d\n%s\n%s", code, text, notes)
	}
}

// TestExportSpoilt checks that an unreadable object in a readable list counts as
// existing.
func TestExportSpoilt(t *testing.T) {
	a := newStandIn(t, definition("apps.example.org"), definition("bees.example.org"))
	config := configure(t, "", a)
	out := t.TempDir()
	if _, notes, code := run(t, "export", "--config", config, "--output", out); code != app.ExitOK {
		t.Fatalf("exit code %d\n%s", code, notes)
	}
	deep := any("x")
	for range 500 {
		deep = object{"a": deep}
	}
	a.definitions[1]["spec"] = deep
	_, notes, code := run(t, "export", "--config", config, "--output", out, "--prune")
	if code != app.ExitInvalid || !strings.Contains(location(t, out), "./Template/bees.example.org.yaml") || len(files(t, out)) != 7 {
		t.Errorf("exit code %d, files %q\n%s", code, files(t, out), notes)
	}
}

// TestExportTheirs checks that files that export did not write are not changed.
func TestExportTheirs(t *testing.T) {
	config := configure(t, "", newStandIn(t, definition("apps.example.org")))
	ours := "apiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata: {name: composer-ingestor}\nspec:\n  targets:\n"
	cases := map[string]struct {
		reason string
		text   string
		code   int
		stays  bool
	}{
		"Component": {"A catalog-info.yaml of a component is not overwritten.", "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: shop}\n", app.ExitFailed, true},
		"Location":  {"Another Location is not overwritten.", "apiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata: {name: other}\n", app.ExitFailed, true},
		"Broken":    {"An unreadable file is not overwritten.", "a: [", app.ExitFailed, true},
		"Two":       {"A file with several documents is not overwritten.", ours + "    - ./x.yaml\n---\nkind: Other\n", app.ExitFailed, true},
		"Outside":   {"A target outside of the folder is not removed.", ours + "    - ../victim.yaml\n    - /etc/hostname\n    - ./link.yaml\n    - ./Template\n    - https://example.org/x.yaml\n", app.ExitOK, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			out := filepath.Join(top, "out")
			put := func(name, text string) {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			put("victim.yaml", "here")
			put("out/catalog-info.yaml", tc.text)
			put("out/Template/mine.yaml", "here")
			if err := os.Symlink("../victim.yaml", filepath.Join(out, "link.yaml")); err != nil {
				t.Fatal(err)
			}
			_, notes, code := run(t, "export", "--config", config, "--output", out, "--prune")
			if code != tc.code || (location(t, out) == tc.text) != tc.stays {
				t.Errorf("%s: exit code %d, want %d\n%s\n%s", tc.reason, code, tc.code, notes, location(t, out))
			}
			for _, kept := range []string{"victim.yaml", "out/Template/mine.yaml", "out/link.yaml"} {
				if _, err := os.Lstat(filepath.Join(top, kept)); err != nil {
					t.Errorf("%s: file is missing: %v", tc.reason, err)
				}
			}
			if tc.stays && len(files(t, out)) != 3 {
				t.Errorf("%s: files were written: %q", tc.reason, files(t, out))
			}
		})
	}
}

// TestExportForeign adds foreign targets to the Location: they stay listed, and
// their files are not removed.
func TestExportForeign(t *testing.T) {
	a := newStandIn(t, definition("apps.example.org"), definition("bees.example.org"))
	config := configure(t, "", a)
	out := filepath.Join(t.TempDir(), "out")
	if _, notes, code := run(t, "export", "--config", config, "--output", out); code != app.ExitOK {
		t.Fatalf("exit code %d\n%s", code, notes)
	}
	mine := []string{"mine.yaml", "Template/mine.yaml"}
	added := "    - ./mine.yaml\n    - ./Template/mine.yaml\n    - https://example.org/all.yaml\n    - ../elsewhere.yaml\n"
	for _, name := range append(mine, "../elsewhere.yaml") {
		if err := os.WriteFile(filepath.Join(out, name), []byte("kind: Template\nmetadata: {name: mine}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := filepath.Join(out, "catalog-info.yaml")
	if err := os.WriteFile(at, []byte(strings.TrimRight(location(t, out), "\n")+"\n"+added), 0o600); err != nil {
		t.Fatal(err)
	}
	a.definitions = a.definitions[:1]
	_, notes, code := run(t, "export", "--config", config, "--output", out, "--prune")
	if code != app.ExitOK || !strings.Contains(notes, "removed: 3 files of an earlier export") {
		t.Errorf("exit code %d\n%s", code, notes)
	}
	for _, name := range append(mine, "../elsewhere.yaml") {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Errorf("foreign file was removed: %v", err)
		}
	}
	for _, target := range []string{"./mine.yaml", "./Template/mine.yaml", "https://example.org/all.yaml", "../elsewhere.yaml"} {
		if !strings.Contains(location(t, out), target) {
			t.Errorf("%s is not listed any more:\n%s", target, location(t, out))
		}
	}
}

// TestExportPoorer checks that files are not overwritten with less complete
// content: of one cluster instead of two, or without Compositions.
func TestExportPoorer(t *testing.T) {
	newer := definition("apps.example.org")
	newer["metadata"].(object)["generation"] = 7
	newer["metadata"].(object)["annotations"] = object{"backstage.io/template-title": "Newer"}
	a, b := newStandIn(t, definition("apps.example.org")), newStandIn(t, newer)
	config := configure(t, "", a, b)
	out := t.TempDir()
	export := func(want int) string {
		t.Helper()
		_, notes, code := run(t, "export", "--config", config, "--output", out, "--prune")
		if code != want {
			t.Fatalf("exit code %d, want %d\n%s", code, want, notes)
		}
		data, err := os.ReadFile(filepath.Join(out, "Template", "apps.example.org.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	first := export(app.ExitOK)
	if !strings.Contains(first, "title: Newer") || !strings.Contains(first, "discovered-from: a,b") {
		t.Fatalf("file is not that of the newer copy:\n%s", first)
	}
	b.refuse["/apis"] = http.StatusUnauthorized
	if diff := cmp.Diff(first, export(app.ExitFailed)); diff != "" {
		t.Errorf("file changed while a cluster was unreachable (-before +after):\n%s", diff)
	}
	delete(b.refuse, "/apis")
	b.refuse["/apis/apiextensions.crossplane.io/v1/compositions"] = http.StatusForbidden
	if diff := cmp.Diff(first, export(app.ExitFailed)); diff != "" {
		t.Errorf("file changed while Compositions could not be read (-before +after):\n%s", diff)
	}
	delete(b.refuse, "/apis/apiextensions.crossplane.io/v1/compositions")
	b.definitions = nil
	if now := export(app.ExitOK); strings.Contains(now, "Newer") || !strings.Contains(now, "discovered-from: a\n") {
		t.Errorf("file is not current after everything was read:\n%s", now)
	}
}

// TestExportOthers checks that entities of unselected clusters and composites
// that were not requested stay.
func TestExportOthers(t *testing.T) {
	a, b := newStandIn(t, definition("apps.example.org")), newStandIn(t, definition("bees.example.org"))
	a.others["/apis/example.org/v1/apps"] = []object{{"metadata": object{"name": "shop", "namespace": "team-a"}}}
	config := configure(t, "", a, b)
	out := t.TempDir()
	if _, notes, code := run(t, "export", "--config", config, "--output", out, "--composites"); code != app.ExitOK {
		t.Fatalf("exit code %d\n%s", code, notes)
	}
	before, list := files(t, out), location(t, out)
	_, notes, code := run(t, "export", "--config", config, "--output", out, "--cluster", "a", "--prune")
	if code != app.ExitOK || !strings.Contains(notes, "kept: 4 files") {
		t.Errorf("exit code %d\n%s", code, notes)
	}
	if diff := cmp.Diff(before, files(t, out)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(list, location(t, out)); diff != "" {
		t.Errorf("Location (-before +after):\n%s", diff)
	}
}
