package plan

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"

	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/source/cluster/live"
)

// SecretRef names the Secret with Crossplane's client certificate.
type SecretRef struct{ Namespace, Name string }

// DefaultSecret is where Crossplane keeps its client certificate.
var DefaultSecret = SecretRef{Namespace: "crossplane-system", Name: "crossplane-tls-client"}

// ClusterMachine returns how the functions of a cluster are found and called, by the
// account of its settings: with a certificate or, if that is nil, with that of a Secret.
func ClusterMachine(on *cluster.Cluster, kinds *live.Kinds, certificate *tls.Config, from SecretRef) Machine {
	account := on.Account()
	return Machine{
		Revisions: live.NewObjects(account, kinds),
		Certificate: func(ctx context.Context) (*tls.Config, error) {
			if certificate != nil {
				return certificate, nil
			}
			return readCertificate(ctx, account, from)
		},
	}
}

// readCertificate reads the certificate of a Secret. No error has its content.
func readCertificate(ctx context.Context, on *cluster.Cluster, from SecretRef) (*tls.Config, error) {
	n, err := on.Do(ctx, cluster.Call{
		Doing: "read Crossplane's client certificate",
		Path:  "/api/v1/namespaces/" + url.PathEscape(from.Namespace) + "/secrets/" + url.PathEscape(from.Name),
		Needs: cluster.Rule{Groups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}},
		Most:  1 << 20,
	})
	if err != nil {
		return nil, certificateError(from, err)
	}
	data := map[string][]byte{}
	for _, key := range []string{"tls.crt", "tls.key", "ca.crt"} {
		if data[key], err = base64.StdEncoding.DecodeString(n.Get("data", key).Str()); err != nil {
			return nil, certificateError(from, errors.New(key+" is not base64"))
		}
	}
	c, err := NewCertificate(data["tls.crt"], data["tls.key"], data["ca.crt"])
	if err != nil {
		return nil, certificateError(from, err)
	}
	return c, nil
}

func certificateError(from SecretRef, err error) error {
	return &Error{Reason: Certificate, Err: fmt.Errorf("cannot use Crossplane's client certificate: %w", err), Public: "cannot use Crossplane's client certificate", Hint: "ask the operators of the portal",
		Operator: fmt.Sprintf("let the account of the portal read Secret %s/%s, or set plan.clientCertificate", from.Namespace, from.Name)}
}

// NewCertificate returns how Crossplane authenticates to functions, from PEM texts. No
// error has their content.
func NewCertificate(cert, key, ca []byte) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, errors.New("certificate and key are not a pair in PEM")
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, errors.New("the CA is not a certificate in PEM")
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS12}, nil
}
