package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// years is the validity of certificates, which are never renewed.
const years = 10

// ensureKeys creates the folder of certificates and keys unless it exists. The
// folder is created atomically: a process that is killed on the way leaves one
// under another name.
func ensureKeys(dir string) error {
	final := filepath.Join(dir, filepath.Dir(CACert))
	if there, err := exists(final); there || err != nil {
		return err
	}
	files, err := makeKeys(time.Now())
	if err != nil {
		return err
	}
	tmp := final + ".tmp"
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(tmp, filepath.Base(name)), data, 0o600); err != nil {
			return err
		}
	}
	return os.Rename(tmp, final)
}

// makeKeys creates an authority and the certificates it signs. The key of the
// authority is not saved, as nothing is signed later.
func makeKeys(now time.Time) (map[string][]byte, error) {
	ca := &authority{now: now, template: &x509.Certificate{
		Subject: pkix.Name{CommonName: "devcluster"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}}
	files := map[string][]byte{}
	files[CACert], _ = ca.issue(ca.template)
	files[ServerCert], files[ServerKey] = ca.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:    []string{"localhost", "kubernetes.default.svc"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	files[AdminCert], files[AdminKey] = ca.issue(&x509.Certificate{
		// Members of this group have all permissions, whatever roles exist.
		Subject:     pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	_, files[AccountKey] = ca.newKey()
	return files, ca.err
}

// authority signs certificates. It keeps its first error.
type authority struct {
	now      time.Time
	template *x509.Certificate
	key      *ecdsa.PrivateKey
	err      error
}

// issue returns a certificate and its key. The first one is the authority's.
func (a *authority) issue(c *x509.Certificate) (cert, key []byte) {
	k, key := a.newKey()
	if a.err != nil {
		return nil, nil
	}
	if a.key == nil {
		a.key = k
	}
	c.NotBefore, c.NotAfter = a.now.Add(-time.Hour), a.now.AddDate(years, 0, 0)
	c.KeyUsage |= x509.KeyUsageDigitalSignature
	if c.SerialNumber, a.err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); a.err != nil {
		return nil, nil
	}
	var der []byte
	if der, a.err = x509.CreateCertificate(rand.Reader, c, a.template, k.Public(), a.key); a.err != nil {
		return nil, nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key
}

func (a *authority) newKey() (*ecdsa.PrivateKey, []byte) {
	if a.err != nil {
		return nil, nil
	}
	var key *ecdsa.PrivateKey
	if key, a.err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); a.err != nil {
		return nil, nil
	}
	var der []byte
	if der, a.err = x509.MarshalECPrivateKey(key); a.err != nil {
		return nil, nil
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}
