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
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"example.dev/ingestor/source"
)

var discard = log.New(io.Discard, "", 0)

// key is a key pair, and the private half in PEM.
type key struct {
	ssh.Signer
	pem source.Secret
}

const passphrase = "0pen-sesame"

func newKey(t testing.TB, locked bool) key {
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
	if locked {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	return key{signer, source.Secret(pem.EncodeToMemory(block))}
}

// sshServer is a real SSH server that runs git for whoever has the key.
type sshServer struct {
	url, addr string
	host, me  key
	dir       string
	// runs counts the commands.
	runs atomic.Int32
	// hang, if not nil, is called instead of git.
	hang func()
}

func serveSSH(t testing.TB, r *repo) *sshServer {
	t.Helper()
	needGit(t)
	s := &sshServer{host: newKey(t, false), me: newKey(t, false), dir: filepath.Dir(r.dir)}
	config := &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
			if !bytes.Equal(s.me.PublicKey().Marshal(), k.Marshal()) {
				return nil, errors.New("who is that?")
			}
			return nil, nil
		},
		PasswordCallback: func(_ ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
			if string(password) != "s3cr3t-word" {
				return nil, errors.New("what is that?")
			}
			return nil, nil
		},
	}
	config.AddHostKey(s.host)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s.addr = l.Addr().String()
	s.url = "ssh://git@" + s.addr + "/" + filepath.Base(r.dir)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(t.Context(), conn, config)
		}
	}()
	return s
}

// auth is what a client that knows all needs.
func (s *sshServer) auth() Auth {
	return Auth{SSHKey: s.me.pem, HostKey: string(ssh.MarshalAuthorizedKey(s.host.PublicKey()))}
}

func (s *sshServer) serve(ctx context.Context, conn net.Conn, config *ssh.ServerConfig) {
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
					status := s.run(ctx, string(req.Payload[4:]), channel)
					_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
					_ = channel.Close()
				}
			}
		}()
	}
}

