package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"

	"example.dev/ingestor/action"
	clusteractions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/action/publish"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/plan"
	"example.dev/ingestor/internal/plan/api"
	"example.dev/ingestor/internal/plan/render"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd/composed"
)

// plans assembles the API of plans.
func (p *Portal) plans(opts Options, policy *permission.Policy) (*api.API, error) {
	c := opts.Config.Plan
	certificate, err := clientCertificate(c.ClientCertificate)
	if err != nil {
		return nil, err
	}
	reader := p.liveReader(opts)
	authorize := scaffolder.Authorizer(policy, "")
	return api.New(api.Options{
		Planner: plan.New(planOptions(c, certificate)),
		May:     func(ctx context.Context) error { return policy.Require(ctx, permission.TemplateDryRun, nil) },
		Permit: func(ctx context.Context, cluster string, ref composed.Ref) error {
			// The portal itself asks, as a Template that it generates would.
			by := task.Requester{Caller: auth.From(ctx), Origin: permission.OriginDefinition}
			return permitted(reader, &action.Call{Caller: by.Actor(), Authorize: func(ctx context.Context, name string, t action.Target) error {
				return authorize(ctx, by, words.ActionApply, name, t)
			}})(ctx, cluster, ref)
		},
		Cluster: func(ctx context.Context, name string) (*cluster.Cluster, error) {
			return clusterOf(reader)(ctx, cmp.Or(name, opts.Config.Scaffolder.DefaultCluster))
		},
		Operator: func(ctx context.Context) bool {
			return policy.Decide(auth.From(ctx), permission.IngestionRead, nil)
		},
		Certificate: certificate, Secret: plan.SecretRef{Namespace: c.ClientCertificate.Namespace, Name: c.ClientCertificate.Name},
		Timeout: c.Timeout, Now: opts.Now,
	}), nil
}

// permitted returns a function that decides whether an object may be read for a call.
func permitted(reader *clusteractions.Reader, call *action.Call) api.Permit {
	return func(ctx context.Context, cluster string, ref composed.Ref) error {
		_, err := reader.Read(ctx, call, cluster, ref.APIVersion, ref.Kind, ref.Namespace, cmp.Or(ref.Name, unnamed))
		return actionFault(err, fmt.Sprintf("Cannot read %s in cluster %s: %v", ref.Kind, rest.Short(cluster), err))
	}
}

// proposalPlans returns how plans of proposed resources get into the text of a change
// request; nil if they do not. A step reads what its Template may read for the caller of
// the task.
func proposalPlans(c config.Plan, plans *api.API, clusters clusteractions.Clusters, choices clusteractions.Options) func(context.Context, *action.Call, publish.Proposal) (string, error) {
	if c.Program == "" || !c.ChangeRequests {
		return nil
	}
	reader := clusteractions.NewReader(clusters, choices)
	return func(ctx context.Context, call *action.Call, p publish.Proposal) (string, error) {
		if p.Cluster = clusteractions.Chosen(clusters, choices, p.Cluster); p.Cluster == "" {
			call.Logf("no plan: the step names no cluster, and several are configured")
			return "", nil
		}
		made, err := plans.Make(ctx, api.Input{Cluster: p.Cluster, Manifest: p.Manifest, Merge: p.Merge}, permitted(reader, call))
		if e, ok := errors.AsType[*plan.Error](err); ok && e.Reason == plan.NotComposite {
			return "", nil
		}
		if err != nil {
			return "", plans.Fault(ctx, p.Cluster, err)
		}
		return made.Markdown(), nil
	}
}

// unnamed stands for the name of an object that has none so far, in the check whether the
// caller may read objects of its kind and namespace.
const unnamed = "unnamed"

// planOptions returns the options of the planner of a configuration.
func planOptions(c config.Plan, certificate *tls.Config) plan.Options {
	if c.Program == "" {
		return plan.Options{}
	}
	out := plan.Options{Render: render.New(render.Options{Program: c.Program, Timeout: c.Timeout, Memory: c.Memory, Concurrency: c.Concurrency})}
	for _, f := range c.Functions {
		e := plan.Endpoint{Name: f.Name, Address: f.Endpoint, Cluster: f.Cluster}
		if f.TLS {
			e.TLS = certificate
		}
		out.Functions = append(out.Functions, e)
	}
	return out
}

// clientCertificate reads the certificate of files; it is nil if none are configured.
func clientCertificate(c config.ClientCertificate) (*tls.Config, error) {
	if c.CertFile == "" {
		return nil, nil
	}
	var texts [3][]byte
	for i, path := range []string{c.CertFile, c.KeyFile, c.CAFile} {
		var err error
		if texts[i], err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("cannot read plan.clientCertificate: %w", err)
		}
	}
	made, err := plan.NewCertificate(texts[0], texts[1], texts[2])
	if err != nil {
		return nil, fmt.Errorf("cannot use plan.clientCertificate: %w", err)
	}
	return made, nil
}
