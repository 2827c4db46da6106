package identity

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir, 0)
	if err := first.WriteKubeconfig(); err != nil {
		t.Fatal(err)
	}
	if err := first.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	second := open(t, dir, 0)
	if first.URL() != second.URL() {
		t.Errorf("address was %s and is %s", first.URL(), second.URL())
	}
	if diff := cmp.Diff(first.Config().TLSClientConfig, second.Config().TLSClientConfig); diff != "" {
		t.Error("certificates changed")
	}

	kubeconfig, err := clientcmd.BuildConfigFromFlags("", second.Path(Kubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(second.Config().TLSClientConfig, kubeconfig.TLSClientConfig); diff != "" || kubeconfig.Host != second.URL() {
		t.Error("kubeconfig differs from the identity")
	}

	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(second.ca)
	for name, opts := range map[string]x509.VerifyOptions{
		ServerCert: {Roots: roots, DNSName: "127.0.0.1"},
		AdminCert:  {Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}},
	} {
		if _, err := certificate(t, second.Path(name)).Verify(opts); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPort(t *testing.T) {
	taken := open(t, t.TempDir(), 0)
	port, err := strconv.Atoi(strings.TrimPrefix(taken.URL(), "https://127.0.0.1:"))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		file   string
		port   int
		err    string
	}{
		"Taken":     {"A port that is in use is an error.", "", port, "choose another with --port"},
		"TakenKept": {"A saved port that is in use is an error.", strconv.Itoa(port), 0, "choose another with --port"},
		"Broken":    {"A saved port that is not a number is an error.", "ninety", 0, "remove the file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if tc.file != "" {
				if err := os.WriteFile(filepath.Join(dir, Port), []byte(tc.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Open(dir, tc.port)
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: error is %v, want %q in it", tc.reason, err, tc.err)
			}
		})
	}
}

func TestBrokenKeys(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, 0)
	if err := os.WriteFile(filepath.Join(dir, AdminKey), []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, 0); err == nil || !strings.Contains(err.Error(), "begin anew") || strings.Contains(err.Error(), "no key") {
		t.Errorf("error is %v, want a hint and no part of the key", err)
	}
}

func open(t *testing.T, dir string, port int) *Identity {
	t.Helper()
	id, err := Open(dir, port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = id.Listener.Close() })
	return id
}

func certificate(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}
