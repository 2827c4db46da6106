package crossplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

// clientCerts and serverCerts are the folders with the certificates of the core
// and of the function.
const (
	clientCerts = "client"
	serverCerts = "server"
)

// writeCertificates writes the core's own certificate for calls of functions,
// and one for the function, signed by the core's authority, as the package
// manager would make it.
func (c *Core) writeCertificates() error {
	own, err := c.secret(client)
	if err != nil {
		return err
	}
	if err := c.writeFiles(clientCerts, own); err != nil {
		return err
	}
	root, err := c.secret(authority)
	if err != nil {
		return err
	}
	served, err := sign(root["tls.crt"], root["tls.key"])
	if err != nil {
		return fmt.Errorf("cannot sign a certificate for the function: %w", err)
	}
	return c.writeFiles(serverCerts, served)
}

// sign returns a certificate for localhost, which is how a client calls the
// server at a socket.
func sign(authority, authorityKey []byte) (map[string][]byte, error) {
	root, err := tls.X509KeyPair(authority, authorityKey)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: Function}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	cert, err := x509.CreateCertificate(rand.Reader, leaf, root.Leaf, key.Public(), root.PrivateKey)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"ca.crt":  authority,
		"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		"tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
	}, nil
}

// writeFiles writes files into a folder below that of the core.
func (c *Core) writeFiles(folder string, files map[string][]byte) error {
	dir := filepath.Join(c.dir, folder)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
