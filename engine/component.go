package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// mostWorkloads is the maximum number of workloads listed in a description.
const mostWorkloads = 8

// Component makes the Component entity for the workloads that share an id, the value of
// their label words.LabelClusterID. The order of the workloads does not matter. Without
// workloads the result is empty. The PostProcess hook sees the Component as it sees the
// entities of a definition; the only error is the hook's.
func (e *Engine) Component(id string, workloads []*xrd.Object) (Result, error) {
	made, c := newComponent(id, workloads, e.opts)
	if made == nil {
		return Result{}, nil
	}
	out := Result{Entities: []*entity.Entity{made}, Findings: c.findings}
	if err := e.conclude(&out, fmt.Sprintf("workloads %q", id), c.vocabulary(), c.parts[0].Origin.File, tree.Pos{}); err != nil {
		return Result{}, err
	}
	return out, nil
}

// newComponent makes a Component in the contract's vocabulary. It returns nil if there
// are no workloads.
func newComponent(id string, workloads []*xrd.Object, opts Options) (*entity.Entity, *component) {
	if len(workloads) == 0 {
		return nil, nil
	}
	c := &component{id: id, opts: opts, parts: make([]part, len(workloads))}
	for i, o := range workloads {
		c.parts[i] = partOf(o)
	}
	slices.SortFunc(c.parts, func(a, b part) int {
		return cmp.Or(strings.Compare(a.Origin.Cluster, b.Origin.Cluster), strings.Compare(a.Namespace, b.Namespace),
			strings.Compare(a.kind, b.kind), strings.Compare(a.name, b.name),
			strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(a.Origin.Location, b.Origin.Location))
	})
	return c.entity(), c
}

// component is one run of Component.
type component struct {
	id       string
	opts     Options
	parts    []part
	findings []finding.Finding
}

// part is a workload with the kind and name under which users know it.
type part struct {
	*xrd.Object
	kind, name string
}

// partOf returns the part for a workload. A Job created by a CronJob gets the kind and
// name of the CronJob, because the next Job has another name.
func partOf(o *xrd.Object) part {
	p := part{Object: o, kind: o.Kind, name: o.Name}
	for _, owner := range o.Node.Get("metadata", "ownerReferences").List() {
		if name := owner.Get("name").Str(); o.Kind == "Job" && owner.Get("kind").Str() == "CronJob" && name != "" {
			p.kind, p.name = "CronJob", name
		}
	}
	return p
}

func (c *component) entity() *entity.Entity {
	name, changed := entity.Name(c.id)
	if changed {
		c.note(RuleName, c.parts[0], tree.Pos{}, fmt.Sprintf("Component name %q is not valid in the catalog and becomes %q", c.id, name), "")
	}
	namespace, changed := entity.Namespace(c.opts.Namespace)
	if changed {
		c.note(RuleNamespace, part{}, tree.Pos{}, fmt.Sprintf("namespace %q is not valid in the catalog and becomes %q", c.opts.Namespace, namespace), "")
	}
	var kinds []string
	for _, p := range c.parts {
		kinds = append(kinds, p.kind)
	}
	return &entity.Entity{
		APIVersion: words.EntityVersion,
		Kind:       entity.KindComponent,
		Metadata: entity.Metadata{
			Name:        name,
			Namespace:   namespace,
			Title:       c.id,
			Description: c.description(),
			Annotations: c.annotations(),
			Tags:        entity.Tags([]string{words.TagComposer, words.TagSource}, append(kinds, c.opts.Tags...)),
		},
		Spec: tree.Obj(
			tree.F("type", tree.Str("service")),
			tree.F("lifecycle", tree.Str(c.lifecycle())),
			tree.F("owner", tree.Str(cmp.Or(c.ref("owner", words.AnnotationOwner, c.opts.Owner, entity.KindGroup, namespace), defaultOwner))),
			tree.F("system", tree.OptStr(c.ref("system", words.AnnotationSystem, "", entity.KindSystem, namespace))),
		),
	}
}

// lifecycle returns the lifecycle of the first workload that sets one, else the option.
func (c *component) lifecycle() string {
	for _, p := range c.parts {
		if given := p.Annotations[words.AnnotationLifecycle]; given != "" {
			return given
		}
	}
	return cmp.Or(c.opts.Lifecycle, defaultLifecycle)
}

