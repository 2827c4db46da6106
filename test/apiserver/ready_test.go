package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestReady checks that composites and claims become ready although nothing
// reconciles them, and that conditions set by other clients are kept.
func TestReady(t *testing.T) {
	s := Start(t, Options{XRCRDs: true, Apply: []string{definition}, ReadyAfter: time.Second})
	const boats = "/apis/example.org/v1/namespaces/harbour/boats/"

	s.Apply(t, boat)
	wait(t, "the boat", func() error { return s.says(boats+"ferry", "Ready True Available", "Synced True ReconcileSuccess") })
	if got := s.get(t, boats+"ferry", "")["spec"]; !cmp.Equal(got, map[string]any{"length": 30.0}) {
		t.Errorf("spec of the ready boat is %v, want length 30", got)
	}

	// This kind is added later, and its composites are cluster-scoped.
	s.Apply(t, strings.NewReplacer("xboats", "xships", "XBoat", "XShip", "boats", "ships", "Boat", "Ship").Replace(definition))
	s.Apply(t, "apiVersion: example.org/v1\nkind: XShip\nmetadata: {name: liner}\nspec: {length: 300}\n")
	wait(t, "the ship", func() error { return s.says("/apis/example.org/v1/xships/liner", "Ready True Available") })

	// A condition that another client sets is kept, also after a restart.
	s.patch(t, boats+"ferry/status", `{"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Creating"}]}}`)
	s.Restart(t)
	s.Apply(t, strings.ReplaceAll(boat, "ferry", "dinghy"))
	wait(t, "another boat, after a new start", func() error { return s.says(boats+"dinghy", "Ready True Available") })
	if err := s.says(boats+"ferry", "Ready False Creating"); err != nil {
		t.Error(err)
	}
}

// says returns an error unless an object has these conditions: type, status and
// reason.
func (s *Server) says(path string, want ...string) error {
	code, body, err := s.request(path, "")
	if err != nil || code != http.StatusOK {
		return fmt.Errorf("GET %s: %d %w", path, code, err)
	}
	var object struct {
		Status struct {
			Conditions []struct{ Type, Status, Reason string }
		}
	}
	if err := json.Unmarshal(body, &object); err != nil {
		return err
	}
	var got []string
	for _, c := range object.Status.Conditions {
		got = append(got, c.Type+" "+c.Status+" "+c.Reason)
	}
	for _, w := range want {
		if !strings.Contains(strings.Join(got, "\n"), w) {
			return fmt.Errorf("conditions of %s are %q, want %q", path, got, w)
		}
	}
	return nil
}

// patch patches an object.
func (s *Server) patch(t *testing.T, path, body string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPatch, s.URL+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("PATCH %s returned %s, want 200", path, res.Status)
	}
}