func (s *sshServer) run(ctx context.Context, command string, channel ssh.Channel) uint32 {
	s.runs.Add(1)
	if s.hang != nil {
		s.hang()
		silent(ctx, channel)
		return 1
	}
	path, ok := strings.CutPrefix(command, "git-upload-pack '/")
	if !ok {
		fmt.Fprintf(channel.Stderr(), "no such command: %s\n", command)
		return 127
	}
	path = strings.TrimSuffix(path, "'")
	if path == "secret.git" {
		fmt.Fprintf(channel.Stderr(), "remote: \nremote: =====\nERROR: go away, s3cr3t-word\x1b[0m\n")
		return 1
	}
	if path == "silent.git" {
		return 1
	}
	cmd := exec.CommandContext(ctx, "git", "-c", "safe.directory=*", "upload-pack", filepath.Join(s.dir, path))
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
	r := newRepo(t)
	r.commit("master", files("a.yaml"))
	srv := serveSSH(t, r)
	stranger := newKey(t, false)
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	files := 0
	hosts := func(text string) string {
		files++
		return write(fmt.Sprint("hosts", files), text)
	}
	host, port, _ := net.SplitHostPort(srv.addr)
	line := func(name string, k key) string {
		return name + " " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k.PublicKey())))
	}
	named := "[" + host + "]:" + port
	known := line(named, srv.host)
	withKey := func(a Auth) Auth {
		if a.SSHKey == "" && a.SSHKeyFile == "" {
			a.SSHKey = srv.me.pem
		}
		return a
	}
	cases := map[string]struct {
		reason string
		at     string
		auth   Auth
		err    string
		hint   string
	}{
		"Known":       {"a key and a host that are known", srv.url, withKey(Auth{KnownHostsFile: hosts(known)}), "", ""},
		"Files":       {"both in files", srv.url, Auth{SSHKeyFile: write("key", srv.me.pem.Reveal()), KnownHostsFile: hosts("# mine\n\n" + known + " a remark of words\n")}, "", ""},
		"Hashed":      {"a name that is hidden", srv.url, withKey(Auth{KnownHostsFile: hosts(line(knownhosts.HashHostname(named), srv.host))}), "", ""},
		"Pattern":     {"a pattern", srv.url, withKey(Auth{KnownHostsFile: hosts(line("other,[127.0.?.*]:"+port, srv.host))}), "", ""},
		"Several":     {"one of several keys", srv.url, withKey(Auth{KnownHostsFile: hosts(line(named, stranger) + "\n" + known)}), "", ""},
		"HostKey":     {"a key that is named", srv.url, withKey(Auth{HostKey: string(ssh.MarshalAuthorizedKey(srv.host.PublicKey()))}), "", ""},
		"Fingerprint": {"a fingerprint that is named", srv.url, withKey(Auth{HostKey: ssh.FingerprintSHA256(srv.host.PublicKey())}), "", ""},
		"Username":    {"any user name, as far as this server cares", strings.Replace(srv.url, "git@", "", 1), withKey(Auth{Username: "me", KnownHostsFile: hosts(known)}), "", ""},
		"Password":    {"a password in the address", strings.Replace(srv.url, "git@", "git:s3cr3t-word@", 1), Auth{KnownHostsFile: hosts(known)}, "", ""},

		"Unknown":       {"a host nobody knows", srv.url, withKey(Auth{}), "ssh-ed25519 " + ssh.FingerprintSHA256(srv.host.PublicKey()) + ", is not known", "ask whoever runs the host"},
		"OtherPort":     {"a host known at another port", srv.url, withKey(Auth{KnownHostsFile: hosts(line(host, srv.host))}), "is not known", "ask whoever runs the host"},
		"Negated":       {"a pattern that rules it out", srv.url, withKey(Auth{KnownHostsFile: hosts(line("*,!"+named, srv.host))}), "is not known", ""},
		"Mismatch":      {"a host with another key", srv.url, withKey(Auth{KnownHostsFile: hosts(line(named, stranger))}), "is not the one that is known: it shows ssh-ed25519 SHA256:", "somebody may be listening"},
		"HostKeyOther":  {"another key than the one named", srv.url, withKey(Auth{HostKey: ssh.FingerprintSHA256(stranger.PublicKey())}), "is not the one that is known", "somebody may be listening"},
		"NamedFirst":    {"a key that is named goes before known_hosts", srv.url, withKey(Auth{HostKey: string(ssh.MarshalAuthorizedKey(stranger.PublicKey())), KnownHostsFile: hosts(known)}), "is not the one that is known", ""},
		"Revoked":       {"a key that was revoked", srv.url, withKey(Auth{KnownHostsFile: hosts(known + "\n@revoked " + line("*", srv.host))}), "revoked", "ask whoever"},
		"HostKeyBad":    {"what is no key", srv.url, withKey(Auth{HostKey: "hello"}), "neither a public key nor a fingerprint", "write"},
		"HostsBad":      {"a file that is none", srv.url, withKey(Auth{KnownHostsFile: hosts("hello\n")}), "cannot be read", "what is in it"},
		"NoHosts":       {"a file that is not there", srv.url, withKey(Auth{KnownHostsFile: filepath.Join(dir, "nope")}), "cannot be read", "check the path"},
		"Stranger":      {"a key the server does not know", srv.url, Auth{SSHKey: stranger.pem, KnownHostsFile: hosts(known)}, `does not accept the key of "git"`, "check that the key"},
		"NoKey":         {"no key", srv.url, Auth{KnownHostsFile: hosts(known)}, "the server asks for a key", "give an SSH key"},
		"NotKey":        {"what is no key", srv.url, Auth{SSHKey: "s3cr3t-nonsense", KnownHostsFile: hosts(known)}, "the SSH key is no private key in PEM", "BEGIN"},
		"PasswordWrong": {"a wrong password", strings.Replace(srv.url, "git@", "git:s3cr3t-wrong@", 1), Auth{KnownHostsFile: hosts(known)}, "does not accept", ""},
		"NotFound":      {"a slip in the path", strings.Replace(srv.url, "defs", "nope", 1), withKey(Auth{KnownHostsFile: hosts(known)}), "does not appear to be a git repository", "check the address"},
		"Complaint":     {"a server with words of its own", strings.Replace(strings.Replace(srv.url, "defs", "secret", 1), "git@", "git:s3cr3t-word@", 1), Auth{KnownHostsFile: hosts(known)}, `the server says "ERROR: go away, ********[0m"`, "check the address"},
		"Silence":       {"a server without a word", strings.Replace(srv.url, "defs", "silent", 1), withKey(Auth{KnownHostsFile: hosts(known)}), "without a word", "check the address"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := New(tc.at, Options{Auth: tc.auth})
			set, err := s.Read(t.Context())
			_, headErr := s.Head(t.Context())
			if tc.err == "" && (err != nil || headErr != nil || len(set.Definitions) != 1) {
				t.Errorf("%s\nRead: %v\nHead: %v", tc.reason, err, headErr)
			}
			for _, err := range []error{err, headErr} {
				if tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err) || !strings.Contains(hints(err), tc.hint)) {
					t.Errorf("%s\n%v, %q\nwant %q, %q", tc.reason, err, hints(err), tc.err, tc.hint)
				}
				shown := fmt.Sprintf("%v %+v %#v %s %s", err, err, err, hints(err), s.Repository())
				if strings.Contains(shown, "s3cr3t") || strings.Contains(shown, "PRIVATE KEY-----\n") || strings.Contains(shown, passphrase) {
					t.Errorf("%s\nthe secret is shown: %s", tc.reason, shown)
				}
			}
		})
	}
}

