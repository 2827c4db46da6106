package service_test

import (
	"errors"
	"net/http"
	"path/filepath"
	"testing"
)

// TestRestore checks that an entity of the service that was deleted over HTTP
// is restored soon, with a new uid, and that no other entity changes.
func TestRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "alphas.yaml"), definition("alphas", "one"))
	s := start(t, setup{sections: composer(sections{"sources": []any{sections{"name": "files", "type": "file", "path": dir}}})})
	s.waitForRefs("", entities("alphas")...)
	before := map[string]*found{}
	for _, ref := range entities("alphas") {
		before[ref] = s.entity(ref)
	}
	if _, err := s.ask(http.MethodDelete, "/api/catalog/entities/by-uid/"+before[template("alphas")].Metadata.UID, nil, nil); err != nil {
		t.Fatal(err)
	}
	s.until("the Template", func() error {
		if s.entity(template("alphas")) == nil {
			return errors.New("deleted Template is not restored")
		}
		return nil
	})
	s.waitForRefs("", entities("alphas")...)
	for _, ref := range entities("alphas") {
		if now := s.entity(ref); now == nil || now.Metadata.UID != before[ref].Metadata.UID {
			t.Errorf("%s is %+v, want it unchanged from %+v", ref, now, before[ref])
		}
	}
	s.wantHealth("healthy", nil)
}
