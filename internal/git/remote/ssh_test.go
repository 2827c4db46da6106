package remote

import (
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// newKey returns a key pair.
func newKey(t testing.TB) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// TestSSHCertificate knows a host by the authority that signed its key.
func TestSSHCertificate(t *testing.T) {
	ca, other, host := newKey(t), newKey(t), newKey(t)
	const addr = "git.example.com:22"
	sign := func(until uint64) *ssh.Certificate {
		cert := &ssh.Certificate{Key: host.PublicKey(), CertType: ssh.HostCert, ValidPrincipals: []string{"git.example.com"}, ValidBefore: until}
		if err := cert.SignCert(rand.Reader, ca); err != nil {
			t.Fatal(err)
		}
		return cert
	}
	line := func(marker string, k ssh.Signer) string {
		return marker + "git.example.com " + string(ssh.MarshalAuthorizedKey(k.PublicKey()))
	}
	cases := map[string]struct {
		reason  string
		known   string
		hostKey string
		until   uint64
		err     string
	}{
		"Signed":  {"by the authority", line("@cert-authority ", ca), "", ssh.CertTimeInfinity, ""},
		"Other":   {"by another", line("@cert-authority ", other), "", ssh.CertTimeInfinity, "cannot be trusted"},
		"Expired": {"a long time ago", line("@cert-authority ", ca), "", 1, "cannot be trusted"},
		"Revoked": {"by an authority that was revoked", line("@cert-authority ", ca) + line("@revoked ", ca), "", ssh.CertTimeInfinity, "cannot be trusted"},
		"Named":   {"the key in it is named", "", ssh.FingerprintSHA256(host.PublicKey()), ssh.CertTimeInfinity, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			auth := Auth{HostKey: tc.hostKey, KnownHostsFile: filepath.Join(t.TempDir(), "hosts")}
			if err := os.WriteFile(auth.KnownHostsFile, []byte(tc.known), 0o600); err != nil {
				t.Fatal(err)
			}
			config, err := auth.sshConfig(addr, Credentials{})
			if err != nil {
				t.Fatal(err)
			}
			err = config.HostKeyCallback(addr, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 22}, sign(tc.until))
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(Explain(err).Err.Error(), tc.err) {
				t.Errorf("%s\ncheck: %v, want %q", tc.reason, err, tc.err)
			}
		})
	}
}
