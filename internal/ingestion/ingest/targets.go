package ingest

import (
	"context"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/internal/ingestion/folder"
	"example.dev/ingestor/internal/ingestion/kube"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
)

// The parts of target names after the variant's name.
const (
	folders   = "sources/"
	workloads = "/workloads"
)

const (
	// unanswered is how long a scan waits for an unresponsive server. The queue retries,
	// and health is to be right soon.
	unanswered = 5 * time.Second
	// mostPages is how many pages of objects are held at once, for all clusters together.
	mostPages = 2
)

// addTargets adds the variants and their targets.
func (in *Ingest) addTargets() {
	services := &scan.Services{
		Mirror: in.Mirror, Metrics: in.metrics, Once: in.once, Now: in.Now, ScanSoon: in.scanSoon, BuildSoon: in.buildSoon, Reached: in.reached,
	}
	decoding := cluster.NewGate(mostPages)
	clusters := 0
	for i := range in.Variants {
		if v := &in.Variants[i]; v.Definitions {
			clusters += len(v.Clusters)
		}
	}
	share := kube.NewShare(clusters)
	definitions := func(t *scan.Target, c *cluster.Cluster) { kube.Definitions(t, c, share) }
	for i := range in.Variants {
		v := variant.New(&in.Variants[i], in.Build)
		in.variants = append(in.variants, v)
		for j := range v.Clusters {
			in.addCluster(services, v, &v.Clusters[j], decoding, definitions)
		}
		for j := range v.Folders {
			f := &v.Folders[j]
			t := scan.NewTarget(services, v, status.Target{Name: v.Name + "/" + folders + f.Name, At: f.Name}, v.Every)
			folder.Attach(t, f)
			in.targets = append(in.targets, t)
		}
	}
}

// addCluster adds the targets of a cluster. If it cannot be connected to, every scan of
// them returns the error.
func (in *Ingest) addCluster(services *scan.Services, v *variant.Variant, settings *source.Cluster, decoding cluster.Gate, definitions func(*scan.Target, *cluster.Cluster)) {
	c, err := cluster.Connect(*settings, cluster.Options{Log: v.Requests, Patience: unanswered, PageSize: scan.PageSize, Decoding: decoding, Wrap: in.Wrap})
	in.connected = append(in.connected, connection{variant: v, name: settings.Name, cluster: c, err: err})
	add := func(suffix string, every time.Duration, attach func(*scan.Target, *cluster.Cluster)) *scan.Target {
		t := scan.NewTarget(services, v, status.Target{Name: v.Name + "/" + settings.Name + suffix, At: settings.Name, Cluster: true}, every)
		in.targets = append(in.targets, t)
		if err != nil {
			t.Read = func(context.Context, *scan.Scan) error { return err }
			return t
		}
		t.URL = c.URL()
		t.Seal = object.Hash(v.Seal + t.URL)[:8]
		attach(t, c)
		return t
	}
	if v.Definitions {
		add("", v.Every, definitions)
	}
	if v.Workloads {
		add(workloads, v.WorkloadsEvery, kube.Workloads).Often = true
	}
}

// Cluster is a configured cluster.
type Cluster struct {
	Name string `json:"name"`
	URL  string `json:"url,omitempty"`
	// AuthProvider is how a client gets a credential for the cluster; see withoutCredential.
	AuthProvider string `json:"authProvider"`
	// SkipTLSVerify says that TLS certificates are not verified.
	SkipTLSVerify bool `json:"skipTLSVerify,omitempty"`
}

// withoutCredential is the provider of clusters for which clients need no credential of
// their own. The portal authenticates to all of them, however it is configured to; the
// clients of Backstage refuse providers that they do not know.
const withoutCredential = "serviceAccount"

// Clusters returns the clusters of all variants without duplicates.
func (in *Ingest) Clusters() []Cluster {
	out := []Cluster{}
	for _, p := range in.variants {
		for _, c := range p.Clusters {
			if slices.ContainsFunc(out, func(o Cluster) bool { return o.Name == c.Name }) {
				continue
			}
			url := c.URL
			if i := slices.IndexFunc(in.targets, func(p *scan.Target) bool { return p.Cluster && p.At == c.Name && p.URL != "" }); i >= 0 {
				url = in.targets[i].URL
			}
			out = append(out, Cluster{Name: c.Name, URL: url, AuthProvider: withoutCredential, SkipTLSVerify: c.SkipTLSVerify})
		}
	}
	slices.SortFunc(out, func(a, b Cluster) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// remedy returns what makes a source select a definition.
func (in *Ingest) remedy(source string, found variant.Found) *variant.Remedy {
	t, err := in.target(source)
	if err != nil {
		return nil
	}
	return t.Variant.Remedy(found)
}
