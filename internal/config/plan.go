package config

import (
	"net"
	"strings"
	"time"

	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
)

// Plan is the section plan: what composites would create, before they are applied.
type Plan struct {
	// Program is the path of the program crossplane; empty means that plans are off.
	Program string
	// Timeout is how long a plan may take, Memory the limit of a process in bytes, and
	// Concurrency how many run at once.
	Timeout     time.Duration
	Memory      int64
	Concurrency int
	// Functions are the functions that are not called where the cluster says.
	Functions         []PlanFunction
	ClientCertificate ClientCertificate
	// ChangeRequests reports that the text of a change request has the plan.
	ChangeRequests bool
}

// PlanFunction is where a function runs.
type PlanFunction struct {
	Name string
	// Cluster is the cluster whose plans call it; empty means all.
	Cluster string
	// Endpoint is host:port, or unix:///path.
	Endpoint string
	// TLS reports that it is called with Crossplane's client certificate, which must be one
	// of files.
	TLS bool
}

// ClientCertificate is what Crossplane authenticates to functions with: a Secret in the
// cluster or, if CertFile is not empty, files.
type ClientCertificate struct {
	// Namespace and Name are those of the Secret.
	Namespace, Name           string
	CertFile, KeyFile, CAFile string
}

func (p *Plan) read(m *keys.Map, clusters *clusters) {
	m.FilePath("program", &p.Program)
	m.Between("timeout", &p.Timeout, time.Second, 10*time.Minute)
	m.Size("memory", &p.Memory, 256<<20, 64<<30)
	m.Number("concurrency", &p.Concurrency, 1, 100)
	m.Flag("changeRequests", &p.ChangeRequests)
	m.Map("clientCertificate", p.ClientCertificate.read)
	seen := map[string]input.Place{}
	m.List("functions", func(m *keys.Map) {
		var f PlanFunction
		m.Require("name", "write the name that pipelines use in functionRef")
		m.Text("name", &f.Name, nil)
		clusters.readName(m, "cluster", &f.Cluster, nil)
		m.Require("endpoint", "write host:port")
		m.Text("endpoint", &f.Endpoint, func(s string) string {
			host, port, err := net.SplitHostPort(strings.TrimPrefix(s, "dns:///"))
			if path, ok := strings.CutPrefix(s, "unix://"); ok && strings.HasPrefix(path, "/") || err == nil && host != "" && port != "" {
				return ""
			}
			return "host:port, or unix:///path"
		})
		m.Flag("tls", &f.TLS)
		if f.TLS && p.ClientCertificate.CertFile == "" {
			m.ReportValue(rule.Together, "tls", "set plan.clientCertificate.certFile, keyFile and caFile", "%s needs a client certificate from files", m.PathTo("tls"))
		}
		at := m.ValueAt("name")
		key := f.Name + " " + f.Cluster
		if first, twice := seen[key]; twice && f.Name != "" {
			m.Report(rule.Twice, at, m.PathTo("name"), "write each function once for each cluster", "%s is already configured, at %s", m.PathTo("name"), first)
		}
		seen[key] = at
		p.Functions = append(p.Functions, f)
	})
}

func (c *ClientCertificate) read(m *keys.Map) {
	m.Text("namespace", &c.Namespace, nil)
	m.Text("name", &c.Name, nil)
	m.FilePath("certFile", &c.CertFile)
	m.FilePath("keyFile", &c.KeyFile)
	m.FilePath("caFile", &c.CAFile)
	m.Both("certFile", "keyFile")
	m.Both("certFile", "caFile")
	if m.Has("certFile") && m.Has("name") {
		m.Clash("name", "certFile")
	}
}
