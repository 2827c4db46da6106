// Package ready plays the part of the controller in a cluster that has none:
// composites and claims become ready some time after they were made. It writes
// conditions, and nothing else; what somebody else has said of an object stays.
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

// tries is how often a write that fails is tried again. Conflicts do not
// count: the object comes back by itself when it has changed.
const tries = 10

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// Start lets every composite and claim become ready so long after it was made,
// those of kinds that are defined later included. It ends with ctx; the
// function that is returned waits for that.
func Start(ctx context.Context, config *rest.Config, after time.Duration) (wait func(), err error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot let resources become ready: %w", err)
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
		return nil, fmt.Errorf("cannot let resources become ready: %w", err)
	}
	c.all.Go(func() { kinds.RunWithContext(ctx) })
	c.all.Go(func() { c.work(ctx) })
	context.AfterFunc(ctx, c.queue.ShutDown)
	return c.all.Wait, nil
}

// item is an object to look at.
type item struct {
	kind string
	key  string
}

// kind is a kind that is watched.
type kind struct {
	resource schema.GroupVersionResource
	store    cache.Store
	stop     context.CancelFunc
}

// controller looks after the objects of all kinds.
type controller struct {
	client dynamic.Interface
	after  time.Duration
	queue  workqueue.TypedRateLimitingInterface[item]
	all    sync.WaitGroup

	mu    sync.Mutex
	kinds map[string]*kind
}

// defined begins to watch a kind as soon as it is served.
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

// undefined stops watching a kind that is gone.
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

// stored returns a kind in the version that is stored.
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

// work looks at objects until the queue ends.
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

// look writes the conditions of an object, if it is time.
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
	// What is written was decided for this version of the object.
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
