package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const definition = `
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata:
  name: xboats.example.org
spec:
  group: example.org
  names: {kind: XBoat, plural: xboats}
  claimNames: {kind: Boat, plural: boats}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                length: {type: integer}
`

const boat = `
apiVersion: example.org/v1
kind: Boat
metadata: {name: ferry, namespace: harbour}
spec: {length: 30}
`

const orphan = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: orphan
  namespace: dock
  ownerReferences:
    - {apiVersion: v1, kind: ConfigMap, name: missing, uid: 7c9e6679-7425-40de-944b-e07fc1f90ae7}
`

// TestServer tests the lifetime of one server, because a start takes seconds.
func TestServer(t *testing.T) {
	s := Start(t, Options{CRDs: "both", XRCRDs: true, Apply: []string{definition}})
	const boats = "/apis/example.org/v1/namespaces/harbour/boats/ferry"

	s.Apply(t, boat)
	if got := s.get(t, boats, "")["spec"]; !cmp.Equal(got, map[string]any{"length": 30.0}) {
		t.Errorf("spec of the boat is %v, want length 30", got)
	}
	for _, group := range []string{"apiextensions.crossplane.io", "apiextensions.composer.io"} {
		if s.get(t, "/apis/"+group+"/v1/compositions", "")["items"] == nil {
			t.Errorf("cannot list the compositions of %s", group)
		}
	}

	t.Run("Controllers", func(t *testing.T) {
		s.Apply(t, orphan)
		wait(t, "a default service account", func() error {
			return s.status("/api/v1/namespaces/dock/serviceaccounts/default", "", http.StatusOK)
		})
		wait(t, "the garbage collector", func() error {
			return s.status("/api/v1/namespaces/dock/configmaps/orphan", "", http.StatusNotFound)
		})
		// Delete waits for the namespace controller.
		s.Delete(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: dock}")
	})

	t.Run("Held", func(t *testing.T) {
		// A second server in the same folder ends at once and leaves the folder
		// unchanged.
		out, err := exec.Command(s.bin, "serve", "--dir", s.Dir, "--temporary").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "another devcluster runs in it") {
			t.Errorf("second server ended with %v, want an error\n%s", err, out)
		}
		if _, err := os.Stat(s.Kubeconfig); err != nil {
			t.Errorf("folder of the first server is damaged: %v", err)
		}
	})

	token := s.Token(t, "harbour", "watchman")
	t.Run("Token", func(t *testing.T) {
		cases := map[string]struct {
			reason string
			path   string
			token  string
			want   int
		}{
			"Stranger":  {"An invalid token is rejected.", "/api/v1/namespaces", "bad", http.StatusUnauthorized},
			"Unbound":   {"An account without a role has no permissions.", boats, token, http.StatusForbidden},
			"Discovery": {"Every authenticated account may use discovery.", "/apis", token, http.StatusOK},
		}
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				if err := s.status(tc.path, tc.token, tc.want); err != nil {
					t.Errorf("%s: %v", tc.reason, err)
				}
			})
		}
	})

	t.Run("UnknownKind", func(t *testing.T) {
		_, err := s.Do("apply", write(t, strings.ReplaceAll(boat, "Boat", "Submarine")))
		if err == nil || !strings.Contains(err.Error(), "Submarine") || !strings.Contains(err.Error(), "manifest.yaml") {
			t.Errorf("apply of an unknown kind returned %v, want an error that names kind and file", err)
		}
	})

	t.Run("KillAndRestart", func(t *testing.T) {
		url, ca := s.URL, s.CA
		s.Kill()
		if err := s.status("/readyz", "", http.StatusOK); err == nil {
			t.Error("killed server responds")
		}
		s.Restart(t)
		if s.URL != url || !cmp.Equal(s.CA, ca) {
			t.Error("address or authority changed")
		}
		s.get(t, boats, "")
		if err := s.status("/apis", token, http.StatusOK); err != nil {
			t.Errorf("token is invalid after the restart: %v", err)
		}
	})

	t.Run("Delete", func(t *testing.T) {
		s.Delete(t, boat)
		if err := s.status(boats, "", http.StatusNotFound); err != nil {
			t.Error(err)
		}
		s.Delete(t, boat, definition)
		if err := s.status("/apis/example.org/v1/boats", "", http.StatusNotFound); err != nil {
			t.Errorf("kind still exists after its definition was deleted: %v", err)
		}
	})

	t.Run("Stop", func(t *testing.T) {
		// An open watch must not delay the shutdown.
		watch, err := s.Client().Get(s.URL + "/api/v1/namespaces?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		defer watch.Body.Close()
		if err := s.process.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestAbandoned checks that a server ends and removes its folder when its
// parent process has ended, which closes its standard input. Here the input is
// closed at once.
func TestAbandoned(t *testing.T) {
	if os.Getenv(Off) != "" {
		t.Skip(ErrOff)
	}
	bin, err := Binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if out, err := exec.Command(bin, "serve", "--dir", dir, "--temporary").CombinedOutput(); err != nil {
		t.Errorf("server ended with %v, want no error\n%s", err, out)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("folder was not removed: %v", err)
	}
}

// TestAbandonedKeeps checks that a temporary server does not remove files that
// it did not create.
func TestAbandonedKeeps(t *testing.T) {
	if os.Getenv(Off) != "" {
		t.Skip(ErrOff)
	}
	bin, err := Binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	theirs := filepath.Join(dir, "theirs.txt")
	if err := os.WriteFile(theirs, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(bin, "serve", "--dir", dir, "--temporary").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "it is not empty") {
		t.Errorf("server ended with %v, want an error\n%s", err, out)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("folder contains %v (error %v), want only %s", entries, err, theirs)
	}
}

func TestOff(t *testing.T) {
	t.Setenv(Off, "1")
	if _, err := Run(Options{}); !errors.Is(err, ErrOff) {
		t.Errorf("Run returned %v, want ErrOff", err)
	}
	t.Run("Start", func(t *testing.T) {
		Start(t, Options{})
		t.Error("test was not skipped")
	})
}

// get returns the object at a path, as the administrator or with a token.
func (s *Server) get(t *testing.T, path, token string) map[string]any {
	t.Helper()
	code, body, err := s.request(path, token)
	var got map[string]any
	if err == nil && code == http.StatusOK {
		err = json.Unmarshal(body, &got)
	}
	if err != nil || code != http.StatusOK {
		t.Fatalf("GET %s: %d %v\n%s", path, code, err, body)
	}
	return got
}

// status returns an error unless a request returns the wanted status.
func (s *Server) status(path, token string, want int) error {
	got, _, err := s.request(path, token)
	if err == nil && got != want {
		err = fmt.Errorf("GET %s returned %d, want %d", path, got, want)
	}
	return err
}

func (s *Server) request(path, token string) (int, []byte, error) {
	req, err := http.NewRequest(http.MethodGet, s.URL+path, nil)
	if err != nil {
		return 0, nil, err
	}
	client := s.Client()
	if token != "" {
		// With a client certificate the token would be ignored.
		plain := client.Transport.(*http.Transport).Clone()
		plain.TLSClientConfig.Certificates = nil
		defer plain.CloseIdleConnections()
		client = &http.Client{Transport: plain}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// write writes a manifest to a file.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wait waits until done returns no error.
func wait(t *testing.T, what string, done func() error) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := done()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s: %v", what, err)
		}
	}
}
