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

// Names assigns each definition of a run its base name. If short names of the profile
// conflict, the first definition in name order keeps the short name and the others get
// their full names, with a finding.
func (e *Engine) Names(defs []*xrd.Definition) (map[*xrd.Definition]string, []finding.Finding) {
	ordered := slices.Clone(defs)
	slices.SortStableFunc(ordered, func(a, b *xrd.Definition) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Origin.File, b.Origin.File),
			cmp.Compare(a.Node.At().Line, b.Node.At().Line), cmp.Compare(a.Node.At().Column, b.Node.At().Column))
	})
	names := make(map[*xrd.Definition]string, len(defs))
	holder := make(map[string]*xrd.Definition, len(defs))
	var findings []finding.Finding
	copies := map[string]int{}
	for _, d := range ordered {
		base := e.profile.Base(d)
		if base == "" {
			// An unnamed definition is named by its content. Copies are numbered in source order.
			base = unnamed(d)
			if copies[base]++; copies[base] > 1 {
				names[d] = fmt.Sprintf("%s-%d", base, copies[base])
			}
			continue
		}
		first, clash := holder[strings.ToLower(base)]
		if !clash {
			holder[strings.ToLower(base)] = d
			names[d] = base
			continue
		}
		full := d.Name
		if holder[strings.ToLower(full)] != nil {
			// Catalog names are case-insensitive.
			full += "-" + contentHash(d)
		}
		names[d] = full
		holder[strings.ToLower(full)] = d
		findings = append(findings, finding.Finding{
			Rule: RuleClash, Severity: finding.Warning, Object: d.Name, File: d.Origin.File, Pos: d.Node.Get("metadata", "name").At(),
			Message: fmt.Sprintf("short name %q is already used by definition %q, so this one is named %q", base, first.Name, full),
			Hint:    "rename one of the two plurals so that developers can distinguish them",
		})
	}
	return names, findings
}

// unnamed returns the base name of a definition without a name.
func unnamed(d *xrd.Definition) string { return "unnamed-" + contentHash(d) }

// contentHash returns a hash of a definition for use in a name. It ignores the status,
// so that the name does not depend on how a cluster serves the definition.
func contentHash(d *xrd.Definition) string {
	n := xrd.Prune(d.Whole().Node, xrd.RoleDefinition)
	if n.Get("status").IsMap() {
		// Prune returned a copy of the document.
		n.Delete("status")
	}
	return entity.ShortHash(n)
}

// Surroundings makes the System entities that the given entities refer to and, if the
// options name one, their Domain. location is where the definitions were found; v is the
// vocabulary.
func (e *Engine) Surroundings(entities []*entity.Entity, location string, v words.Vocabulary) []*entity.Entity {
	owner := e.opts.Owner
	if _, err := entity.ParseExisting(owner, "Group", entity.DefaultNamespace); err != nil {
		owner = defaultOwner
	}
	ns := entity.DefaultNamespace
	if e.opts.Namespace != "" {
		ns, _ = entity.Namespace(e.opts.Namespace)
	}
	newEntity := func(kind string, r entity.Ref, spec *tree.Node) *entity.Entity {
		x := &entity.Entity{
			APIVersion: words.EntityVersion, Kind: kind,
			Metadata: entity.Metadata{
				Name: r.Name, Namespace: strings.ToLower(r.Namespace),
				Annotations: map[string]string{
					words.AnnotationSourceLocation: location, words.AnnotationManagedBy: location, words.AnnotationManagedByOrigin: location,
				},
				Tags: entity.Tags([]string{words.TagComposer, words.TagSource}, nil),
			},
			Spec: spec,
		}
		entity.Speak(x, v)
		return x
	}
	// A reference without a namespace resolves to the namespace of the referring entity.
	// For a System in another namespace that is the wrong one, so full qualifies the
	// reference.
	full := func(s, kind, in string) string {
		r, err := entity.ParseExisting(s, kind, ns)
		if err != nil || strings.EqualFold(in, ns) {
			return s
		}
		return r.String()
	}
	domain, domainErr := entity.ParseExisting(e.opts.Domain, entity.KindDomain, ns)
	var out []*entity.Entity
	seen := map[string]bool{}
	for _, x := range entities {
		if x.Kind == entity.KindSystem {
			seen[x.Key()] = true
		}
	}
	for _, x := range entities {
		r, err := entity.ParseExisting(x.Spec.Get("system").Str(), entity.KindSystem, x.Metadata.Namespace)
		if err != nil || !strings.EqualFold(r.Kind, entity.KindSystem) || seen[r.String()] {
			continue
		}
		seen[r.String()] = true
		spec := tree.Obj(tree.F("owner", tree.Str(full(owner, "Group", r.Namespace))))
		if domainErr == nil {
			spec.Set("domain", tree.Str(full(e.opts.Domain, entity.KindDomain, r.Namespace)))
		}
		out = append(out, newEntity(entity.KindSystem, r, spec))
	}
	if domainErr == nil && strings.EqualFold(domain.Kind, entity.KindDomain) {
		out = append(out, newEntity(entity.KindDomain, domain, tree.Obj(tree.F("owner", tree.Str(full(owner, "Group", domain.Namespace))))))
	}
	return out
}
