package composed

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

const (
	compositionGroup = "apiextensions.crossplane.io/v1"
	// resourceName is the annotation with the name of an object in the Composition.
	resourceName = "crossplane.io/composition-resource-name"
	// mostFields limits how many fields are taken of a message.
	mostFields = 8
)

// AddField finds the field of the root that the message of a reason is about, and sets it. It
// reads the Compositions on the path: what an object says about one of its own fields
// concerns the field of its composite that a patch copies there.
func AddField(ctx context.Context, r Reader, root *Node, why *Reason) error {
	fields := fieldsIn(why.Message)
	chain := []*Node{root}
	for _, ref := range why.Path {
		at := chain[len(chain)-1]
		i := slices.IndexFunc(at.Children, func(n *Node) bool { return n.Ref == ref })
		if i < 0 {
			return nil
		}
		chain = append(chain, at.Children[i])
	}
	last := chain[len(chain)-1]
	if len(fields) == 0 || len(chain) == 1 && last.composition == nil {
		why.Field = first(fields)
		return nil
	}
	// A composite also reports what is wrong with the objects that it composes.
	if last.composition != nil {
		patches, err := patchesOf(ctx, r, last)
		if err != nil {
			return err
		}
		if named := patches.origins(quotedIn(why.Message), fields); len(named) > 0 {
			fields = named
		}
	}
	for i := len(chain) - 1; i > 0 && len(fields) > 0; i-- {
		if chain[i].part == "" {
			// The composite of a claim has the same fields.
			continue
		}
		patches, err := patchesOf(ctx, r, chain[i-1])
		if err != nil {
			return err
		}
		fields = patches.origins([]string{chain[i].part}, fields)
	}
	why.Field = first(fields)
	return nil
}

func first(fields []string) string {
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}

var (
	fieldPattern  = regexp.MustCompile(`\bspec(?:\.[A-Za-z0-9_-]+|\[[^\]\s]{1,64}\])+`)
	indexPattern  = regexp.MustCompile(`\[\d+\]|\[["']?([^\]"']+)["']?\]`)
	quotedPattern = regexp.MustCompile(`"([^"\s]{1,253})"`)
)

// fieldsIn returns the fields of a spec that a message names, such as spec.region. Indices of
// lists are left out.
func fieldsIn(message string) []string {
	var out []string
	for _, found := range fieldPattern.FindAllString(message, mostFields) {
		path := indexPattern.ReplaceAllStringFunc(found, func(index string) string {
			if name := indexPattern.FindStringSubmatch(index)[1]; name != "" {
				return "." + name
			}
			return ""
		})
		if steps := strings.Split(path, "."); len(steps) > 1 && steps[1] != xrd.MachineryV2 && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// quotedIn returns the names that a message quotes.
func quotedIn(message string) (out []string) {
	for _, m := range quotedPattern.FindAllStringSubmatch(message, mostFields) {
		out = append(out, m[1])
	}
	return out
}

// patches are those of a Composition that copy fields of the composite, by the name of the
// composed object.
type patches map[string][]patch

// patch copies fields of the composite to a field of an object.
type patch struct {
	from []string
	to   string
}

// origins returns the fields of the composite that patches copy to the given fields of the
// named objects.
func (p patches) origins(names, fields []string) (out []string) {
	for _, name := range names {
		for _, field := range fields {
			for _, one := range p[name] {
				if field == one.to || strings.HasPrefix(field, one.to+".") {
					out = append(out, one.from...)
				}
			}
		}
	}
	return slices.DeleteFunc(out, func(field string) bool { return !strings.HasPrefix(field, "spec.") })
}

// patchesOf reads the Composition of a composite.
func patchesOf(ctx context.Context, r Reader, n *Node) (patches, error) {
	if n.composition == nil {
		return nil, nil
	}
	found, err := r.Read(ctx, []Ref{*n.composition})
	if err != nil || found[0].State != Present {
		return nil, err
	}
	spec := found[0].Node.Get("spec")
	out := patches{}
	out.add(spec)
	for _, step := range spec.Get("pipeline").List() {
		out.add(step.Get("input"))
	}
	return out, nil
}

// add adds the patches of function-patch-and-transform, or of a Composition without
// functions: both have the same fields.
func (p patches) add(in *tree.Node) {
	sets := map[string][]*tree.Node{}
	for _, set := range in.Get("patchSets").List() {
		sets[set.Get("name").Str()] = set.Get("patches").List()
	}
	for _, res := range in.Get("resources").List() {
		name := res.Get("name").Str()
		for _, n := range res.Get("patches").List() {
			all := []*tree.Node{n}
			if n.Get("type").Str() == "PatchSet" {
				all = sets[n.Get("patchSetName").Str()]
			}
			for _, n := range all {
				if one, ok := newPatch(n); ok {
					p[name] = append(p[name], one)
				}
			}
		}
	}
}

// newPatch reads a patch, if it copies from the composite to the object.
func newPatch(n *tree.Node) (patch, bool) {
	out := patch{to: plainPath(n.Get("toFieldPath").Str())}
	switch n.Get("type").Str() {
	case "", "FromCompositeFieldPath":
		out.from = []string{plainPath(n.Get("fromFieldPath").Str())}
		if out.to == "" {
			out.to = out.from[0]
		}
	case "CombineFromComposite":
		for _, v := range n.Get("combine", "variables").List() {
			out.from = append(out.from, plainPath(v.Get("fromFieldPath").Str()))
		}
	}
	return out, len(out.from) > 0 && out.to != ""
}

// plainPath returns a field path without indices.
func plainPath(path string) string {
	if found := fieldsIn(path); len(found) == 1 {
		return found[0]
	}
	return path
}

// compositionOf returns the Composition that a composite uses: the revision, if it names one.
func compositionOf(n *tree.Node) *Ref {
	for _, spec := range []*tree.Node{n.Get("spec", xrd.MachineryV2), n.Get("spec")} {
		for _, at := range []struct{ field, kind string }{{"compositionRevisionRef", "CompositionRevision"}, {"compositionRef", "Composition"}} {
			if name := spec.Get(at.field, "name").Str(); name != "" {
				return &Ref{APIVersion: compositionGroup, Kind: at.kind, Name: name}
			}
		}
	}
	return nil
}
