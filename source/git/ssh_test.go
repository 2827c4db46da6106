package git

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh/knownhosts"

	"example.dev/ingestor/source"
	"example.dev/ingestor/test/gitserver"
)

// sshAuth is what a client that knows all needs.
func sshAuth(s *gitserver.SSH) Auth {
	return Auth{SSHKey: source.Secret(s.Me.PEM), HostKey: s.Host.Authorized()}
}

func TestSSH(t *testing.T) {
	r := newRepo(t)
	r.commit("master", files("a.yaml"))
	srv := gitserver.ServeSSH(t, r.dir)
	stranger := gitserver.NewKey(t, false)
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
	host, port, _ := net.SplitHostPort(srv.Addr)
	line := func(name string, k gitserver.Key) string {
		return name + " " + strings.TrimSpace(k.Authorized())
	}
	named := "[" + host + "]:" + port
	known := line(named, srv.Host)
	withKey := func(a Auth) Auth {
		if a.SSHKey == "" && a.SSHKeyFile == "" {
			a.SSHKey = source.Secret(srv.Me.PEM)
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
		"Known":       {"a key and a host that are known", srv.URL, withKey(Auth{KnownHostsFile: hosts(known)}), "", ""},
		"Files":       {"both in files", srv.URL, Auth{SSHKeyFile: write("key", srv.Me.PEM), KnownHostsFile: hosts("# mine\n\n" + known + " a remark of words\n")}, "", ""},
		"Hashed":      {"a name that is hidden", srv.URL, withKey(Auth{KnownHostsFile: hosts(line(knownhosts.HashHostname(named), srv.Host))}), "", ""},
		"Pattern":     {"a pattern", srv.URL, withKey(Auth{KnownHostsFile: hosts(line("other,[127.0.?.*]:"+port, srv.Host))}), "", ""},
		"Several":     {"one of several keys", srv.URL, withKey(Auth{KnownHostsFile: hosts(line(named, stranger) + "\n" + known)}), "", ""},
		"HostKey":     {"a key that is named", srv.URL, withKey(Auth{HostKey: srv.Host.Authorized()}), "", ""},
		"Fingerprint": {"a fingerprint that is named", srv.URL, withKey(Auth{HostKey: srv.Host.Fingerprint()}), "", ""},
		"Username":    {"any user name, as far as this server cares", strings.Replace(srv.URL, "git@", "", 1), withKey(Auth{Username: "me", KnownHostsFile: hosts(known)}), "", ""},
		"Password":    {"a password in the address", strings.Replace(srv.URL, "git@", "git:s3cr3t-word@", 1), Auth{KnownHostsFile: hosts(known)}, "", ""},

		"Unknown":       {"a host nobody knows", srv.URL, withKey(Auth{}), "ssh-ed25519 " + srv.Host.Fingerprint() + ", is not known", "ask whoever runs the host"},
		"OtherPort":     {"a host known at another port", srv.URL, withKey(Auth{KnownHostsFile: hosts(line(host, srv.Host))}), "is not known", "ask whoever runs the host"},
		"Negated":       {"a pattern that rules it out", srv.URL, withKey(Auth{KnownHostsFile: hosts(line("*,!"+named, srv.Host))}), "is not known", ""},
		"Mismatch":      {"a host with another key", srv.URL, withKey(Auth{KnownHostsFile: hosts(line(named, stranger))}), "is not the one that is known: it shows ssh-ed25519 SHA256:", "somebody may be listening"},
		"HostKeyOther":  {"another key than the one named", srv.URL, withKey(Auth{HostKey: stranger.Fingerprint()}), "is not the one that is known", "somebody may be listening"},
		"NamedFirst":    {"a key that is named goes before known_hosts", srv.URL, withKey(Auth{HostKey: stranger.Authorized(), KnownHostsFile: hosts(known)}), "is not the one that is known", ""},
		"Revoked":       {"a key that was revoked", srv.URL, withKey(Auth{KnownHostsFile: hosts(known + "\n@revoked " + line("*", srv.Host))}), "revoked", "ask whoever"},
		"HostKeyBad":    {"what is no key", srv.URL, withKey(Auth{HostKey: "hello"}), "neither a public key nor a fingerprint", "write"},
		"HostsBad":      {"a file that is none", srv.URL, withKey(Auth{KnownHostsFile: hosts("hello\n")}), "cannot be read", "what is in it"},
		"NoHosts":       {"a file that is not there", srv.URL, withKey(Auth{KnownHostsFile: filepath.Join(dir, "nope")}), "cannot be read", "check the path"},
		"Stranger":      {"a key the server does not know", srv.URL, Auth{SSHKey: source.Secret(stranger.PEM), KnownHostsFile: hosts(known)}, `does not accept the key of "git"`, "check that the key"},
		"NoKey":         {"no key", srv.URL, Auth{KnownHostsFile: hosts(known)}, "the server asks for a key", "give an SSH key"},
		"NotKey":        {"what is no key", srv.URL, Auth{SSHKey: "s3cr3t-nonsense", KnownHostsFile: hosts(known)}, "the SSH key is no private key in PEM", "BEGIN"},
		"PasswordWrong": {"a wrong password", strings.Replace(srv.URL, "git@", "git:s3cr3t-wrong@", 1), Auth{KnownHostsFile: hosts(known)}, "does not accept", ""},
		"NotFound":      {"a slip in the path", strings.Replace(srv.URL, "defs", "nope", 1), withKey(Auth{KnownHostsFile: hosts(known)}), "does not appear to be a git repository", "check the address"},
		"Complaint":     {"a server with words of its own", strings.Replace(strings.Replace(srv.URL, "defs", "secret", 1), "git@", "git:s3cr3t-word@", 1), Auth{KnownHostsFile: hosts(known)}, `the server says "ERROR: go away, ********[0m"`, "check the address"},
		"Silence":       {"a server without a word", strings.Replace(srv.URL, "defs", "silent", 1), withKey(Auth{KnownHostsFile: hosts(known)}), "without a word", "check the address"},
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
				if strings.Contains(shown, "s3cr3t") || strings.Contains(shown, "PRIVATE KEY-----\n") || strings.Contains(shown, gitserver.Passphrase) {
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
			gitserver.Silent(t.Context(), conn)
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
		srv := gitserver.ServeSSH(t, r.dir)
		ctx, cancel := context.WithCancelCause(t.Context())
		srv.Hang = func() { cancel(enough) }
		soon(t, func() {
			if _, err := New(srv.URL, Options{Auth: sshAuth(srv)}).Read(ctx); !errors.Is(err, enough) {
				t.Errorf("Read: %v", err)
			}
		})
	})
}

// TestLocked unlocks a key.
func TestLocked(t *testing.T) {
	r := newRepo(t)
	r.commit("master", files("a.yaml"))
	srv := gitserver.ServeSSH(t, r.dir)
	srv.Me = gitserver.NewKey(t, true)
	for name, tc := range map[string]struct {
		reason string
		phrase source.Secret
		err    string
	}{
		"None":  {"a key that is locked", "", "the passphrase does not fit"},
		"Wrong": {"a passphrase that does not fit", "s3cr3t-phrase", "the passphrase does not fit"},
		"Right": {"a passphrase that fits", gitserver.Passphrase, ""},
	} {
		t.Run(name, func(t *testing.T) {
			auth := sshAuth(srv)
			auth.Passphrase = tc.phrase
			_, err := New(srv.URL, Options{Auth: auth}).Read(t.Context())
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s\nRead: %v, want %q", tc.reason, err, tc.err)
			}
			if shown := fmt.Sprintf("%v %+v %#v %s", err, err, err, hints(err)); strings.Contains(shown, "s3cr3t") {
				t.Errorf("%s\nthe secret is shown: %s", tc.reason, shown)
			}
		})
	}
}
