package plan

import (
	"context"
	"crypto/tls"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster/live"
	"example.dev/ingestor/xrd/composed"
)

// Source has the objects that a plan is made from, as the caller may read them. It is
// safe for concurrent use; live.Objects implements it.
type Source interface {
	// Kind returns the plural of a kind, and whether its objects have namespaces. The error
	// is a *cluster.Error with the reason Absent if there is no such kind.
	Kind(ctx context.Context, apiVersion, kind string) (plural string, namespaced bool, err error)
	// Get returns an object, nil if it does not exist. Of Secrets it returns the metadata.
	Get(ctx context.Context, ref composed.Ref) (*tree.Node, error)
	// List returns the objects of a kind with labels, in a namespace or in all. More than
	// most are an error.
	List(ctx context.Context, apiVersion, kind, namespace string, labels map[string]string, most int) ([]*tree.Node, error)
}

var _ Source = (*live.Objects)(nil)

// Machine is how functions of a cluster are found and called. Unlike Source, it may use
// the account of the portal: nothing of it is shown.
type Machine struct {
	// Revisions has the FunctionRevisions; nil if only configured functions can be called.
	Revisions Source
	// Certificate returns how Crossplane authenticates to functions; nil if the cluster has
	// no function that needs it.
	Certificate func(ctx context.Context) (*tls.Config, error)
}

// Endpoint is where a function runs, by configuration.
type Endpoint struct {
	// Name is the name that pipelines use, and Address is host:port or unix:///path.
	Name, Address string
	// Cluster is the cluster whose plans call it; empty means all.
	Cluster string
	// TLS is how Crossplane authenticates to it; nil means without TLS.
	TLS *tls.Config
}

// The API versions of Crossplane that are read.
const (
	extensions = "apiextensions.crossplane.io/v1"
	packages   = "pkg.crossplane.io/v1"

	kindDefinition = "CompositeResourceDefinition"
	kindRevision   = "CompositionRevision"
	kindFunction   = "FunctionRevision"

	labelComposition = "crossplane.io/composition-name"
	labelPackage     = "pkg.crossplane.io/package"
	labelClaimName   = "crossplane.io/claim-name"
	labelClaimSpace  = "crossplane.io/claim-namespace"
	labelComposite   = "crossplane.io/composite"
	resourceName     = "crossplane.io/composition-resource-name"
)

const (
	// mostDefinitions, mostCompositions and mostRevisions limit lists.
	mostDefinitions  = 5000
	mostCompositions = 5000
	mostRevisions    = 1000
)
