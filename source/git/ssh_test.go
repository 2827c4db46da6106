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

// sshAuth returns valid credentials for a server.
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
		"Known":       {"A known key and a known host are accepted.", srv.URL, withKey(Auth{KnownHostsFile: hosts(known)}), "", ""},
		"Files":       {"Key and known hosts can be files.", srv.URL, Auth{SSHKeyFile: write("key", srv.Me.PEM), KnownHostsFile: hosts("# mine\n\n" + known + " a remark of words\n")}, "", ""},
		"Hashed":      {"A hashed host name is supported.", srv.URL, withKey(Auth{KnownHostsFile: hosts(line(knownhosts.HashHostname(named), srv.Host))}), "", ""},
		"Pattern":     {"A host pattern matches.", srv.URL, withKey(Auth{KnownHostsFile: hosts(line("other,[127.0.?.*]:"+port, srv.Host))}), "", ""},
		"Several":     {"One of several keys of a host is accepted.", srv.URL, withKey(Auth{KnownHostsFile: hosts(line(named, stranger) + "\n" + known)}), "", ""},
		"HostKey":     {"A host key can be configured.", srv.URL, withKey(Auth{HostKey: srv.Host.Authorized()}), "", ""},
		"Fingerprint": {"A fingerprint can be configured.", srv.URL, withKey(Auth{HostKey: srv.Host.Fingerprint()}), "", ""},
		"Username":    {"The user name can be configured.", strings.Replace(srv.URL, "git@", "", 1), withKey(Auth{Username: "me", KnownHostsFile: hosts(known)}), "", ""},
		"Password":    {"A password in the URL is supported.", strings.Replace(srv.URL, "git@", "git:s3cr3t-word@", 1), Auth{KnownHostsFile: hosts(known)}, "", ""},

		"Unknown":       {"An unknown host key is refused.", srv.URL, withKey(Auth{}), ": ssh-ed25519 " + srv.Host.Fingerprint(), "verify the key with the operator"},
		"OtherPort":     {"A host key for another port is not used.", srv.URL, withKey(Auth{KnownHostsFile: hosts(line(host, srv.Host))}), "unknown host key", "verify the key with the operator"},
		"Negated":       {"A negated pattern excludes a host.", srv.URL, withKey(Auth{KnownHostsFile: hosts(line("*,!"+named, srv.Host))}), "unknown host key", ""},
		"Mismatch":      {"A changed host key is refused.", srv.URL, withKey(Auth{KnownHostsFile: hosts(line(named, stranger))}), "does not match the known key: got ssh-ed25519 SHA256:", "may be intercepted"},
		"HostKeyOther":  {"A host key other than the configured one is refused.", srv.URL, withKey(Auth{HostKey: stranger.Fingerprint()}), "does not match the known key", "may be intercepted"},
		"NamedFirst":    {"A configured host key overrides known_hosts.", srv.URL, withKey(Auth{HostKey: stranger.Authorized(), KnownHostsFile: hosts(known)}), "does not match the known key", ""},
		"Revoked":       {"A revoked host key is refused.", srv.URL, withKey(Auth{KnownHostsFile: hosts(known + "\n@revoked " + line("*", srv.Host))}), "revoked", "ask the operator"},
		"HostKeyBad":    {"An invalid host key is reported.", srv.URL, withKey(Auth{HostKey: "hello"}), "neither a public key nor a fingerprint", "write"},
		"HostsBad":      {"An invalid known_hosts file is reported.", srv.URL, withKey(Auth{KnownHostsFile: hosts("hello\n")}), "cannot read the known_hosts file", "the content of the file"},
		"NoHosts":       {"A missing known_hosts file is reported.", srv.URL, withKey(Auth{KnownHostsFile: filepath.Join(dir, "nope")}), "cannot read the known_hosts file", "check the path"},
		"Stranger":      {"A key that the server rejects is reported.", srv.URL, Auth{SSHKey: source.Secret(stranger.PEM), KnownHostsFile: hosts(known)}, `rejected the SSH credentials of user "git"`, "check that the key"},
		"NoKey":         {"A missing key is reported.", srv.URL, Auth{KnownHostsFile: hosts(known)}, "server requires an SSH key", "set an SSH key"},
		"NotKey":        {"An invalid key is reported and not shown.", srv.URL, Auth{SSHKey: "s3cr3t-nonsense", KnownHostsFile: hosts(known)}, "SSH key is not a private key in PEM format", "BEGIN"},
		"PasswordWrong": {"A wrong password is reported and not shown.", strings.Replace(srv.URL, "git@", "git:s3cr3t-wrong@", 1), Auth{KnownHostsFile: hosts(known)}, "server rejected the SSH credentials", ""},
		"NotFound":      {"A missing repository is reported.", strings.Replace(srv.URL, "defs", "nope", 1), withKey(Auth{KnownHostsFile: hosts(known)}), "does not appear to be a git repository", "check the address"},
		"Complaint":     {"The error message of the server is shown without the secret.", strings.Replace(strings.Replace(srv.URL, "defs", "secret", 1), "git@", "git:s3cr3t-word@", 1), Auth{KnownHostsFile: hosts(known)}, `server responded with "ERROR: go away, ********[0m"`, "check the address"},
		"Silence":       {"A server that closes the connection is reported.", strings.Replace(srv.URL, "defs", "silent", 1), withKey(Auth{KnownHostsFile: hosts(known)}), "closed the connection without a response", "check the address"},
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
					t.Errorf("%s\nsecret is in the error: %s", tc.reason, shown)
				}
			}
		})
	}
}

// TestCancelSSH cancels while the server is silent: before the handshake, and
// before the list of refs.
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
		mustReturn(t, func() {
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
		mustReturn(t, func() {
			if _, err := New(srv.URL, Options{Auth: sshAuth(srv)}).Read(ctx); !errors.Is(err, enough) {
				t.Errorf("Read: %v", err)
			}
		})
	})
}

// TestLocked checks keys with a passphrase.
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
		"None":  {"A missing passphrase is reported.", "", "the passphrase is wrong"},
		"Wrong": {"A wrong passphrase is reported.", "s3cr3t-phrase", "the passphrase is wrong"},
		"Right": {"The right passphrase unlocks the key.", gitserver.Passphrase, ""},
	} {
		t.Run(name, func(t *testing.T) {
			auth := sshAuth(srv)
			auth.Passphrase = tc.phrase
			_, err := New(srv.URL, Options{Auth: auth}).Read(t.Context())
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s\nRead: %v, want %q", tc.reason, err, tc.err)
			}
			if shown := fmt.Sprintf("%v %+v %#v %s", err, err, err, hints(err)); strings.Contains(shown, "s3cr3t") {
				t.Errorf("%s\nsecret is in the error: %s", tc.reason, shown)
			}
		})
	}
}
