package server

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"example.dev/ingestor/test/devcluster/identity"
)

// arguments returns the arguments of kube-apiserver.
func arguments(id *identity.Identity) []string {
	return []string{
		"--etcd-servers=" + etcdURL,
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + id.Path(identity.ServerCert),
		"--tls-private-key-file=" + id.Path(identity.ServerKey),
		"--client-ca-file=" + id.Path(identity.CACert),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file=" + id.Path(identity.AccountKey),
		"--service-account-key-file=" + id.Path(identity.AccountKey),
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--allow-privileged=true",
		"--profiling=false",
		// Otherwise a shutdown waits a minute for watches to end by themselves.
		"--shutdown-send-retry-after=true",
		"--shutdown-watch-termination-grace-period=1s",
	}
}

// newAPIServer parses the arguments, and returns the function that serves until
// its context ends. Only one can run in a process.
func newAPIServer(ctx context.Context, id *identity.Identity, args []string) (func(context.Context) error, error) {
	o := options.NewServerRunOptions()
	o.SecureServing.Listener = id.Listener
	sections := o.Flags()
	names := slices.Sorted(maps.Keys(sections.FlagSets))
	all := sections.FlagSet("kube-apiserver")
	all.Init("kube-apiserver", 0) // Zero returns an error instead of ending the process.
	for _, name := range names {
		all.AddFlagSet(sections.FlagSets[name])
	}
	all.Usage = func() {}
	if err := all.Parse(slices.Concat(arguments(id), args)); err != nil {
		return nil, fmt.Errorf("cannot parse the API server's arguments: %w", err)
	}
	if all.NArg() > 0 {
		return nil, fmt.Errorf("cannot parse the API server's arguments: %q is not a flag", all.Arg(0))
	}
	if err := o.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, fmt.Errorf("cannot set the API server's features: %w", err)
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	completed, err := o.Complete(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot prepare the API server: %w", err)
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return nil, fmt.Errorf("cannot prepare the API server: %w", utilerrors.NewAggregate(errs))
	}
	return func(ctx context.Context) error { return app.Run(ctx, completed) }, nil
}

// pollEvery is the interval of readiness checks during the start.
const pollEvery = 25 * time.Millisecond

// waitReady waits until the API server reports that it is ready, or has failed.
func waitReady(ctx context.Context, client kubernetes.Interface, failed <-chan error) error {
	for {
		var status int
		client.Discovery().RESTClient().Get().AbsPath("/readyz").Timeout(5 * time.Second).Do(ctx).StatusCode(&status)
		if status == http.StatusOK {
			return nil
		}
		select {
		case err := <-failed:
			return fmt.Errorf("cannot start the API server: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("cannot start the API server: %w", context.Cause(ctx))
		case <-time.After(pollEvery):
		}
	}
}
