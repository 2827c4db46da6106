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

// serveSSH serves a repository over SSH, and returns the address and what a
// client needs.
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
		"Fine":      {"a key and a host that are known", false, func(*string, *Auth, *repo) {}, "", ""},
		"Empty":     {"a repository without commits", true, func(*string, *Auth, *repo) {}, "", ""},
		"NoKey":     {"no key", false, func(_ *string, a *Auth, _ *repo) { a.SSHKey = "" }, "the server asks for a key", "an SSH key that may write to it"},
		"Stranger":  {"a key the server does not know", false, func(_ *string, a *Auth, _ *repo) { a.SSHKey = stranger }, `does not accept the key of "git"`, "check that the key"},
		"Host":      {"a host nobody knows", false, func(_ *string, a *Auth, _ *repo) { a.HostKey = "" }, "is not known", "ask whoever runs the host"},
		"Gone":      {"a repository that is gone", false, func(at *string, _ *Auth, _ *repo) { *at += "x" }, "does not appear to be a git repository", "check the address"},
		"Protected": {"a branch that is protected", false, func(_ *string, _ *Auth, r *repo) { r.hook("update", "echo 'protected branch' >&2; exit 1") }, `hook declined, and says "protected branch"`, "name another branch"},
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

// TestSSHLarge hands in more than a pipe or a window holds.
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
