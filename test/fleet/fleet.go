// Package fleet runs stand-ins for the API servers of many clusters in one process.
// They respond from generated definitions, most of which they share, and can be
// stopped, started again and changed. They listen on 127.0.0.1 only.
package fleet

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"time"
)

// Options are the options of Start.
type Options struct {
	// Clusters is the number of clusters.
	Clusters int
	// Common is the number of definitions that every cluster has, Own the number of
	// definitions that each cluster has besides them, under names of its own.
	Common, Own int
	// Fields is the number of fields of a definition.
	Fields int
	// Kinds is how many of a cluster's definitions have a kind that is served, and
	// Composites how many of these have a composite. Common definitions come first.
	Kinds, Composites int
}

// Fleet is a set of running clusters.
type Fleet struct {
	Clusters []*Cluster

	options Options
	common  []definition
	// plurals are the indexes of the common definitions by their plural.
	plurals map[string]int
}

// Start starts the clusters.
func Start(o Options) (*Fleet, error) {
	certificate, err := newCertificate()
	if err != nil {
		return nil, err
	}
	f := &Fleet{options: o, plurals: map[string]int{}}
	for i := range o.Common {
		f.common = append(f.common, newDefinition(fmt.Sprintf("Common%d", i), o.Fields))
		f.plurals[f.common[i].plural] = i
	}
	for i := range o.Clusters {
		c := &Cluster{
			Name: fmt.Sprintf("c%03d", i), fleet: f, address: "127.0.0.1:0",
			config:  &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}},
			version: firstVersion, changed: map[int]change{}, watches: map[*watch]bool{}, plurals: map[string]int{},
		}
		for j := range o.Own {
			c.own = append(c.own, newDefinition(fmt.Sprintf("Own%dOf%d", j, i), o.Fields))
			c.plurals[c.own[j].plural] = o.Common + j
		}
		if err := c.Up(); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		f.Clusters = append(f.Clusters, c)
	}
	return f, nil
}

// Config returns the value of the configuration key clusters.
func (f *Fleet) Config() string {
	var b strings.Builder
	for _, c := range f.Clusters {
		fmt.Fprintf(&b, "    - { name: %s, url: %q, authProvider: token, token: stand-in, skipTLSVerify: true }\n", c.Name, c.URL())
	}
	return b.String()
}

// Definitions returns the number of definitions with different names.
func (f *Fleet) Definitions() int { return f.options.Common + f.options.Clusters*f.options.Own }

// Down stops all clusters: connections are closed, and new ones refused.
func (f *Fleet) Down() error {
	var errs []error
	for _, c := range f.Clusters {
		errs = append(errs, c.Down())
	}
	return errors.Join(errs...)
}

// Up starts all clusters again, at their addresses.
func (f *Fleet) Up() error {
	var errs []error
	for _, c := range f.Clusters {
		errs = append(errs, c.Up())
	}
	return errors.Join(errs...)
}

// Close stops the clusters.
func (f *Fleet) Close() error { return f.Down() }

// newCertificate returns a certificate like those of current API servers, whose
// signatures are cheap.
func newCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
