// Package kube changes a cluster without kubectl: it applies and deletes
// objects, waits until their kinds are served, and requests tokens.
package kube

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"example.dev/ingestor/test/devcluster/manifest"
)

const (
	// manager is the field manager of applied objects.
	manager = "devcluster"
	// pollEvery is the interval of polling.
	pollEvery = 50 * time.Millisecond
	// parallel is the number of concurrent requests.
	parallel = 8
)

// Client changes one cluster.
type Client struct {
	typed   kubernetes.Interface
	dynamic dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

// Open returns a Client for the current context of a kubeconfig.
func Open(kubeconfig string) (*Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("cannot use kubeconfig %q: %w", kubeconfig, err)
	}
	config.QPS = -1
	return New(config)
}

// New returns a Client.
func New(config *rest.Config) (*Client, error) {
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot create a client: %w", err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot create a client: %w", err)
	}
	return &Client{typed, dyn, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(typed.Discovery()))}, nil
}

// Token returns a token of a service account with a lifetime. The account and
// its namespace are created if they are missing.
func (c *Client) Token(ctx context.Context, namespace, account string, good time.Duration) (string, error) {
	if err := c.ensureNamespace(ctx, namespace); err != nil {
		return "", err
	}
	accounts := c.typed.CoreV1().ServiceAccounts(namespace)
	_, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("cannot create service account %q: %w", account, err)
	}
	seconds := int64(good.Seconds())
	answer, err := accounts.CreateToken(ctx, account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("cannot get a token of service account %q: %w", account, err)
	}
	return answer.Status.Token, nil
}

// ensureNamespace creates a namespace unless it exists.
func (c *Client) ensureNamespace(ctx context.Context, name string) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := c.typed.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot create namespace %q: %w", name, err)
	}
	return nil
}

// target is an object with the resource it is written to.
type target struct {
	manifest.Object
	resource dynamic.ResourceInterface
	// namespace is empty if the kind is cluster-scoped.
	namespace string
}

// find returns the target of an object.
func (c *Client) find(o manifest.Object) (target, error) {
	kind := o.GroupVersionKind()
	m, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return target{}, err
	}
	to := c.dynamic.Resource(m.Resource)
	if m.Scope.Name() != meta.RESTScopeNameNamespace {
		return target{o, to, ""}, nil
	}
	namespace := o.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return target{o, to.Namespace(namespace), namespace}, nil
}

// each calls do for all targets concurrently, and returns the first error.
func each(ctx context.Context, all []target, do func(context.Context, target) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, t := range all {
		group.Go(func() error { return do(ctx, t) })
	}
	return group.Wait()
}

// poll calls done until it returns true or an error, or ctx ends.
func poll(ctx context.Context, done func() (bool, error)) error {
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollEvery):
		}
	}
}
