// Package identity keeps what clients know a cluster by: its authority, its
// keys, its port and the kubeconfig with all of them. They are made once for a
// folder and found there again, so that a kubeconfig and the tokens of service
// accounts outlive a restart.
package identity

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Files of an Identity, seen from the folder of the cluster.
const (
	CACert     = "pki/ca.crt"
	ServerCert = "pki/server.crt"
	ServerKey  = "pki/server.key"
	AdminCert  = "pki/admin.crt"
	AdminKey   = "pki/admin.key"
	// AccountKey signs the tokens of service accounts.
	AccountKey = "pki/accounts.key"
	Port       = "port"
	Kubeconfig = "kubeconfig"
)

// Identity is what clients know a cluster by.
type Identity struct {
	dir string
	// Listener listens on the cluster's port. Whoever serves on it closes it.
	Listener net.Listener

	ca, adminCert, adminKey []byte
}

// Open returns the identity kept in the folder dir, and makes what is missing.
// A port of zero means the one used before or, the first time, a free one.
func Open(dir string, port int) (*Identity, error) {
	if err := ensureKeys(dir); err != nil {
		return nil, fmt.Errorf("cannot make the certificates: %w", err)
	}
	id := &Identity{dir: dir}
	for name, to := range map[string]*[]byte{CACert: &id.ca, AdminCert: &id.adminCert, AdminKey: &id.adminKey} {
		var err error
		if *to, err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("cannot read a certificate: %w; remove %s to begin anew", err, filepath.Join(dir, "pki"))
		}
	}
	if _, err := tls.X509KeyPair(id.adminCert, id.adminKey); err != nil || !x509.NewCertPool().AppendCertsFromPEM(id.ca) {
		return nil, fmt.Errorf("cannot use the certificates in %s; remove it to begin anew", filepath.Join(dir, "pki"))
	}
	var err error
	id.Listener, err = listen(filepath.Join(dir, Port), port)
	return id, err
}

// Path returns the path of one of the files.
func (id *Identity) Path(name string) string { return filepath.Join(id.dir, name) }

// URL returns the address of the API server.
func (id *Identity) URL() string { return "https://" + id.Listener.Addr().String() }

// Config is what a client needs to be the administrator, at any speed.
func (id *Identity) Config() *rest.Config {
	return &rest.Config{
		Host:            id.URL(),
		TLSClientConfig: rest.TLSClientConfig{CAData: id.ca, CertData: id.adminCert, KeyData: id.adminKey},
		QPS:             -1,
	}
}

// WriteKubeconfig writes the administrator's kubeconfig. Who reads it meets
// the old one or the new one, never half of one.
func (id *Identity) WriteKubeconfig() error {
	const name = "devcluster"
	c := api.NewConfig()
	c.Clusters[name] = &api.Cluster{Server: id.URL(), CertificateAuthorityData: id.ca}
	c.AuthInfos["admin"] = &api.AuthInfo{ClientCertificateData: id.adminCert, ClientKeyData: id.adminKey}
	c.Contexts[name] = &api.Context{Cluster: name, AuthInfo: "admin"}
	c.CurrentContext = name
	data, err := clientcmd.Write(*c)
	if err != nil {
		return fmt.Errorf("cannot make the kubeconfig: %w", err)
	}
	if err := replace(id.Path(Kubeconfig), data); err != nil {
		return fmt.Errorf("cannot write the kubeconfig: %w", err)
	}
	return nil
}

// replace writes a file beside its place and moves it there.
func replace(path string, data []byte) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
