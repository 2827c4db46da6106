package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/composed"
	"example.dev/ingestor/xrd/structural"
)

// composite is a composite that is rendered.
type composite struct {
	definition *xrd.Definition
	// desired is the composite as Crossplane would find it, and live as it is; nil if it
	// does not exist.
	desired, live *tree.Node
	// within are the names in Compositions of the composites from the root to this one.
	within []string
}

// isNew reports whether the composite does not exist.
func (c *composite) isNew() bool { return c.live == nil }

// begin finds out what the manifest is, and returns the composite to render.
func (j *job) begin(ctx context.Context) (*composite, error) {
	// A manifest that was read from a cluster has values of the API server.
	n := j.Manifest
	if meta := n.Get("metadata"); meta.IsMap() {
		n = with(n, "metadata", without(meta, assigned...))
	}
	apiVersion, kind := n.Get("apiVersion").Str(), n.Get("kind").Str()
	if !n.IsMap() || apiVersion == "" || kind == "" {
		return nil, refuse(Invalid, "write the manifest of one composite resource or claim", "manifest has no apiVersion or no kind")
	}
	d, claim, err := j.definitionOf(ctx, apiVersion, kind)
	if err != nil {
		return nil, err
	}
	ref := refOf(n)
	var live *tree.Node
	if ref.Name != "" {
		if live, err = j.source.Get(ctx, ref); err != nil {
			return nil, err
		}
	}
	version := strings.TrimPrefix(apiVersion, d.Group+"/")
	base := live
	if live != nil && !j.Merge {
		base = unauthored(live, byOthers)
	}
	desired, err := j.settle(ctx, d, version, claim, overlay(base, n), live, j.noting(""))
	if err != nil {
		return nil, err
	}
	if claim {
		return j.bind(ctx, d, desired)
	}
	c := &composite{definition: d, desired: referenceable(d, desired), live: live}
	if ref.Name == "" {
		c.desired = j.invent(c.desired, n.Get("metadata", "generateName").Str())
	}
	j.describeRoot(c)
	return c, nil
}

func refOf(n *tree.Node) composed.Ref {
	meta := n.Get("metadata")
	return composed.Ref{APIVersion: n.Get("apiVersion").Str(), Kind: n.Get("kind").Str(), Namespace: meta.Get("namespace").Str(), Name: meta.Get("name").Str()}
}

// overlay returns a live object with the fields of a manifest.
func overlay(live, n *tree.Node) *tree.Node {
	n = without(n, "status")
	if live == nil {
		return n
	}
	return tree.Overlay(live, n)
}

// settle validates an object as the API server would, and sets its defaults.
// Server-side apply refuses an object with fields that the schema lacks, which warn gets.
func (j *job) settle(ctx context.Context, d *xrd.Definition, version string, claim bool, n, live *tree.Node, warn func(string)) (*tree.Node, error) {
	k, err := j.kind(d, version, claim)
	if err != nil {
		return nil, refuse(Invalid, "correct the XRD", "cannot use the schema of %s: %w", d.Label(), err)
	}
	object, err := structural.Object(n)
	if err != nil {
		return nil, refuse(Invalid, "correct the manifest", "cannot read the manifest: %w", err)
	}
	unknown, err := k.Default(object)
	if err != nil {
		return nil, refuse(Invalid, "correct the manifest", "cannot set defaults: %w", err)
	}
	for _, path := range unknown {
		warn(fmt.Sprintf("the schema of %s has no field %s: the cluster rejects the object, or drops the field", d.Names.Kind, path))
	}
	var old map[string]any
	if live != nil {
		if old, err = structural.Object(live); err != nil {
			return nil, refuse(Invalid, "", "cannot read the live object: %w", err)
		}
	}
	if found := k.Validate(ctx, object, old).Problems; len(found) > 0 {
		text := found[0].String()
		if len(found) > 1 {
			text += fmt.Sprintf(" (and %d more)", len(found)-1)
		}
		return nil, refuse(Invalid, "correct the manifest", "the cluster would reject the manifest: %s", text)
	}
	return tree.From(object)
}

// referenceable returns a composite in the version that Crossplane reconciles.
func referenceable(d *xrd.Definition, n *tree.Node) *tree.Node {
	for _, v := range d.Versions {
		if v.Referenceable {
			n = with(n, "apiVersion", tree.Str(d.Group+"/"+v.Name))
		}
	}
	return n
}

// suffix is the end of a name that stands for a generated one. Other values are unlikely
// to have it.
const suffix = "0x0x0"

// invent gives an object without a name one, and remembers that it is invented.
func (j *job) invent(n *tree.Node, prefix string) *tree.Node {
	name := prefix + suffix
	j.generated[name] = prefix + generatedMark
	return with(n, "metadata", with(n.Get("metadata"), "name", tree.Str(name)))
}