// TestCancelSSH cancels while the server says nothing: before the handshake,
// and when it should list what there is.
func TestCancelSSH(t *testing.T) {
	enough := errors.New("enough")
	t.Run("Handshake", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() //nolint:errcheck // the test is over
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			cancel(enough)
			silent(t.Context(), conn)
		}()
		soon(t, func() {
			if _, err := New("ssh://git@"+l.Addr().String()+"/r", Options{}).Read(ctx); !errors.Is(err, enough) {
				t.Errorf("Read: %v", err)
			}
		})
	})
	t.Run("Refs", func(t *testing.T) {
		r := newRepo(t)
		r.commit("master", files("a.yaml"))
		srv := serveSSH(t, r)
		ctx, cancel := context.WithCancelCause(t.Context())
		srv.hang = func() { cancel(enough) }
		soon(t, func() {
			if _, err := New(srv.url, Options{Auth: srv.auth()}).Read(ctx); !errors.Is(err, enough) {
				t.Errorf("Read: %v", err)
			}
		})
	})
}

// TestLocked unlocks a key.
func TestLocked(t *testing.T) {
	r := newRepo(t)
	r.commit("master", files("a.yaml"))
	srv := serveSSH(t, r)
	srv.me = newKey(t, true)
	for name, tc := range map[string]struct {
		reason string
		phrase source.Secret
		err    string
	}{
		"None":  {"a key that is locked", "", "the passphrase does not fit"},
		"Wrong": {"a passphrase that does not fit", "s3cr3t-phrase", "the passphrase does not fit"},
		"Right": {"a passphrase that fits", passphrase, ""},
	} {
		t.Run(name, func(t *testing.T) {
			auth := srv.auth()
			auth.Passphrase = tc.phrase
			_, err := New(srv.url, Options{Auth: auth}).Read(t.Context())
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s\nRead: %v, want %q", tc.reason, err, tc.err)
			}
			if shown := fmt.Sprintf("%v %+v %#v %s", err, err, err, hints(err)); strings.Contains(shown, "s3cr3t") {
				t.Errorf("%s\nthe secret is shown: %s", tc.reason, shown)
			}
		})
	}
}
