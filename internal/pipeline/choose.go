package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/xrd"
)

// choose selects the definitions to transform, and what belongs to each.
func (r *run) choose(set *xrd.Set) []engine.Input {
	chosen, refused, conflicts := xrd.Select(set.Definitions, r.refuse)
	r.report.Findings = append(r.report.Findings, conflicts...)
	for _, d := range refused {
		if r.claims.left(r.index, d.Name) && r.refusal(d) == "" {
			r.report.LeftBy[d.Name] = []string{r.name}
			continue
		}
		r.report.Refused = append(r.report.Refused, Refusal{Name: d.Name, Why: r.refuse(d)})
	}
	for _, d := range chosen {
		r.report.Definitions = append(r.report.Definitions, d.Name)
		if r.refusal(d) == "" {
			r.report.TakenBy[d.Name] = r.name
		}
	}
	r.unused(set.Definitions, chosen)
	names, clashes := r.Engine.Names(chosen)
	r.report.Findings = append(r.report.Findings, clashes...)
	inputs := make([]engine.Input, len(chosen))
	for i, d := range chosen {
		inputs[i] = engine.Input{Definition: d, Base: names[d], Clusters: clusters(d)}
	}
	r.attach(set, inputs)
	return inputs
}

// unused checks the definitions that another definition of the same name replaces:
// their problems are no less problems, and their owners should know.
func (r *run) unused(all, chosen []*xrd.Definition) {
	if r.SkipValidation || r.SkipLint {
		return
	}
	used := make(map[string]*xrd.Definition, len(chosen))
	for _, d := range chosen {
		used[d.Name] = d
	}
	for _, d := range all {
		winner := used[d.Name]
		if d.Name == "" || winner == nil || winner.Node == d.Node || r.refuse(d) != "" || winner.Same(d) {
			continue
		}
		r.report.Findings = append(r.report.Findings, r.lint(d.Whole(), nil)...)
	}
}

// clusters returns the clusters in which a definition was found, sorted.
func clusters(d *xrd.Definition) []string {
	var out []string
	for _, o := range append([]xrd.Origin{d.Origin}, d.Also...) {
		if o.Cluster != "" {
			out = append(out, o.Cluster)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// refusal returns the reason why profile and filter refuse a definition; empty if
// they do not.
func (r *run) refusal(d *xrd.Definition) string {
	profile := r.Engine.Profile()
	if r.Chooser != nil {
		profile = *r.Chooser
	}
	if ok, why := profile.Admit(d); !ok {
		return why
	}
	if ok, why := r.Filter.Admit(d); !ok {
		return why
	}
	return ""
}

// refuse returns the reason why the variant does not transform a definition; empty if
// it does.
func (r *run) refuse(d *xrd.Definition) string {
	why := r.refusal(d)
	by, fallback, claimed := r.claims.of(d.Name)
	switch {
	case claimed && by != r.index && why == "":
		return "ingested by " + r.claims.names[by]
	case why != "" && r.Fallback != nil && (!claimed || fallback && by == r.index) && r.Fallback(d):
		return ""
	}
	return why
}

// attach gives each input the Compositions and composites that belong to it, and
// counts those that belong to none.
func (r *run) attach(set *xrd.Set, inputs []engine.Input) {
	type kind struct{ group, kind string }
	byKind := map[kind][]*engine.Input{}
	defined := map[kind]*xrd.Definition{}
	for _, d := range set.Definitions {
		for _, n := range []string{d.Names.Kind, d.Claim.Kind} {
			if n != "" {
				defined[kind{d.Group, n}] = d
			}
		}
	}
	for i := range inputs {
		d := inputs[i].Definition
		for _, n := range []string{d.Names.Kind, d.Claim.Kind} {
			if n != "" {
				byKind[kind{d.Group, n}] = append(byKind[kind{d.Group, n}], &inputs[i])
			}
		}
	}
	passed := tally{}
	compositions, conflicts := xrd.MergeCompositions(set.Compositions)
	r.report.Findings = append(r.report.Findings, conflicts...)
	for _, c := range compositions {
		group, _, _ := strings.Cut(c.TypeAPIVersion, "/")
		k := kind{group, c.TypeKind}
		admitted := r.Filter.AdmitObject(&c.Object)
		for _, in := range byKind[k] {
			in.Compositions = append(in.Compositions, c)
			if !admitted {
				// The form must not depend on what is filtered here.
				if in.Untracked == nil {
					in.Untracked = map[string]bool{}
				}
				in.Untracked[c.Name] = true
				continue
			}
			r.report.Compositions++
		}
		if admitted && len(byKind[k]) > 0 {
			continue
		}
		if defined[k] != nil {
			passed.add(&c.Object, "filtered out, or their definition is")
			continue
		}
		r.orphan(&c.Object, fmt.Sprintf("Composition %q is for kind %q of %q, which no definition in the input defines", c.Name, c.TypeKind, c.TypeAPIVersion))
		passed.add(&c.Object, "no definition in the input defines their kind")
	}
	kindOf := func(o *xrd.Object) kind {
		group, _, _ := strings.Cut(o.Node.Get("apiVersion").Str(), "/")
		return kind{group, o.Kind}
	}
	others, conflicts := xrd.MergeObjects(set.Others)
	r.report.Findings = append(r.report.Findings, conflicts...)
	if r.Composites {
		r.unmerged(set.Others, others, func(o *xrd.Object) []*engine.Input { return byKind[kindOf(o)] })
	}
	for _, o := range others {
		k := kindOf(o)
		owners := byKind[k]
		if !r.Filter.AdmitObject(o) {
			owners = nil
		}
		made := false
		for _, in := range owners {
			// If two definitions define one kind, the first gets the composite.
			if c := xrd.NewComposite(o, in.Definition); c != nil && !made {
				in.Composites = append(in.Composites, c)
				r.report.Composites++
				made = true
			}
		}
		switch {
		case made:
		case defined[k] != nil:
			passed.add(o, "filtered out, or their definition is")
		default:
			passed.add(o, "")
		}
	}
	r.report.Passed = passed.list()
}

// unmerged keeps the composites that others of the same name replace, for their definitions:
// files of several environments have such ones, and each is to be validated.
func (r *run) unmerged(all, merged []*xrd.Object, owners func(*xrd.Object) []*engine.Input) {
	used := make(map[*xrd.Object]bool, len(merged))
	for _, o := range merged {
		used[o] = true
	}
	r.copies = map[*xrd.Definition][]*xrd.Composite{}
	for _, o := range all {
		if used[o] || !r.Filter.AdmitObject(o) {
			continue
		}
		for _, in := range owners(o) {
			if c := xrd.NewComposite(o, in.Definition); c != nil {
				r.copies[in.Definition] = append(r.copies[in.Definition], c)
				r.report.Composites++
				break
			}
		}
	}
}

func (r *run) orphan(o *xrd.Object, message string) {
	r.report.Findings = append(r.report.Findings, finding.Finding{
		Rule: engine.RuleOrphan, Severity: finding.Info, Object: o.Name, File: o.Origin.File, Pos: o.Node.At(),
		Message: message, Hint: "add the definition to the input to generate its entities",
	})
}

// tally counts objects by kind and reason.
type tally map[Passed]int

func (t tally) add(o *xrd.Object, why string) {
	t[Passed{APIVersion: o.Node.Get("apiVersion").Str(), Kind: o.Kind, Why: why}]++
}

func (t tally) list() []Passed {
	out := make([]Passed, 0, len(t))
	for p, n := range t {
		p.Count = n
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Passed) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.APIVersion, b.APIVersion), strings.Compare(a.Why, b.Why))
	})
	return out
}
