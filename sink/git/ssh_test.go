package git

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"example.dev/ingestor/sink"
)

// newKey returns a key pair, and the private half in PEM.
func newKey(t testing.TB) (ssh.Signer, sink.Secret) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return signer, sink.Secret(pem.EncodeToMemory(block))
}

// serveSSH runs git over a real SSH server for whoever has the key, and returns
// the address and what a client needs.
func serveSSH(t testing.TB, r *repo) (string, Auth) {
	t.Helper()
	needGit(t)
	host, _ := newKey(t)
	me, private := newKey(t)
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
		if !bytes.Equal(me.PublicKey().Marshal(), k.Marshal()) {
			return nil, errors.New("who is that?")
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(t.Context(), conn, config, filepath.Dir(r.dir))
		}
	}()
	return "ssh://git@" + l.Addr().String() + "/" + filepath.Base(r.dir), Auth{SSHKey: private, HostKey: ssh.FingerprintSHA256(host.PublicKey())}
}

func serve(ctx context.Context, conn net.Conn, config *ssh.ServerConfig, dir string) {
	defer conn.Close() //nolint:errcheck // the test is over
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		channel, requests, err := c.Accept()
		if err != nil {
			return
		}
		go func() {
			for req := range requests {
				_ = req.Reply(req.Type == "exec", nil)
				if req.Type == "exec" {
					status := run(ctx, string(req.Payload[4:]), channel, dir)
					_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
					_ = channel.Close()
				}
			}
		}()
	}
}

func run(ctx context.Context, command string, channel ssh.Channel, dir string) uint32 {
	program, path, _ := strings.Cut(strings.TrimPrefix(command, "git-"), " '/")
	if program != "upload-pack" && program != "receive-pack" {
		fmt.Fprintf(channel.Stderr(), "no such command: %s\n", command)
		return 127
	}
	cmd := exec.CommandContext(ctx, "git", "-c", "safe.directory=*", "-c", "receive.fsckObjects=true", program, filepath.Join(dir, strings.TrimSuffix(path, "'")))
	cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
	in, err := cmd.StdinPipe()
	if err != nil {
		return 127
	}
	go func() {
		// It ends with the channel, not with the program.
		_, _ = io.Copy(in, channel)
		_ = in.Close()
	}()
	if cmd.Run() != nil {
		return 128
	}
	return 0
}

func TestSSH(t *testing.T) {
	_, stranger := newKey(t)
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