func (c *component) annotations() map[string]string {
	location := c.parts[0].Origin.SourceLocation()
	m := map[string]string{
		words.AnnotationClusterID:       c.id,
		words.AnnotationSourceLocation:  location,
		words.AnnotationManagedBy:       location,
		words.AnnotationManagedByOrigin: location,
	}
	one := c.parts[0].Namespace
	var clusters []string
	for _, p := range c.parts {
		if p.Namespace != one {
			one = ""
		}
		if p.Origin.Cluster != "" {
			clusters = append(clusters, p.Origin.Cluster)
		}
	}
	if one != "" {
		m[words.AnnotationClusterNamespace] = one
	}
	if clusters = slices.Compact(clusters); len(clusters) > 0 {
		m[words.AnnotationDiscoveredFrom] = strings.Join(clusters, ",")
	}
	if !c.opts.Now.IsZero() {
		m[words.AnnotationDiscoveredAt] = timestamp(c.opts.Now)
	}
	return m
}

// description lists the workloads by kind. A workload is listed once, even if several
// clusters have it.
func (c *component) description() string {
	all := make([][2]string, len(c.parts))
	for i, p := range c.parts {
		all[i] = [2]string{p.kind, p.name}
	}
	slices.SortFunc(all, func(a, b [2]string) int { return cmp.Or(strings.Compare(a[0], b[0]), strings.Compare(a[1], b[1])) })
	all = slices.Compact(all)
	var b strings.Builder
	for i, w := range all {
		switch {
		case i == mostWorkloads:
			return b.String() + ", …"
		case i == 0:
			b.WriteString(w[0] + " " + w[1])
		case w[0] != all[i-1][0]:
			b.WriteString("; " + w[0] + " " + w[1])
		default:
			b.WriteString(", " + w[1])
		}
	}
	return b.String()
}

// ref resolves an entity reference: the value set on the workloads, else the option.
// Invalid references are reported and ignored. Conflicting references are too: otherwise
// anyone who can label a workload could take ownership of the Component.
func (c *component) ref(field, key, option, kind, namespace string) string {
	const hint = "write it as name, namespace/name or kind:namespace/name"
	named := ""
	for _, p := range c.parts {
		v, from := words.Pick(p.Annotations, key)
		switch {
		case v == "":
		case !isRef(v, kind, namespace):
			c.note(RuleRef, p, placeOf(p.Node, from), fmt.Sprintf("%s %q is not an entity reference and is ignored", field, v), hint)
		case named != "" && named != v:
			c.note(RuleRef, p, placeOf(p.Node, from), fmt.Sprintf("%s is %q here and %q on another workload of the same id, so both are ignored", field, v, named),
				"set the same value everywhere, or change one of the ids")
			return c.option(field, option, kind, namespace, hint)
		default:
			named = v
		}
	}
	if named != "" {
		return named
	}
	return c.option(field, option, kind, namespace, hint)
}

// option returns a reference that was given as an option, or "" if it is invalid.
func (c *component) option(field, option, kind, namespace, hint string) string {
	if option != "" && !isRef(option, kind, namespace) {
		c.note(RuleRef, part{}, tree.Pos{}, fmt.Sprintf("%s %q, set as an option, is not an entity reference and is ignored", field, option), hint)
		return ""
	}
	return option
}

// placeOf returns the position of an annotation, in either spelling.
func placeOf(n *tree.Node, key string) tree.Pos {
	for _, k := range words.Spellings(words.Key, key) {
		if at := annotationPos(n, k); at != (tree.Pos{}) {
			return at
		}
	}
	return tree.Pos{}
}

// vocabulary returns the vocabulary in which the workloads spell their label: Upstream
// only if no workload uses the contract's spelling.
func (c *component) vocabulary() words.Vocabulary {
	found := words.Portal
	for _, p := range c.parts {
		labels := p.Node.Get("metadata", "labels")
		if labels.Has(words.LabelClusterID) {
			return words.Portal
		}
		if labels.Has(words.Upstream.Out(words.Key, words.LabelClusterID)) {
			found = words.Upstream
		}
	}
	return found
}

// note adds a finding about a workload, or about the options if about is the zero part.
func (c *component) note(rule string, about part, pos tree.Pos, message, hint string) {
	i := slices.IndexFunc(Rules, func(r finding.Rule) bool { return r.ID == rule })
	f := finding.Finding{Rule: rule, Severity: Rules[i].Severity, Object: c.id, Pos: pos, Message: message, Hint: hint}
	if about.Object != nil {
		f.File = about.Origin.File
	}
	c.findings = append(c.findings, f)
}
