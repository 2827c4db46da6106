package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.dev/ingestor/test/devcluster/manifest"
)

// Apply applies all objects. CustomResourceDefinitions come first, and Apply
// waits until their kinds are served; then namespaces, including those that
// objects refer to and that do not exist.
func (c *Client) Apply(ctx context.Context, objects []manifest.Object) error {
	kinds, namespaces, rest := sorted(objects)
	c.mapper.Reset()
	if err := c.apply(ctx, kinds); err != nil {
		return err
	}
	if err := c.waitServed(ctx, kinds); err != nil {
		return err
	}
	if err := c.apply(ctx, namespaces); err != nil {
		return err
	}
	return c.apply(ctx, rest)
}

// sorted splits objects into CustomResourceDefinitions, namespaces and others.
func sorted(objects []manifest.Object) (kinds, namespaces, rest []manifest.Object) {
	for _, o := range objects {
		switch {
		case manifest.IsCRD(o):
			kinds = append(kinds, o)
		case o.GetKind() == "Namespace" && o.GetAPIVersion() == "v1":
			namespaces = append(namespaces, o)
		default:
			rest = append(rest, o)
		}
	}
	return kinds, namespaces, rest
}

// apply applies objects in any order.
func (c *Client) apply(ctx context.Context, objects []manifest.Object) error {
	targets := make([]target, len(objects))
	var namespaces []string
	var errs []error
	for i, o := range objects {
		var err error
		if targets[i], err = c.find(o); err != nil {
			errs = append(errs, fmt.Errorf("cannot apply %v: %w", o, explain(err)))
		}
		if ns := targets[i].namespace; ns != "" && !slices.Contains(namespaces, ns) {
			namespaces = append(namespaces, ns)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, ns := range namespaces {
		if err := c.ensureNamespace(ctx, ns); err != nil {
			return err
		}
	}
	return each(ctx, targets, func(ctx context.Context, t target) error {
		o := t.DeepCopy()
		// Managed fields are set by the server only.
		o.SetManagedFields(nil)
		o.SetResourceVersion("")
		o.SetUID("")
		if t.namespace != "" {
			o.SetNamespace(t.namespace)
		}
		if _, err := t.resource.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: manager, Force: true}); err != nil {
			return fmt.Errorf("cannot apply %v: %w", t.Object, err)
		}
		return nil
	})
}

// explain adds a hint to an error about a kind that is not served.
func explain(err error) error {
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("%w; apply the definition of that kind too, or with --xr-crds the XRD that describes it", err)
	}
	return err
}

// AwaitKinds waits until all kinds that are defined are served, which is
// shortly after the server itself is ready.
func (c *Client) AwaitKinds(ctx context.Context) error {
	crds, err := c.dynamic.Resource(crdResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("cannot list the definitions of kinds: %w", err)
	}
	all := make([]manifest.Object, len(crds.Items))
	for i := range crds.Items {
		all[i] = manifest.Object{Unstructured: &crds.Items[i], Origin: "the cluster"}
	}
	return c.waitServed(ctx, all)
}

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// waitServed waits until the kinds that the objects define are served, so that
// clients need not retry.
func (c *Client) waitServed(ctx context.Context, crds []manifest.Object) error {
	for _, crd := range crds {
		if err := c.waitEstablished(ctx, crd); err != nil {
			return fmt.Errorf("cannot define the kind of %v: %w", crd, err)
		}
	}
	for _, crd := range crds {
		for _, r := range served(crd) {
			// A kind is announced shortly after it is established, and requests
			// for it work shortly after that.
			err := poll(ctx, func() (bool, error) { return c.announced(r) })
			if err == nil {
				err = poll(ctx, func() (bool, error) { return c.answers(ctx, r) })
			}
			if err != nil {
				return fmt.Errorf("cannot use the kind of %v: %w", crd, err)
			}
		}
	}
	return nil
}

// waitEstablished waits until the server accepts a definition, or returns why
// it does not.
func (c *Client) waitEstablished(ctx context.Context, crd manifest.Object) error {
	return poll(ctx, func() (bool, error) {
		now, err := c.dynamic.Resource(crdResource).Get(ctx, crd.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		if why := condition(now, "NamesAccepted", "False"); why != nil {
			return false, fmt.Errorf("names are taken: %v", why["message"])
		}
		return condition(now, "Established", "True") != nil, nil
	})
}

// condition returns the condition of an object if it has that status.
func condition(o *unstructured.Unstructured, kind, status string) map[string]any {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range all {
		if c, ok := c.(map[string]any); ok && c["type"] == kind && c["status"] == status {
			return c
		}
	}
	return nil
}

// resource is a kind in one version.
type resource struct{ group, version, kind, plural string }

// served returns the served versions of the kind of a CustomResourceDefinition.
func served(crd manifest.Object) []resource {
	var r resource
	r.group, _, _ = unstructured.NestedString(crd.Object, "spec", "group")
	r.kind, _, _ = unstructured.NestedString(crd.Object, "spec", "names", "kind")
	r.plural, _, _ = unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var all []resource
	for _, v := range versions {
		if v, ok := v.(map[string]any); ok && v["served"] == true {
			r.version, _ = v["name"].(string)
			all = append(all, r)
		}
	}
	return all
}

// announced reports whether discovery lists a kind.
func (c *Client) announced(r resource) (bool, error) {
	_, err := c.mapper.RESTMapping(schema.GroupKind{Group: r.group, Kind: r.kind}, r.version)
	if meta.IsNoMatchError(err) {
		c.mapper.Reset()
		return false, nil
	}
	return err == nil, err
}

// answers reports whether objects of a kind can be listed.
func (c *Client) answers(ctx context.Context, r resource) (bool, error) {
	var status int
	err := c.typed.Discovery().RESTClient().Get().AbsPath("apis", r.group, r.version, r.plural).
		Param("limit", "1").MaxRetries(0).Do(ctx).StatusCode(&status).Error()
	switch status {
	case http.StatusNotFound, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return false, nil
	}
	return err == nil, err
}

// Delete deletes all objects in reverse order, and waits until they are gone.
// Missing objects are ignored.
func (c *Client) Delete(ctx context.Context, objects []manifest.Object) error {
	kinds, namespaces, rest := sorted(objects)
	c.mapper.Reset()
	for _, objects := range [][]manifest.Object{rest, namespaces, kinds} {
		if err := c.delete(ctx, objects); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) delete(ctx context.Context, objects []manifest.Object) error {
	var targets []target
	for _, o := range objects {
		t, err := c.find(o)
		if meta.IsNoMatchError(err) {
			// Without the kind there are no objects of it.
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot delete %v: %w", o, err)
		}
		targets = append(targets, t)
	}
	background := metav1.DeletePropagationBackground
	return each(ctx, targets, func(ctx context.Context, t target) error {
		err := t.resource.Delete(ctx, t.GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
		if err == nil {
			err = poll(ctx, func() (bool, error) {
				_, err := t.resource.Get(ctx, t.GetName(), metav1.GetOptions{})
				if apierrors.IsNotFound(err) {
					return true, nil
				}
				return false, err
			})
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("cannot delete %v: %w", t.Object, err)
		}
		return nil
	})
}