// The fields of a claim's spec that its composite does not get, except for the revision
// if updates are manual.
var ofClaim = []string{
	"resourceRef", "resourceRefs", "claimRef", "compositeDeletePolicy", "writeConnectionSecretToRef", "publishConnectionDetailsTo",
	"environmentConfigRefs", "crossplane",
}

// bind returns the composite that Crossplane would make of a claim.
func (j *job) bind(ctx context.Context, d *xrd.Definition, claim *tree.Node) (*composite, error) {
	ref := refOf(claim)
	j.plan.Claim = &ref
	spec, meta := claim.Get("spec"), claim.Get("metadata")
	drop := ofClaim
	if spec.Get("compositionUpdatePolicy").Str() != "Manual" {
		drop = append(slices.Clone(drop), "compositionRevisionRef")
	}
	if d.EnforcedComposition != "" {
		drop = append(slices.Clone(drop), "compositionRef")
	}
	made := with(without(spec, drop...), "claimRef", tree.Obj(
		tree.F("apiVersion", tree.Str(ref.APIVersion)), tree.F("kind", tree.Str(ref.Kind)),
		tree.F("namespace", tree.Str(ref.Namespace)), tree.F("name", tree.Str(ref.Name)),
	))
	labels := unreserved(meta.Get("labels"))
	labels = with(with(labels, labelClaimName, tree.Str(ref.Name)), labelClaimSpace, tree.Str(ref.Namespace))
	var annotations *tree.Node
	if own := unreserved(meta.Get("annotations")); own.Len() > 0 {
		annotations = own
	}
	xr := referenceable(d, tree.Obj(
		tree.F("apiVersion", tree.Str(ref.APIVersion)), tree.F("kind", tree.Str(d.Names.Kind)),
		tree.F("metadata", tree.Obj(tree.F("labels", labels), tree.F("annotations", annotations))), tree.F("spec", made),
	))
	c := &composite{definition: d}
	if name := spec.Get("resourceRef", "name").Str(); name != "" {
		xr = with(xr, "metadata", with(xr.Get("metadata"), "name", tree.Str(name)))
		var err error
		if c.live, err = j.bound(ctx, refOf(xr), ref); err != nil {
			return nil, err
		}
	} else {
		xr = j.invent(xr, ref.Name+"-")
	}
	version := strings.TrimPrefix(xr.Get("apiVersion").Str(), d.Group+"/")
	var err error
	base := c.live
	if base != nil {
		base = unauthored(base, byClaims)
	}
	if c.desired, err = j.settle(ctx, d, version, false, overlay(base, xr), nil, j.noting("")); err != nil {
		return nil, err
	}
	j.describeRoot(c)
	return c, nil
}

// bound returns the composite that a claim names; nil if it does not exist. A manifest may
// name any composite, so that one which is not bound to the claim is refused, as
// Crossplane does, unless it is bound to none and the caller may read it.
func (j *job) bound(ctx context.Context, xr, claim composed.Ref) (*tree.Node, error) {
	live, err := j.source.Get(ctx, xr)
	if live == nil || err != nil {
		return nil, err
	}
	of := live.Get("spec", "claimRef")
	switch {
	case of.Get("kind").Str() == claim.Kind && of.Get("namespace").Str() == claim.Namespace && of.Get("name").Str() == claim.Name && claim.Name != "":
		return live, nil
	case of.Get("name").Str() == "" && (j.Authorize == nil || j.Authorize(ctx, xr) == nil):
		return live, nil
	}
	return nil, refuse(Invalid, "remove spec.resourceRef, or correct it", "the claim names %s, which is not bound to it", xr)
}

// unreserved returns labels or annotations without those of Kubernetes.
func unreserved(n *tree.Node) *tree.Node {
	out := tree.Obj()
	if !n.IsMap() {
		return out
	}
	for _, f := range n.Fields {
		group, _, _ := strings.Cut(f.Key, "/")
		if group != "kubernetes.io" && !strings.HasSuffix(group, ".kubernetes.io") && group != "k8s.io" && !strings.HasSuffix(group, ".k8s.io") {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

// with returns a map with another value of a field.
func with(n *tree.Node, key string, value *tree.Node) *tree.Node {
	out := tree.Obj()
	if n.IsMap() {
		out.Fields = slices.Clone(n.Fields)
	}
	out.Set(key, value)
	return out
}

// without returns a map without fields.
func without(n *tree.Node, keys ...string) *tree.Node {
	if !n.IsMap() {
		return n
	}
	return tree.Obj(slices.DeleteFunc(slices.Clone(n.Fields), func(f tree.Field) bool { return slices.Contains(keys, f.Key) })...)
}
