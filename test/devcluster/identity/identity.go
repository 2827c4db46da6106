// Package identity manages what identifies a cluster to its clients: its
// authority, its keys, its port and the kubeconfig with all of them. They are
// created once per folder and reused, so that a kubeconfig and the tokens of
// service accounts remain valid after a restart.
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

// Files of an Identity, relative to the folder of the cluster.
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

// Identity has the certificates, keys and address of a cluster.
type Identity struct {
	dir string
	// Listener listens on the cluster's port. The server that uses it closes
	// it.
	Listener net.Listener

	ca, adminCert, adminKey []byte
}

// Open returns the identity in the folder dir, and creates what is missing.
// Port zero means the previous port or, the first time, a free one.
func Open(dir string, port int) (*Identity, error) {
	if err := ensureKeys(dir); err != nil {
		return nil, fmt.Errorf("cannot create the certificates: %w", err)
	}
	id := &Identity{dir: dir}
	for name, to := range map[string]*[]byte{CACert: &id.ca, AdminCert: &id.adminCert, AdminKey: &id.adminKey} {
		var err error
		if *to, err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("cannot read a certificate: %w; remove %s to create new ones", err, filepath.Join(dir, "pki"))
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

// Config returns the administrator's client configuration, without rate limits.
func (id *Identity) Config() *rest.Config {
	return &rest.Config{
		Host:            id.URL(),
		TLSClientConfig: rest.TLSClientConfig{CAData: id.ca, CertData: id.adminCert, KeyData: id.adminKey},
		QPS:             -1,
	}
}

// WriteKubeconfig writes the administrator's kubeconfig atomically.
func (id *Identity) WriteKubeconfig() error {
	const name = "devcluster"
	c := api.NewConfig()
	c.Clusters[name] = &api.Cluster{Server: id.URL(), CertificateAuthorityData: id.ca}
	c.AuthInfos["admin"] = &api.AuthInfo{ClientCertificateData: id.adminCert, ClientKeyData: id.adminKey}
	c.Contexts[name] = &api.Context{Cluster: name, AuthInfo: "admin"}
	c.CurrentContext = name
	data, err := clientcmd.Write(*c)
	if err != nil {
		return fmt.Errorf("cannot create the kubeconfig: %w", err)
	}
	if err := replace(id.Path(Kubeconfig), data); err != nil {
		return fmt.Errorf("cannot write the kubeconfig: %w", err)
	}
	return nil
}

// replace writes a file atomically, by renaming a temporary one.
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
