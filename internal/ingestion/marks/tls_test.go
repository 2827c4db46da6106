package marks_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/ingestion/marks"
	"example.dev/ingestor/test/redis"
)

// certificate writes a certificate for the loopback interface and its key, and
// returns a pool that trusts it.
func certificate(t *testing.T) (certFile, keyFile string, known *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	parsed, err := x509.ParseCertificate(cert)
	if err != nil {
		t.Fatal(err)
	}
	known = x509.NewCertPool()
	known.AddCert(parsed)
	return write("cert.pem", "CERTIFICATE", cert), write("key.pem", "PRIVATE KEY", secret), known
}

func TestRedisTLS(t *testing.T) {
	certFile, keyFile, known := certificate(t)
	s := redis.StartWith(t, redis.Options{CertFile: certFile, KeyFile: keyFile})
	r := openRedis(t, marks.RedisOptions{URL: s.URL(0), TLS: &tls.Config{RootCAs: known}})
	if err := r.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	stranger := openRedis(t, marks.RedisOptions{URL: s.URL(0)})
	if got := failure(t, s, stranger.Ping); !strings.Contains(got, "certificate") {
		t.Errorf("connection with an unknown certificate returned %s", got)
	}
}
