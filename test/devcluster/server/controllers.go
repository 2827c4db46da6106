package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
)

const (
	// resync is the interval at which controllers process all objects again.
	resync = 10 * time.Minute
	// rediscover is the interval at which the garbage collector looks for new
	// kinds.
	rediscover = time.Second
)

// startControllers starts the controllers that clients depend on: deleted
// namespaces are removed, new ones get their default service account, and
// dependents of a deleted object are deleted. They end with ctx; the returned
// function waits for the end.
func startControllers(ctx context.Context, config *rest.Config) (wait func(), err error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot start the controllers: %w", err)
	}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot start the controllers: %w", err)
	}
	typed := informers.NewSharedInformerFactory(client, resync)
	untyped := metadatainformer.NewSharedInformerFactory(meta, resync)
	started := make(chan struct{})

	namespaces := namespace.NewNamespaceController(ctx, client, meta, client.Discovery().ServerPreferredNamespacedResources,
		typed.Core().V1().Namespaces(), resync, corev1.FinalizerKubernetes)
	accounts, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), typed.Core().V1().ServiceAccounts(),
		typed.Core().V1().Namespaces(), client, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, fmt.Errorf("cannot start the service account controller: %w", err)
	}
	garbage, err := garbagecollector.NewGarbageCollector(ctx, client, meta,
		restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery())),
		garbagecollector.DefaultIgnoredResources(), informerfactory.NewInformerFactory(typed, untyped), started)
	if err != nil {
		return nil, fmt.Errorf("cannot start the garbage collector: %w", err)
	}

	typed.Start(ctx.Done())
	untyped.Start(ctx.Done())
	close(started)
	var all sync.WaitGroup
	all.Go(func() { namespaces.Run(ctx, 2) })
	all.Go(func() { accounts.Run(ctx, 1) })
	all.Go(func() { garbage.Run(ctx, 2, time.Minute) })
	all.Go(func() { garbage.Sync(ctx, client.Discovery(), rediscover) })
	return func() {
		all.Wait()
		typed.Shutdown()
		untyped.Shutdown()
	}, nil
}
