package service_test

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/test/apiserver"
)

// inFile returns the configuration of a database in a file, for services that
// are started one after the other.
func inFile(t *testing.T) sections {
	return sections{"client": "sqlite", "connection": sections{"filename": filepath.Join(t.TempDir(), "portal.sqlite")}}
}

// amend patches a definition at a subresource path, such as /status, or at the
// object itself.
func amend(t *testing.T, c *apiserver.Server, plural, path, body string) {
	t.Helper()
	at := c.URL + "/apis/apiextensions.crossplane.io/v2/compositeresourcedefinitions/" + plural + "." + group + path
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, at, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	resp, err := c.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if answer, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Fatalf("cannot change %s%s: %s: %s", plural, path, resp.Status, answer)
	}
}

// titled sets the title of a definition.
func titled(t *testing.T, c *apiserver.Server, plural, title string) {
	t.Helper()
	amend(t, c, plural, "", fmt.Sprintf(`{"metadata":{"annotations":{"backstage.io/template-title":%q}}}`, title))
}

// reconciled changes only the status of a definition.
func reconciled(t *testing.T, c *apiserver.Server, plural string) {
	t.Helper()
	amend(t, c, plural, "/status", fmt.Sprintf(`{"status":{"conditions":[{"type":"Established","status":"True","reason":"Seen",`+
		`"lastTransitionTime":%q}]}}`, time.Now().UTC().Format(time.RFC3339)))
}

