package crossplane

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// Get decodes what the API server returns for a path into a value.
func (c *Core) Get(path string, into any) error {
	resp, err := c.server.Client().Get(c.server.URL + path)
	return decode(resp, err, into)
}

// Patch changes fields of the object at a path.
func (c *Core) Patch(path string, fields any) error {
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPatch, c.server.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	resp, err := c.server.Client().Do(req)
	return decode(resp, err, nil)
}

// decode decodes a response. A nil value means that its body is not needed.
func decode(resp *http.Response, err error, into any) error {
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("cannot %s %s: %s: %s", resp.Request.Method, resp.Request.URL.Path, resp.Status, body)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(body, into)
}

// secret returns the data of a secret of Crossplane.
func (c *Core) secret(name string) (map[string][]byte, error) {
	var s struct{ Data map[string][]byte }
	err := c.Get("/api/v1/namespaces/"+namespace+"/secrets/"+name, &s)
	return s.Data, err
}

// apply applies a manifest.
func (c *Core) apply(text string) error {
	file := filepath.Join(c.dir, "manifest.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	_, err := c.server.Do("apply", file)
	return err
}

// definition is an XRD.
type definition struct {
	Metadata struct{ Name string }
	Status   struct {
		Conditions []struct{ Type, Status, Message string }
	}
}

// isEstablished reports whether Crossplane reconciles the composites of the XRD.
func (d definition) isEstablished() bool {
	for _, c := range d.Status.Conditions {
		if c.Type == "Established" {
			return c.Status == "True"
		}
	}
	return false
}

// Define applies XRDs and Compositions, and waits until Crossplane serves all
// kinds that are defined.
func (c *Core) Define(tb testing.TB, manifests ...string) {
	tb.Helper()
	c.server.Apply(tb, manifests...)
	c.Await(tb, "the kinds of the XRDs", func() error {
		var all struct{ Items []definition }
		if err := c.Get("/apis/apiextensions.crossplane.io/v2/compositeresourcedefinitions", &all); err != nil {
			return err
		}
		for _, d := range all.Items {
			if !d.isEstablished() {
				return fmt.Errorf("XRD %s is not established: %+v", d.Metadata.Name, d.Status.Conditions)
			}
		}
		return nil
	})
}

// Await waits until done returns no error. If that takes too long, or
// Crossplane ends, the test fails with the error.
func (c *Core) Await(tb testing.TB, what string, done func() error) {
	tb.Helper()
	if err := poll(c.core, done); err != nil {
		tb.Fatalf("cannot wait for %s: %v", what, err)
	}
}

// Apply applies a manifest, and returns what the API server refuses.
func (c *Core) Apply(text string) error { return c.apply(text) }
