package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// resourceSpec returns the spec of a Resource: dependsOn refers to other Resources,
// implementsApi to APIs.
func (t *transformation) resourceSpec(typ, owner string, dependsOn, apis []string) *tree.Node {
	return tree.Obj(
		tree.F("type", tree.Str(typ)),
		tree.F("owner", tree.Str(owner)),
		tree.F("system", tree.Str(t.system)),
		tree.F("dependsOn", tree.Strs(dependsOn)),
		tree.F("implementsApi", tree.Strs(apis)),
	)
}

// apis returns references to the APIs made so far.
func (t *transformation) apis() []string {
	var out []string
	for _, e := range t.out.Entities {
		if e.Kind == entity.KindAPI {
			out = append(out, ref(e))
		}
	}
	return out
}

// definitionResource makes the Resource for the definition. Every definition gets one,
// even a broken one, so that it remains visible in the catalog.
func (t *transformation) definitionResource() *entity.Entity {
	e := t.entity(entity.KindResource, t.base, "-xrd")
	e.Metadata.Title = t.def.Name
	kind := t.def.Names.Kind
	if kind == "" {
		kind = "an unnamed kind"
	}
	e.Metadata.Description = "Definition of " + kind
	if t.def.HasClaim() {
		e.Metadata.Description += ", claimed as " + t.def.Claim.Kind
	}
	e.Metadata.Tags = t.tags()
	if v := t.def.Preferred(); v != nil {
		e.Metadata.Annotations[words.AnnotationXRDVersion] = v.Name
	}
	t.compositionAnnotation(e.Metadata.Annotations)
	e.Spec = t.resourceSpec(words.TypeXRD, t.owner, nil, t.apis())
	return e
}

// definitionRef returns a reference to the definition's Resource, which is the last
// entity made before those that depend on it.
func (t *transformation) definitionRef() string {
	name, _ := entity.NameWithSuffix(t.base, "-xrd")
	return "resource:" + t.namespace + "/" + name
}

func compositionRef(namespace, name string) string {
	repaired, _ := entity.NameWithSuffix(name, "-composition")
	return "resource:" + namespace + "/" + repaired
}

// compositionResources makes a Resource for each Composition.
func (t *transformation) compositionResources() {
	apis := t.apis()
	all := slices.Clone(t.in.Compositions)
	slices.SortFunc(all, func(a, b *xrd.Composition) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range all {
		if !c.For(t.def) || t.in.Untracked[c.Name] {
			continue
		}
		e := t.entity(entity.KindResource, c.Name, "-composition")
		e.Metadata.Title = c.Name
		e.Metadata.Description = describeComposition(c)
		e.Metadata.Tags = t.tags()
		a := t.annotations(c.Origin)
		a[words.AnnotationCompositionRef] = c.Name
		if v := versionOf(c.TypeAPIVersion); v != "" {
			a[words.AnnotationXRDVersion] = v
		}
		e.Metadata.Annotations = a
		e.Spec = t.resourceSpec(words.TypeComposition, t.ownerOf(&c.Object), []string{t.definitionRef()}, apis)
		t.out.Entities = append(t.out.Entities, e)
	}
}

func versionOf(apiVersion string) string {
	_, v, _ := strings.Cut(apiVersion, "/")
	return v
}

func describeComposition(c *xrd.Composition) string {
	var parts []string
	for _, s := range c.Steps {
		parts = append(parts, s.Function)
	}
	how := "pipeline"
	if c.Mode == xrd.ModeResources {
		parts, how = c.Resources, "resources"
	}
	text := "Composition for " + c.TypeKind
	const most = 8
	switch n := len(parts); {
	case n == 0:
		return text
	case n > most:
		return text + " (" + how + ": " + strings.Join(parts[:most], ", ") + ", …)"
	}
	return text + " (" + how + ": " + strings.Join(parts, ", ") + ")"
}

// ownerOf returns the owner set on a Composition or composite, else the definition's
// owner.
func (t *transformation) ownerOf(o *xrd.Object) string {
	if own, _ := words.Pick(o.Annotations, words.AnnotationOwner); own != "" && t.isRef(own, "Group") {
		return own
	}
	return t.owner
}

// compositeResources makes a Resource for each composite and claim.
func (t *transformation) compositeResources() {
	all := slices.Clone(t.in.Composites)
	slices.SortFunc(all, func(a, b *xrd.Composite) int {
		return cmp.Or(strings.Compare(a.Origin.Cluster, b.Origin.Cluster), strings.Compare(a.Namespace, b.Namespace),
			strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	names := form.Matching(t.def, t.in.Compositions)
	for _, c := range all {
		t.out.Entities = append(t.out.Entities, t.composite(c, names))
	}
}

// compositeSuffix returns a suffix that makes the name of a composite's Resource unique
// across clusters, namespaces and kinds.
func compositeSuffix(k CompositeKey) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{k.Cluster, k.Namespace, k.Group, k.Kind, k.Name}, "\x00")))
	return "-" + hex.EncodeToString(sum[:4])
}

