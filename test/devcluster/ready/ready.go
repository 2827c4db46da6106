// Package ready simulates the controllers of composites and claims: they become
// ready some time after they were created. It writes only conditions;
// conditions that another client has set are kept.
package ready

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"example.dev/ingestor/test/devcluster/manifest"
)

// tries is the number of retries of a failed write. Conflicts are not counted,
// as a changed object is queued again.
const tries = 10

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// Start makes every composite and claim ready the given time after its
// creation, including those of kinds that are defined later. It ends with ctx;
// the returned function waits for the end.
func Start(ctx context.Context, config *rest.Config, after time.Duration) (wait func(), err error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot start the readiness controller: %w", err)
	}
	c := &controller{
		client: client,
		after:  after,
		queue:  workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[item]()),
		kinds:  map[string]*kind{},
	}
	kinds := dynamicinformer.NewFilteredDynamicInformer(client, crds, metav1.NamespaceAll, 0, nil, nil).Informer()
	_, err = kinds.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(crd any) { c.defined(ctx, crd) },
		UpdateFunc: func(_, crd any) { c.defined(ctx, crd) },
		DeleteFunc: c.undefined,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot start the readiness controller: %w", err)
	}
	c.all.Go(func() { kinds.RunWithContext(ctx) })
	c.all.Go(func() { c.work(ctx) })
	context.AfterFunc(ctx, c.queue.ShutDown)
	return c.all.Wait, nil
}

// item is an object in the queue.
type item struct {
	kind string
	key  string
}

// kind is a watched kind.
type kind struct {
	resource schema.GroupVersionResource
	store    cache.Store
	stop     context.CancelFunc
}

// controller handles the objects of all kinds.
type controller struct {
	client dynamic.Interface
	after  time.Duration
	queue  workqueue.TypedRateLimitingInterface[item]
	all    sync.WaitGroup

	mu    sync.Mutex
	kinds map[string]*kind
}

// defined starts to watch a kind as soon as it is served.
func (c *controller) defined(ctx context.Context, object any) {
	crd, ok := object.(*unstructured.Unstructured)
	if !ok || !manifest.IsComposite(crd) {
		return
	}
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	resource, ok := stored(crd)
	if !ok || find(conditions, "Established")["status"] != "True" {
		return
	}
	name := crd.GetName()
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.kinds[name]; known != nil {
		if known.resource == resource {
			return
		}
		known.stop()
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(c.client, resource, metav1.NamespaceAll, 0, nil, nil).Informer()
	add := func(o any) {
		if key, err := cache.MetaNamespaceKeyFunc(o); err == nil {
			c.queue.Add(item{name, key})
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, o any) { add(o) }})
	if err != nil {
		klog.ErrorS(err, "cannot watch a kind", "kind", name)
		return
	}
	ctx, stop := context.WithCancel(ctx)
	c.kinds[name] = &kind{resource, informer.GetStore(), stop}
	c.all.Go(func() { informer.RunWithContext(ctx) })
}

// undefined stops watching a deleted kind.
func (c *controller) undefined(object any) {
	name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.kinds[name]; known != nil {
		known.stop()
		delete(c.kinds, name)
	}
}

// stored returns the resource of a kind in its storage version.
func stored(crd *unstructured.Unstructured) (schema.GroupVersionResource, bool) {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	best := schema.GroupVersionResource{}
	for _, v := range versions {
		v, ok := v.(map[string]any)
		if !ok || v["served"] != true {
			continue
		}
		name, _ := v["name"].(string)
		if best.Version == "" || v["storage"] == true {
			best = schema.GroupVersionResource{Group: group, Version: name, Resource: plural}
		}
	}
	return best, best.Version != ""
}

// work processes objects until the queue ends.
func (c *controller) work(ctx context.Context) {
	for {
		it, ended := c.queue.Get()
		if ended {
			return
		}
		err := c.look(ctx, it)
		switch {
		case err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err):
			c.queue.Forget(it)
		case ctx.Err() == nil && c.queue.NumRequeues(it) < tries:
			c.queue.AddRateLimited(it)
		case ctx.Err() == nil:
			klog.ErrorS(err, "cannot let a resource become ready", "kind", it.kind, "object", it.key)
			c.queue.Forget(it)
		}
		c.queue.Done(it)
	}
}

// look writes the conditions of an object when they are due.
func (c *controller) look(ctx context.Context, it item) error {
	c.mu.Lock()
	k := c.kinds[it.kind]
	c.mu.Unlock()
	if k == nil {
		return nil
	}
	found, ok, err := k.store.GetByKey(it.key)
	if err != nil || !ok {
		return err
	}
	o, ok := found.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	conditions, again := next(o, time.Now(), c.after)
	if again > 0 {
		c.queue.AddAfter(it, again)
	}
	if conditions == nil {
		return nil
	}
	// The patch is only valid for this version of the object.
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": o.GetResourceVersion()},
		"status":   map[string]any{"conditions": conditions},
	})
	if err != nil {
		return err
	}
	var to dynamic.ResourceInterface = c.client.Resource(k.resource)
	if ns := o.GetNamespace(); ns != "" {
		to = c.client.Resource(k.resource).Namespace(ns)
	}
	_, err = to.Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager}, "status")
	return err
}
