// Package backstage_test runs the packages for Backstage in a real Backstage, with a real
// portal and a real API server.
package backstage_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entity is what the tests read of an entity.
type entity struct {
	APIVersion string `json:"apiVersion"`
	Kind       string
	Metadata   struct {
		Name, Namespace string
		Annotations     map[string]string
	}
	Spec   struct{ Type, Readiness string }
	Status struct {
		Items []struct{ Type, Level, Message string }
	}
}

func (w *world) entities(filter string) ([]entity, error) {
	var out []entity
	err := w.ask(http.MethodGet, "/api/catalog/entities?filter="+filter, nil, &out)
	return out, err
}

// ofTeam selects the running resources of the team.
const ofTeam = "kind=resource,spec.type=crossplane-xr,metadata.annotations.backstage.io/kubernetes-namespace=team"

// run runs a Template and returns the log of its task, and whether the task succeeded.
func (w *world) run(t *testing.T, template string, values object) (log string, ok bool) {
	t.Helper()
	var made struct{ ID string }
	if err := w.ask(http.MethodPost, "/api/scaffolder/v2/tasks", object{"templateRef": "template:default/" + template, "values": values}, &made); err != nil {
		t.Fatal(err)
	}
	var task struct{ Status string }
	until(t, "task of "+template, func() error {
		err := w.ask(http.MethodGet, "/api/scaffolder/v2/tasks/"+made.ID, nil, &task)
		if err == nil && (task.Status == "open" || task.Status == "processing") {
			err = fmt.Errorf("task %s is %s", made.ID, task.Status)
		}
		return err
	})
	var events []struct{ Body struct{ Message string } }
	if err := w.ask(http.MethodGet, "/api/scaffolder/v2/tasks/"+made.ID+"/events", nil, &events); err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		log += e.Body.Message + "\n"
	}
	return log, task.Status == "completed"
}

// resource returns a bucket of the team, as the cluster has it.
func (w *world) resource(name string) string {
	w.t.Helper()
	return w.object("storage.example.org/v1/namespaces/team/buckets/" + name)
}

