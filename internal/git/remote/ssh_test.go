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

// TestSSHCertificate checks host keys that a certificate authority signed.
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
		"Signed":  {"A key signed by the authority is trusted.", line("@cert-authority ", ca), "", ssh.CertTimeInfinity, ""},
		"Other":   {"A key signed by another authority is refused.", line("@cert-authority ", other), "", ssh.CertTimeInfinity, "cannot trust"},
		"Expired": {"An expired certificate is refused.", line("@cert-authority ", ca), "", 1, "cannot trust"},
		"Revoked": {"A revoked authority is refused.", line("@cert-authority ", ca) + line("@revoked ", ca), "", ssh.CertTimeInfinity, "cannot trust"},
		"Named":   {"The fingerprint of the key is trusted.", "", ssh.FingerprintSHA256(host.PublicKey()), ssh.CertTimeInfinity, ""},
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
				t.Errorf("%s\ncheck returned %v, want %q", tc.reason, err, tc.err)
			}
		})
	}
}
