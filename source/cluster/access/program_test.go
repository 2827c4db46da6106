package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source"
)

// plugin writes a shell script that a kubeconfig runs for credentials, and
// returns a cluster with this kubeconfig. $here is the folder of the script.
func plugin(t *testing.T, server, script string) source.Cluster {
	t.Helper()
	at := write(t, "give-credentials", "here=\"$(dirname \"$0\")\"\n"+script+"\n")
	exec := fmt.Sprintf("exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [%q], interactiveMode: Never}", at)
	return source.Cluster{Kubeconfig: kubeconfigOf(t, server, "insecure-skip-tls-verify: true", exec)}
}

// counting returns a script that prints a credential with a new number in its
// token each time. It expires after the given time, in the syntax of date.
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
		"Kept":    {"A credential is reused until it expires.", counting("+1 hour"), nil, []string{"1-" + marker, "1-" + marker}},
		"Expired": {"An expired credential is replaced.", counting("-1 second"), nil, []string{"1-" + marker, "2-" + marker}},
		"Refused": {"A refused credential is replaced, and the request is repeated.", counting("+1 hour"), only("2-" + marker), []string{"1-" + marker, "2-" + marker, "2-" + marker}},
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

// TestProgramCertificate checks a program that returns a certificate.
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
		"Fails":     {"The exit code is reported.", "exit 3", "exit code 3"},
		"Nothing":   {"An empty output is refused.", "", "not an ExecCredential"},
		"Bare":      {"A bare token is refused and not shown.", "echo " + marker, "not an ExecCredential"},
		"Broken":    {"An output that is cut off is refused.", `printf '{"kind":"ExecCredential","status":{"token":"` + marker + `'`, "not an ExecCredential"},
		"OldShape":  {"Another API version than requested is refused.", `printf '{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":{"token":"` + marker + `"}}'`, "v1beta1"},
		"NoStatus":  {"An output without a status is refused.", `printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential"}'`, "status"},
		"NoToken":   {"A status without a token or a certificate is refused.", `printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{}}'`, "token"},
		"BadKey":    {"An invalid key is not shown.", `printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"clientCertificateData":"` + marker + `","clientKeyData":"` + marker + `"}}'`, "key/certificate"},
		"OtherKind": {"Another kind of object is refused.", `printf '{"apiVersion":"v1","kind":"Secret","data":{"token":"` + marker + `"}}'`, "not an ExecCredential"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newAPI(t, nil)
			_, err := get(t.Context(), open(t, plugin(t, srv.URL, tc.script)), "/")
			if e, ok := errors.AsType[*CredentialError](err); !ok || e.Temporary() || !strings.Contains(err.Error(), tc.want) || !strings.Contains(e.Error(), `program "sh"`) {
				t.Fatalf("%s\ngot %v, want a CredentialError that names the program and says %q", tc.reason, err, tc.want)
			}
			checkNoSecrets(t, err)
			if got := srv.seen(); len(got) > 0 {
				t.Errorf("%s\nserver was asked without a credential: %q", tc.reason, got)
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
	checkNoSecrets(t, err)
}

// TestProgramHangs checks a credential program that hangs for a while: callers
// do not wait for it, it is not started a second time, and its result is used
// when it ends.
func TestProgramHangs(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		giveUp func(context.Context) (context.Context, context.CancelFunc)
		want   error
	}{
		"Late": {"A call that times out reports the hanging program.", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 100*time.Millisecond)
		}, nil},
		"Canceled": {"A cancelled call reports the hanging program.", canceledSoon, context.Canceled},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newAPI(t, nil)
			dir := t.TempDir()
			hang, count := write(t, filepath.Join(dir, "hang"), ""), filepath.Join(dir, "count")
			script := fmt.Sprintf("echo x >> %q; while [ -e %q ]; do sleep 0.05; done\n", count, hang)
			a := open(t, plugin(t, srv.URL, script+counting("+1 hour")))
			ctx, cancel := tc.giveUp(t.Context())
			defer cancel()
			_, err := get(ctx, a, "/")
			if tc.want != nil && !errors.Is(err, tc.want) || tc.want == nil && !isEndless(err) {
				t.Errorf("%s\ngot %v", tc.reason, err)
			}
			wait(t, "the call to wait for the program", func() bool { return a.Client.Transport.(*program).hung.Load() > 0 })
			for range 10 {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				if _, err = get(ctx, a, "/"); !isEndless(err) || ctx.Err() != nil {
					t.Fatalf("%s\ngot %v, want an immediate error", tc.reason, err)
				}
			}
			if e, _ := errors.AsType[*CredentialError](err); e.Temporary() {
				t.Errorf("%s\nerror of a program that hangs is temporary, want it permanent", tc.reason)
			}
			if err := os.Remove(hang); err != nil {
				t.Fatal(err)
			}
			wait(t, "the program to end", func() bool {
				status, err := get(t.Context(), a, "/")
				return err == nil && status == http.StatusOK
			})
			if data, err := os.ReadFile(count); err != nil || string(data) != "x\n" {
				t.Errorf("%s\nprogram was started %d times, %v, want once", tc.reason, len(data)/2, err)
			}
		})
	}
}

// isEndless reports whether an error is that of a program that hangs.
func isEndless(err error) bool {
	e, ok := errors.AsType[*CredentialError](err)
	return ok && strings.Contains(e.Error(), `program "sh" does not terminate`)
}

// canceledSoon cancels a call in progress.
func canceledSoon(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	time.AfterFunc(100*time.Millisecond, cancel)
	return ctx, cancel
}

// TestProgramsTogether checks many programs that are needed at once: only a
// limited number runs at a time, and no program waits for responses of a
// server.
func TestProgramsTogether(t *testing.T) {
	t.Parallel()
	const all = 20
	stop := make(chan struct{})
	srv := newAPI(t, func(string) bool { <-stop; return true })
	dir := t.TempDir()
	// A program records how many are running, including itself.
	script := fmt.Sprintf("touch %[1]q/run-$$; ls %[1]q | grep -c run- >> %[1]q/counts; sleep 0.2; rm %[1]q/run-$$\n", dir)
	var wg sync.WaitGroup
	for range all {
		a := open(t, plugin(t, srv.URL, script+counting("+1 hour")))
		wg.Go(func() {
			if status, err := get(t.Context(), a, "/"); err != nil || status != http.StatusOK {
				t.Errorf("server answered %d, %v", status, err)
			}
		})
	}
	wait(t, "all calls to reach a server that does not answer", func() bool { return len(srv.seen()) == all })
	close(stop)
	wg.Wait()
	data, err := os.ReadFile(filepath.Join(dir, "counts"))
	if err != nil {
		t.Fatal(err)
	}
	for count := range strings.FieldsSeq(string(data)) {
		if n, err := strconv.Atoi(count); err != nil || n > cap(starting) {
			t.Errorf("%s programs ran at once, want at most %d", count, cap(starting))
		}
	}
}

// TestProgramServerHangs checks that a hanging server is not reported as a
// hanging program.
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
