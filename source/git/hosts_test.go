package git

import (
	"crypto/rand"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"example.dev/ingestor/source"
)

// TestLocked unlocks a key.
func TestLocked(t *testing.T) {
	locked := newKey(t, true)
	for name, tc := range map[string]struct {
		reason string
		phrase source.Secret
		err    string
		hint   string
	}{
		"None":  {"a key that is locked", "", "the SSH key is locked", "give its passphrase"},
		"Wrong": {"a passphrase that does not fit", "s3cr3t-phrase", "the passphrase does not fit", "check the passphrase"},
		"Right": {"a passphrase that fits", passphrase, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := New("git@127.0.0.1:r", Options{Auth: Auth{SSHKey: locked.pem, Passphrase: tc.phrase}})
			creds, err := s.opts.Auth.credentials(s.at)
			if tc.err == "" {
				if err != nil || !among([]ssh.PublicKey{locked.PublicKey()}, creds.key.PublicKey()) {
					t.Errorf("%s\n%v", tc.reason, err)
				}
				return
			}
			if err == nil {
				t.Fatalf("%s\nthe key is not locked", tc.reason)
			}
			err = s.fail(t.Context(), err, creds)
			shown := fmt.Sprintf("%v %+v %#v %s", err, err, err, hints(err))
			if !strings.Contains(err.Error(), tc.err) || !strings.Contains(hints(err), tc.hint) || strings.Contains(shown, "s3cr3t") {
				t.Errorf("%s\n%s", tc.reason, shown)
			}
		})
	}
}

// TestSSHCertificate knows a host by the authority that signed its key.
func TestSSHCertificate(t *testing.T) {
	r := newRepo(t)
	r.commit("master", files("a.yaml"))
	srv := serveSSH(t, r)
	ca, other := newKey(t, false), newKey(t, false)
	sign := func(until uint64) *ssh.Certificate {
		cert := &ssh.Certificate{Key: srv.host.PublicKey(), CertType: ssh.HostCert, ValidPrincipals: []string{"127.0.0.1"}, ValidBefore: until}
		if err := cert.SignCert(rand.Reader, ca); err != nil {
			t.Fatal(err)
		}
		return cert
	}
	line := func(marker string, k key) string {
		return marker + "[127.0.0.1]:* " + string(ssh.MarshalAuthorizedKey(k.PublicKey()))
	}
	cases := map[string]struct {
		reason string
		auth   Auth
		until  uint64
		err    string
	}{
		"Signed":    {"by the authority", Auth{KnownHosts: []byte(line("@cert-authority ", ca))}, ssh.CertTimeInfinity, ""},
		"Other":     {"by another", Auth{KnownHosts: []byte(line("@cert-authority ", other))}, ssh.CertTimeInfinity, "is not known"},
		"Expired":   {"a long time ago", Auth{KnownHosts: []byte(line("@cert-authority ", ca))}, 1, "cannot be trusted"},
		"Revoked":   {"by an authority that was revoked", Auth{KnownHosts: []byte(line("@cert-authority ", ca) + line("@revoked ", ca))}, ssh.CertTimeInfinity, "cannot be trusted"},
		"Plain":     {"the key is known by itself", Auth{KnownHosts: []byte(line("", srv.host))}, ssh.CertTimeInfinity, ""},
		"Print":     {"the key is named", Auth{HostKey: ssh.FingerprintSHA256(srv.host.PublicKey())}, ssh.CertTimeInfinity, ""},
		"PlainDead": {"the key was revoked", Auth{KnownHosts: []byte(line("", srv.host) + line("@revoked ", srv.host))}, ssh.CertTimeInfinity, "was revoked"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h, err := tc.auth.hosts(srv.addr)
			if err != nil {
				t.Fatal(err)
			}
			err = h.check(srv.addr, nil, sign(tc.until))
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s\ncheck: %v, want %q", tc.reason, err, tc.err)
			}
		})
	}
}

// TestQuote hands paths to a shell.
func TestQuote(t *testing.T) {
	for _, path := range []string{"/a b", "/it's", "/$(touch x)`id`", "/wow!", `/back\slash`, "/new\nline", "-x"} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+quote(path)).Output()
		if err != nil || string(out) != path {
			t.Errorf("quote(%q) is %q to a shell: %v", path, out, err)
		}
	}
}
