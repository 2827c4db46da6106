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
			if e, ok := errors.AsType[*CredentialError](err); !ok || e.Temporary() || !strings.Contains(err.Error(), tc.want) || !strings.Contains(e.Error(), `program "sh"`) {
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

// TestProgramHangs has a program that does not end for a while: nobody waits
// for it, nobody starts it again meanwhile, and then it is as good as any.
func TestProgramHangs(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		giveUp func(context.Context) (context.Context, context.CancelFunc)
		want   error
	}{
		"Late": {"a call has no more time", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 100*time.Millisecond)
		}, nil},
		"Canceled": {"a call is not wanted any more", canceledSoon, context.Canceled},
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
			wait(t, "what the call waits for to show", func() bool { return a.Client.Transport.(*program).hung.Load() > 0 })
			for range 10 {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				if _, err = get(ctx, a, "/"); !isEndless(err) || ctx.Err() != nil {
					t.Fatalf("%s\ngot %v, want a failure at once", tc.reason, err)
				}
			}
			if e, _ := errors.AsType[*CredentialError](err); e.Temporary() {
				t.Errorf("%s\na program that hangs is said to pass", tc.reason)
			}
			if err := os.Remove(hang); err != nil {
				t.Fatal(err)
			}
			wait(t, "a program that came to its end", func() bool {
				status, err := get(t.Context(), a, "/")
				return err == nil && status == http.StatusOK
			})
			if data, err := os.ReadFile(count); err != nil || string(data) != "x\n" {
				t.Errorf("%s\nthe program was started %d times, %v, want once", tc.reason, len(data)/2, err)
			}
		})
	}
}

// isEndless reports whether an error says that a program hangs.
func isEndless(err error) bool {
	e, ok := errors.AsType[*CredentialError](err)
	return ok && strings.Contains(e.Error(), `program "sh" does not come to an end`)
}

// canceledSoon cancels a call while it is made.
func canceledSoon(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	time.AfterFunc(100*time.Millisecond, cancel)
	return ctx, cancel
}

// TestProgramsTogether has many programs that are asked at once: only some of
// them run at a time, and none waits for what the server takes.
func TestProgramsTogether(t *testing.T) {
	t.Parallel()
	const all = 20
	stop := make(chan struct{})
	srv := newAPI(t, func(string) bool { <-stop; return true })
	dir := t.TempDir()
	// A program notes how many there are, itself included.
	script := fmt.Sprintf("touch %[1]q/run-$$; ls %[1]q | grep -c run- >> %[1]q/counts; sleep 0.2; rm %[1]q/run-$$\n", dir)
	var wg sync.WaitGroup
	for range all {
		a := open(t, plugin(t, srv.URL, script+counting("+1 hour")))
		wg.Go(func() {
			if status, err := get(t.Context(), a, "/"); err != nil || status != http.StatusOK {
				t.Errorf("the server answers %d, %v", status, err)
			}
		})
	}
	wait(t, "all calls at a server that does not answer", func() bool { return len(srv.seen()) == all })
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