// object returns an object of the cluster. The path begins with its group.
func (w *world) object(path string) string {
	w.t.Helper()
	resp, err := w.cluster.Client().Get(w.cluster.URL + "/apis/" + path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// untilDeleted waits until the team has no running resources in the catalog.
func (w *world) untilDeleted(t *testing.T) {
	t.Helper()
	until(t, "the entity is gone", func() error {
		found, err := w.entities(ofTeam)
		if err == nil && len(found) > 0 {
			err = fmt.Errorf("entity %s still exists", found[0].Metadata.Name)
		}
		return err
	})
}

// feed returns the references of the entities in the portal's feed.
func (w *world) feed() (refs []string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.portal+"/api/catalog/feed.ndjson", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+portalToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	for d := json.NewDecoder(resp.Body); ; {
		var e entity
		if err := d.Decode(&e); err == io.EOF {
			return refs
		} else if err != nil {
			w.t.Fatal(err)
		}
		if e.Kind != "" {
			refs = append(refs, e.Kind+" "+e.Metadata.Name)
		}
	}
}

// TestBackstage follows a resource from the form to its deletion.
func TestBackstage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const template = "buckets.storage.example.org"
	until(t, "all entities arrive", func() error {
		sent := w.feed()
		found, err := w.entities("metadata.annotations.openportal.dev/portal")
		if err != nil {
			return err
		}
		// One has the name of an entity that Backstage has from elsewhere, and another entity there claims to be of the portal.
		if len(sent) < 53 || len(found) != len(sent) {
			return fmt.Errorf("%d of %d entities arrived", len(found), len(sent))
		}
		t.Logf("%d of %d entities of the portal are in Backstage, and one name was taken", len(found)-1, len(sent))
		return nil
	})

	log, ok := w.run(t, template, object{"name": "invoices", "namespace": "team", "region": "eu-west-1", "versioning": true})
	if !ok {
		t.Fatalf("the task failed:\n%s", log)
	}
	if !strings.Contains(log, "Portal portal runs task ") {
		t.Errorf("the log does not name the task of the portal:\n%s", log)
	}
	until(t, "the entity shows that the resource is ready", func() error {
		found, err := w.entities(ofTeam)
		if err != nil {
			return err
		}
		if len(found) != 1 || found[0].Spec.Readiness != "ready" || len(found[0].Status.Items) != 1 || found[0].Status.Items[0].Type != "openportal.dev/readiness" {
			return fmt.Errorf("entities of the team are %+v", found)
		}
		return nil
	})

	t.Run("Audit", func(t *testing.T) {
		lines, err := os.ReadFile(w.audit)
		if want := `"event":"cluster.apply","result":"success","actor":{"kind":"user","subject":"user:default/ada","via":"company"}`; err != nil || !strings.Contains(string(lines), want) {
			t.Errorf("the audit log does not have %s (%v):\n%s", want, err, lines)
		}
	})

	t.Run("Pages", func(t *testing.T) {
		found, err := w.entities(ofTeam)
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		const bucket = "/api/ingestor/entities/resource/default/"
		for path, want := range map[string]string{
			"/api/ingestor/portals":                                                            w.portal,
			"/api/ingestor/portals/portal/health":                                              `"status":`,
			bucket + found[0].Metadata.Name + "/status":                                        `"kind":"Bucket"`,
			bucket + found[0].Metadata.Name + "/conditions":                                    `"type":"Ready"`,
			bucket + found[0].Metadata.Name + "/history":                                       "ada",
			"/api/ingestor/forms/default/" + template + "-update?name=invoices&namespace=team": `"region":"eu-west-1"`,
		} {
			var got json.RawMessage
			if err := w.ask(http.MethodGet, path, nil, &got); err != nil || !strings.Contains(string(got), want) {
				t.Errorf("%s returned %v, want %s in\n%s", path, err, want, got)
			}
		}
		for path, want := range map[string]string{
			bucket + "nosuch/status":                           "404",
			bucket + found[0].Metadata.Name + "/object":        "404",
			"/api/ingestor/entities/system/default/own/status": "404",
			"/api/ingestor/portals/other/health":               "404",
			"/api/ingestor/entities/a/b/%FF/status":            "400",
		} {
			if err := w.ask(http.MethodGet, path, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s returned %v, want %s", path, err, want)
			}
		}
	})

	t.Run("Conflict", func(t *testing.T) {
		// Backstage has a System of this name from its own location, and it stays.
		found, err := w.entities("kind=system,metadata.name=data")
		if err != nil || len(found) != 1 || found[0].Metadata.Annotations["openportal.dev/portal"] != "" {
			t.Errorf("System data is %+v (%v), want that of Backstage", found, err)
		}
	})

	t.Run("DryRun", func(t *testing.T) {
		var of json.RawMessage
		if err := w.ask(http.MethodGet, "/api/catalog/entities/by-name/template/default/"+template, nil, &of); err != nil {
			t.Fatal(err)
		}
		var done struct {
			Log []struct{ Body struct{ Message string } }
		}
		err := w.ask(http.MethodPost, "/api/scaffolder/v2/dry-run", object{
			"template": of, "values": object{"name": "tried", "namespace": "team", "region": "eu-west-1"}, "secrets": object{}, "directoryContents": []any{},
		}, &done)
		if log := fmt.Sprint(done.Log); err != nil || !strings.Contains(log, "Bucket team/tried in cluster dev would be created") {
			t.Errorf("the dry run said (%v): %s", err, log)
		}
		if got := w.resource("tried"); !strings.Contains(got, "NotFound") {
			t.Errorf("the dry run created %s", got)
		}
	})

	t.Run("NotAllowed", func(t *testing.T) {
		log, ok := w.run(t, template, object{"name": "stolen", "namespace": "theirs", "region": "eu-west-1"})
		if ok || !strings.Contains(log, "owned by group:default/others") {
			t.Errorf("a resource in the namespace of another group: completed %t\n%s", ok, log)
		}
	})

	t.Run("Invalid", func(t *testing.T) {
		err := w.ask(http.MethodPost, "/api/scaffolder/v2/tasks", object{"templateRef": "template:default/" + template, "values": object{"name": "Not_A_Name", "namespace": "team", "region": "eu-west-1"}}, nil)
		if err == nil || !strings.Contains(err.Error(), "does not match pattern") {
			t.Errorf("an invalid name returned %v", err)
		}
	})

	t.Run("Update", func(t *testing.T) {
		log, ok := w.run(t, template+"-update", object{"name": "invoices", "namespace": "team", "region": "eu-west-1", "versioning": false, "lifecycleDays": 7})
		if !ok {
			t.Fatalf("the task failed:\n%s", log)
		}
		if got := w.resource("invoices"); !strings.Contains(got, `"lifecycleDays":7`) {
			t.Errorf("the resource is %s", got)
		}
	})

	t.Run("Import", w.testImport)

	t.Run("Compare", w.testCompare)

	t.Run("Outage", func(t *testing.T) {
		before, err := w.entities("kind=resource")
		if err != nil {
			t.Fatal(err)
		}
		w.down()
		until(t, "Backstage notices", func() error {
			if !strings.Contains(w.log.String(), "Cannot read the catalog of portal portal, its entities stay as they are") {
				return fmt.Errorf("the log of Backstage does not name the portal that cannot be read")
			}
			return nil
		})
		after, err := w.entities("kind=resource")
		if diff := cmp.Diff(len(before), len(after)); diff != "" || err != nil {
			t.Errorf("entities during the outage (%v): %s", err, diff)
		}
		w.up()
	})

	t.Run("Delete", func(t *testing.T) {
		log, ok := w.run(t, template+"-delete", object{"name": "invoices", "namespace": "team", "confirm": true, "propagation": "background"})
		if !ok {
			t.Fatalf("the task failed:\n%s", log)
		}
		w.untilDeleted(t)
	})

	t.Run("Browser", w.browse)

	t.Run("Removal", func(t *testing.T) {
		w.cluster.Delete(t, passing)
		until(t, "the Templates are gone", func() error {
			found, err := w.entities("kind=template,metadata.name=guests.passing.example.org")
			if err == nil && len(found) > 0 {
				err = fmt.Errorf("%d Templates of guests.passing.example.org still exist", len(found))
			}
			return err
		})
	})
}