func (t *transformation) composite(c *xrd.Composite, compositions []string) *entity.Entity {
	e := t.entity(entity.KindResource, c.Name, compositeSuffix(KeyOf(c)))
	e.Metadata.Title = c.Name
	e.Metadata.Description = c.Kind
	if c.Unnamed {
		e.Metadata.Title = c.Kind
		if prefix := c.Node.Get("metadata", "generateName").Str(); prefix != "" {
			e.Metadata.Title = prefix + "…"
		}
		e.Metadata.Description += " that gets its name when it is created"
	}
	if c.Namespace != "" {
		e.Metadata.Description += " in namespace " + c.Namespace
	}
	e.Metadata.Tags = t.tags()
	a := t.annotations(c.Origin)
	if c.Origin.Cluster != "" {
		a[words.AnnotationDiscoveredFrom] = c.Origin.Cluster
	}
	if !c.Unnamed {
		a[words.AnnotationXRName] = c.Name
	}
	// The group is the platform's own and is not translated, even if it resembles a
	// vocabulary word.
	a[words.AnnotationXRAPIVersion] = c.Node.Get("apiVersion").Str()
	a[words.AnnotationXRKind] = c.Kind
	a[words.AnnotationXRDVersion] = versionOf(c.APIVersion)
	if id := c.Labels[words.LabelClusterID]; id != "" {
		a[words.AnnotationClusterID] = id
	}
	if c.Namespace != "" {
		a[words.AnnotationClusterNamespace] = c.Namespace
	}
	conditionAnnotations(a, c)
	dependsOn := []string{t.definitionRef()}
	if used := t.usedComposition(c, compositions); used != "" {
		a[words.AnnotationCompositionRef] = used
		if slices.Contains(compositions, used) && !t.in.Untracked[used] {
			dependsOn = []string{compositionRef(t.namespace, used)}
		}
	}
	if bound := t.bound(c); bound != nil {
		dependsOn = append(dependsOn, t.compositeRef(KeyOf(bound)))
	}
	dependsOn = append(dependsOn, t.partRefs(c)...)
	e.Metadata.Annotations = a
	e.Metadata.Links = links(c.Node.Get("status"))
	e.Spec = t.resourceSpec(words.TypeXR, t.ownerOf(&c.Object), dependsOn, nil)
	e.Spec.Fields = append(e.Spec.Fields, readiness(c)...)
	return e
}

// bound returns the composite that a claim is bound to, if it is in the input: the one
// the claim references, else the one that references the claim.
func (t *transformation) bound(claim *xrd.Composite) *xrd.Composite {
	if !claim.Claim {
		return nil
	}
	t.bind()
	if to := claim.Counterpart; to.Name != "" {
		return t.composites[binding{claim.Origin.Cluster, xrd.Reference{Kind: cmp.Or(to.Kind, t.def.Names.Kind), Name: to.Name}}]
	}
	return t.claimed[binding{claim.Origin.Cluster, xrd.Reference{Kind: claim.Kind, Namespace: claim.Namespace, Name: claim.Name}}]
}

// binding identifies a composite or claim across clusters.
type binding struct {
	cluster string
	xrd.Reference
}

// bind indexes, once, the composites and the claims they reference.
func (t *transformation) bind() {
	if t.composites != nil {
		return
	}
	t.composites, t.claimed = map[binding]*xrd.Composite{}, map[binding]*xrd.Composite{}
	for _, c := range t.in.Composites {
		if c.Claim {
			continue
		}
		t.composites[binding{c.Origin.Cluster, xrd.Reference{Kind: c.Kind, Name: c.Name}}] = c
		if c.Counterpart.Name != "" {
			t.claimed[binding{c.Origin.Cluster, c.Counterpart}] = c
		}
	}
}

// usedComposition returns the Composition that a composite uses: the enforced one, the
// one it names, the default, or the only one there is.
func (t *transformation) usedComposition(c *xrd.Composite, compositions []string) string {
	if used := cmp.Or(t.def.EnforcedComposition, c.Composition, t.def.DefaultComposition); used != "" {
		return used
	}
	if len(compositions) == 1 {
		return compositions[0]
	}
	return ""
}
