package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source"
)

// plugin writes a shell script that a kubeconfig runs for credentials, and
// returns a cluster whose kubeconfig does. The script finds the folder it lies
// in as $here.
func plugin(t *testing.T, server, script string) source.Cluster {
	t.Helper()
	at := write(t, "give-credentials", "here=\"$(dirname \"$0\")\"\n"+script+"\n")
	exec := fmt.Sprintf("exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [%q], interactiveMode: Never}", at)
	return source.Cluster{Kubeconfig: kubeconfigOf(t, server, "insecure-skip-tls-verify: true", exec)}
}

// counting prints a credential with a token that has another number each time,
// and lasts from now on for the time, which date understands.
func counting(lasts string) string {
	return `echo x >> "$here/count"
n=$(wc -l < "$here/count" | tr -d ' ')
end=$(date -u -d '` + lasts + `' +%Y-%m-%dT%H:%M:%SZ)
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s-` + marker + `","expirationTimestamp":"%s"}}' "$n" "$end"`
}

func TestProgram(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		script string
		accept func(string) bool
		want   []string
	}{
		"Kept":    {"a credential that lasts is asked for once", counting("+1 hour"), nil, []string{"1-" + marker, "1-" + marker}},
		"Expired": {"one that has expired is asked for again", counting("-1 second"), nil, []string{"1-" + marker, "2-" + marker}},
		"Refused": {"one that is refused is replaced, and the request repeated", counting("+1 hour"), only("2-" + marker), []string{"1-" + marker, "2-" + marker, "2-" + marker}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newAPI(t, tc.accept)
			a := open(t, plugin(t, srv.URL, tc.script))
			want(t, a, http.StatusOK)
			want(t, a, http.StatusOK)
			if diff := cmp.Diff(tc.want, srv.seen()); diff != "" {
				t.Errorf("%s\ntokens sent (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestProgramCertificate has a program give a certificate.
func TestProgramCertificate(t *testing.T) {
	t.Parallel()
	srv := newCertificateAPI(t, "program")
	cert, key := identity(t, "program")
	credential, err := json.Marshal(map[string]any{
		"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
		"status": map[string]string{"clientCertificateData": cert, "clientKeyData": key},
	})
	if err != nil {
		t.Fatal(err)
	}
	at := write(t, "credential.json", string(credential))
	want(t, open(t, plugin(t, srv.URL, fmt.Sprintf("cat %q", at))), http.StatusOK)
}

func TestProgramBad(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		script string
		want   string
	}{
		"Fails":     {"the exit code is said", "exit 3", "exit code 3"},
		"Nothing":   {"nothing is no credential", "", "not an ExecCredential"},
		"Bare":      {"a token alone is none, and is not shown", "echo " + marker, "not an ExecCredential"},
		"Broken":    {"nor is one that is cut off", `printf '{"kind":"ExecCredential","status":{"token":"` + marker + `'`, "not an ExecCredential"},
		"OldShape":  {"the version is the one asked for", `printf '{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":{"token":"` + marker + `"}}'`, "v1beta1"},
		"NoStatus":  {"there must be something in it", `printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential"}'`, "status"},
		"NoToken":   {"a token or a certificate", `printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{}}'`, "token"},
		"BadKey":    {"a key that is none is not shown", `printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"clientCertificateData":"` + marker + `","clientKeyData":"` + marker + `"}}'`, "key/certificate"},
		"OtherKind": {"another object is none", `printf '{"apiVersion":"v1","kind":"Secret","data":{"token":"` + marker + `"}}'`, "not an ExecCredential"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newAPI(t, nil)
			_, err := get(t.Context(), open(t, plugin(t, srv.URL, tc.script)), "/")
			if e, ok := errors.AsType[*CredentialError](err); !ok || !strings.Contains(err.Error(), tc.want) || !strings.Contains(e.Error(), `program "sh"`) {
				t.Fatalf("%s\ngot %v, want a CredentialError that names the program and says %q", tc.reason, err, tc.want)
			}
			keeps(t, err)
			if got := srv.seen(); len(got) > 0 {
				t.Errorf("%s\nthe server is asked without a credential: %q", tc.reason, got)
			}
		})
	}
}

func TestProgramMissing(t *testing.T) {
	t.Parallel()
	srv := newAPI(t, nil)
	gone := filepath.Join(t.TempDir(), "no-such-program")
	exec := fmt.Sprintf("exec: {apiVersion: client.authentication.k8s.io/v1, command: %q, interactiveMode: Never, installHint: get it, env: [{name: KEY, value: %s}]}", gone, marker)
	_, err := get(t.Context(), open(t, source.Cluster{Kubeconfig: kubeconfigOf(t, srv.URL, "insecure-skip-tls-verify: true", exec)}), "/")
	if e, ok := errors.AsType[*CredentialError](err); !ok || !strings.Contains(err.Error(), gone) || strings.Contains(e.Error(), "\n") {
		t.Fatalf("got %v, want a CredentialError of one line that names %s", err, gone)
	}
	keeps(t, err)
}

// TestProgramHangs has a program that never ends: nobody waits for it.
func TestProgramHangs(t *testing.T) {
	t.Parallel()
	srv := newAPI(t, nil)
	dir := t.TempDir()
	hang, ended := write(t, filepath.Join(dir, "hang"), ""), filepath.Join(dir, "ended")
	c := plugin(t, srv.URL, fmt.Sprintf("while [ -e %q ]; do sleep 0.05; done; echo x >> %q", hang, ended))
	a := open(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := get(ctx, a, "/")
	if e, ok := errors.AsType[*CredentialError](err); !ok || !strings.Contains(e.Error(), `program "sh" does not come to an end`) {
		t.Errorf("got %v, want a CredentialError that says so", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := get(ctx, a, "/"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("both took %v", took)
	}
	// Each call has left a program behind, one after the other.
	if err := os.Remove(hang); err != nil {
		t.Fatal(err)
	}
	for data := []byte(nil); len(data) < len("x\nx\n"); data, _ = os.ReadFile(ended) {
		time.Sleep(10 * time.Millisecond)
	}
}

// TestProgramServerHangs has a server that is to blame, not the program.
func TestProgramServerHangs(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	srv := newAPI(t, func(string) bool { <-stop; return true })
	t.Cleanup(func() { close(stop) })
	a := open(t, plugin(t, srv.URL, counting("+1 hour")))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for len(srv.seen()) == 0 {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	_, err := get(ctx, a, "/")
	if _, ok := errors.AsType[*CredentialError](err); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
