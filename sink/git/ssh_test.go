package git

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/sink"
	"example.dev/ingestor/test/gitserver"
)

// serveSSH serves a repository over SSH, and returns its URL and the
// credentials of a client.
func serveSSH(t testing.TB, r *repo) (string, Auth) {
	t.Helper()
	s := gitserver.ServeSSH(t, r.dir)
	return s.URL, Auth{SSHKey: sink.Secret(s.Me.PEM), HostKey: s.Host.Fingerprint()}
}

func TestSSH(t *testing.T) {
	stranger := sink.Secret(gitserver.NewKey(t, false).PEM)
	cases := map[string]struct {
		reason string
		empty  bool
		spoil  func(*string, *Auth, *repo)
		err    string
		hint   string
	}{
		"Fine":      {"A known key and a known host are accepted.", false, func(*string, *Auth, *repo) {}, "", ""},
		"Empty":     {"The first commit of a repository can be pushed.", true, func(*string, *Auth, *repo) {}, "", ""},
		"NoKey":     {"A missing key is reported.", false, func(_ *string, a *Auth, _ *repo) { a.SSHKey = "" }, "server requires an SSH key", "an SSH key that may write to it"},
		"Stranger":  {"A key that the server rejects is reported.", false, func(_ *string, a *Auth, _ *repo) { a.SSHKey = stranger }, `rejected the SSH credentials of user "git"`, "check that the key"},
		"Host":      {"An unknown host key is refused.", false, func(_ *string, a *Auth, _ *repo) { a.HostKey = "" }, "unknown host key", "verify the key with the operator"},
		"Gone":      {"A missing repository is reported.", false, func(at *string, _ *Auth, _ *repo) { *at += "x" }, "does not appear to be a git repository", "check the address"},
		"Protected": {"A protected branch is reported.", false, func(_ *string, _ *Auth, r *repo) { r.hook("update", "echo 'protected branch' >&2; exit 1") }, `hook declined: "protected branch"`, "push to another branch"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			want := map[string]string{"b": "b"}
			if !tc.empty {
				r.commit("main", map[string]string{"a": "a"})
				want["a"] = "a"
			}
			old := r.head("main")
			at, auth := serveSSH(t, r)
			tc.spoil(&at, &auth, r)
			got, err := New(at, Options{Branch: "main", Auth: auth}).Commit(t.Context(), contents("b", "b"))
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || !strings.Contains(hint(err), tc.hint) || r.head("main") != old {
					t.Errorf("%s\n%v, %q\nwant %q, %q", tc.reason, err, hint(err), tc.err, tc.hint)
				}
				return
			}
			if err != nil || !got.Pushed {
				t.Fatalf("%s\n%+v, %v", tc.reason, got, err)
			}
			if diff := cmp.Diff(want, r.files("main")); diff != "" {
				t.Errorf("%s\nfiles (-want +got):\n%s", tc.reason, diff)
			}
			r.fsck()
		})
	}
}

// TestSSHLarge pushes more than the buffer of a pipe or the window of a
// channel.
func TestSSHLarge(t *testing.T) {
	r := newRepo(t)
	at, auth := serveSSH(t, r)
	files := map[string][]byte{}
	for i := range 40 {
		data := make([]byte, 100<<10)
		_, _ = rand.Read(data)
		files[fmt.Sprint("f", i)] = data
	}
	if _, err := New(at, Options{Auth: auth}).Commit(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	if got := sorted(r.files(first)); len(got) != len(files) {
		t.Errorf("%d files, want %d", len(got), len(files))
	}
	got, err := New(at, Options{Auth: auth, Branch: first}).Commit(t.Context(), files)
	if err != nil || got.Commit != "" || got.Unchanged != len(files) {
		t.Errorf("again: %+v, %v", got, err)
	}
}