// TestDetection checks change detection with its settings: they decide which
// units are built again, and do not change the result.
func TestDetection(t *testing.T) {
	t.Parallel()
	c := apiserver.Start(t, apiserver.Options{Apply: []string{definition("alphas", "one"), definition("betas", "one"), definition("gammas", "one")}})
	// From now on only the times of their conditions change.
	for _, plural := range []string{"alphas", "betas", "gammas"} {
		amend(t, c, plural, "/status", `{"status":{"conditions":[{"type":"Established","status":"True","reason":"Seen","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
	}
	// begin starts a service without watches, and waits for its first scan.
	detect := func(settings sections) sections {
		return composer(sections{"watch": false, "changeDetection": settings}, cluster("prod", c))
	}
	begin := func(t *testing.T, settings sections) *service {
		t.Helper()
		s := start(t, setup{sections: detect(settings)})
		if r := s.ran(prod, time.Time{}); r.Changed != 3 || r.Added != 9 {
			t.Fatalf("first run is %+v, want 3 units changed and 9 entities added", r)
		}
		s.waitForMarks(prod)
		return s
	}

	t.Run("resourceVersion", func(t *testing.T) {
		s := begin(t, sections{"method": "resourceVersion"})
		reconciled(t, c, "alphas")
		wroteNothing(t, "another resource version means another object", s.scan(prod), 1)
		wroteNothing(t, "nothing has changed", s.scan(prod), 0)
		titled(t, c, "alphas", "By version")
		s.showsTitle("alphas", "By version", 1)
	})
	t.Run("hash", func(t *testing.T) {
		s := begin(t, sections{"method": "hash"})
		reconciled(t, c, "alphas")
		wroteNothing(t, "the same content means the same object", s.scan(prod), 0)
		for _, title := range []string{"By hash", "By another hash", "By hash"} {
			titled(t, c, "alphas", title)
			s.showsTitle("alphas", title, 1)
		}
	})
	t.Run("timestamp", func(t *testing.T) {
		amend(t, c, "betas", "", `{"metadata":{"labels":{"backstage.io/template-type":"database"}}}`)
		s := begin(t, sections{"method": "timestamp"})
		reconciled(t, c, "alphas")
		wroteNothing(t, "a later time means another object", s.scan(prod), 1)
		// API servers record whole seconds: two changes within one second must
		// both be detected.
		for i := range 4 {
			title := fmt.Sprintf("Soon after %d", i)
			titled(t, c, "gammas", title)
			s.showsTitle("gammas", title, 2)
		}
		if spec := string(s.entity(template("betas")).Spec); !strings.Contains(spec, `"type":"database"`) {
			t.Errorf("spec does not show the label: %s", spec)
		}
		// API servers record no time for a removed field.
		amend(t, c, "betas", "", `{"metadata":{"labels":{"backstage.io/template-type":null}}}`)
		if r := s.scan(prod); r.Updated == 0 {
			t.Errorf("run is %+v, want the removed label detected", r)
		}
		if spec := string(s.entity(template("betas")).Spec); strings.Contains(spec, `"type":"database"`) {
			t.Errorf("spec still shows the removed label: %s", spec)
		}
		before := s.stamps("")
		s.waitForMarks(prod)
		s.checkUnchanged(before, entities("alphas", "betas", "gammas")...)
	})
	t.Run("off", func(t *testing.T) {
		s := start(t, setup{sections: detect(sections{"enabled": false})})
		s.ran(prod, time.Time{})
		before := s.stamps("")
		for range 2 {
			wroteNothing(t, "without change detection every unit is built again", s.scan(prod), 3)
		}
		s.checkUnchanged(before, entities("alphas", "betas", "gammas")...)
		titled(t, c, "alphas", "Without")
		s.showsTitle("alphas", "Without", 3)
	})
	t.Run("over a restart", func(t *testing.T) {
		for storage, changed := range map[string]int{"memory": 3, "database": 0} {
			database := inFile(t)
			old := start(t, setup{database: database, sections: detect(sections{"storage": storage})})
			old.ran(prod, time.Time{})
			before := old.stamps("")
			old.stop()
			stopped := time.Now()
			s := start(t, setup{database: database, sections: detect(sections{"storage": storage})})
			wroteNothing(t, storage, s.ran(prod, stopped), changed)
			s.checkUnchanged(before, entities("alphas", "betas", "gammas")...)
			s.stop()
		}
	})
	t.Run("another build", func(t *testing.T) { anotherBuild(t, c) })
}

// showsTitle scans, and checks that the title of a definition is updated with
// at most so many units built again.
func (s *service) showsTitle(plural, title string, most int) {
	s.t.Helper()
	r := s.scan(prod)
	if r.Changed < 1 || r.Changed > most || r.Updated == 0 {
		s.t.Errorf("run is %+v, want a detected change", r)
	}
	if got := s.entity(template(plural)).Metadata.Title; got != title {
		s.t.Errorf("title is %q, want %q", got, title)
	}
}

// anotherBuild starts another version of the program, and one with other
// settings, on an existing database. It checks that all units are built again
// and only differing entities are written.
func anotherBuild(t *testing.T, c *apiserver.Server) {
	dir, database := t.TempDir(), inFile(t)
	put(t, filepath.Join(dir, "deltas.yaml"), definition("deltas", "one"))
	const files = "composerIngestor/sources/examples"
	all := entities("alphas", "betas", "gammas", "deltas")
	builds := []struct {
		build, owner string
		// changed is the number of definitions of the cluster that are built
		// again, updated the number of their entities that are written.
		changed, updated int
	}{
		{"one", "group:default/one", 3, 0},
		{"one", "group:default/one", 0, 0},
		{"two", "group:default/one", 3, 0},
		{"two", "group:default/two", 3, 9},
	}
	begun := time.Time{}
	for i, b := range builds {
		s := start(t, setup{database: database, build: b.build, sections: composer(sections{
			"watch": false, "changeDetection": sections{"storage": "database"}, "defaultOwner": b.owner,
			"sources": []sections{{"name": "examples", "type": "file", "path": dir}},
		}, cluster("prod", c))})
		cluster, folder := s.ran(prod, begun), s.ran(files, begun)
		if updated := cluster.Updated + folder.Updated; cluster.Changed != b.changed || folder.Changed != b.changed/3 || updated != b.updated/3*4 {
			t.Errorf("build %d: runs are %+v and %+v", i, cluster, folder)
		}
		s.waitForRefs("", append([]string(nil), all...)...)
		s.stop()
		begun = time.Now()
	}
}
