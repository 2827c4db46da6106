package structural

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// The rules for composites and claims.
const (
	RuleCompositeRefused   = "XR001"
	RuleCompositeUnknown   = "XR002"
	RuleCompositeVersion   = "XR003"
	RuleCompositeUnchecked = "XR004"
)

// Rules are the rules for composites and claims, ordered by ID.
var Rules = []finding.Rule{
	{ID: RuleCompositeRefused, Severity: finding.Error, Title: "a composite or claim that Kubernetes rejects", Why: "It does not fit the schema or a validation rule of its definition. The message is the API server's. Fix the value."},
	{ID: RuleCompositeUnknown, Severity: finding.Warning, Title: "a composite or claim has a field that its definition lacks", Why: "Kubernetes drops it, or rejects the file under strict validation. Fix the name or the indentation."},
	{ID: RuleCompositeVersion, Severity: finding.Error, Title: "a composite or claim has a version that its definition does not serve", Why: "Kubernetes rejects it. Write one of the versions named in the hint."},
	{ID: RuleCompositeUnchecked, Severity: finding.Info, Title: "a composite or claim is not checked", Why: "The schema of its definition has errors. Fix those first."},
}

// CheckComposites returns what an API server says about composites and claims of d when
// they are created.
func CheckComposites(ctx context.Context, d *xrd.Definition, all []*xrd.Composite) (found []finding.Finding) {
	type key struct {
		version string
		claim   bool
	}
	kinds := map[key]*Kind{}
	failed := map[key]error{}
	for _, c := range all {
		_, name, _ := strings.Cut(c.Node.Get("apiVersion").Str(), "/")
		k := key{name, c.Claim}
		if v, err := version(d, name); err != nil || !v.Served {
			found = append(found, about(c, RuleCompositeVersion, finding.Error, "apiVersion", []string{"apiVersion"},
				fmt.Sprintf("definition %s does not serve version %q", d.Label(), name), "write "+servedVersions(d)))
			continue
		}
		if kinds[k] == nil && failed[k] == nil {
			kinds[k], failed[k] = NewKind(d, name, c.Claim)
		}
		if err := failed[k]; err != nil {
			found = append(found, about(c, RuleCompositeUnchecked, finding.Info, "", nil, err.Error(), "fix the definition"))
			continue
		}
		found = append(found, checkComposite(ctx, kinds[k], c)...)
	}
	return found
}

func checkComposite(ctx context.Context, k *Kind, c *xrd.Composite) (found []finding.Finding) {
	object, err := Object(c.Node)
	if err != nil {
		return []finding.Finding{about(c, RuleCompositeRefused, finding.Error, "", nil, err.Error(), "fix the document")}
	}
	v := k.Validate(ctx, object, nil)
	for _, p := range v.Problems {
		found = append(found, about(c, RuleCompositeRefused, finding.Error, p.Field, p.Path, p.String(), "fix the value, or change the definition"))
	}
	for _, path := range v.Unknown {
		found = append(found, about(c, RuleCompositeUnknown, finding.Warning, path, splitPath(object, path),
			path+" is not in the schema of the definition", "fix the name or the indentation, or remove the field"))
	}
	return found
}

// about returns a finding about a field of a composite, or about its closest parent that
// exists.
func about(c *xrd.Composite, rule string, severity finding.Severity, field string, path []string, message, hint string) finding.Finding {
	return finding.Finding{
		Rule: rule, Severity: severity, Object: c.Kind + " " + c.Name, Path: field,
		File: c.Origin.File, Pos: position(c.Node, path), Message: message, Hint: hint,
	}
}

func servedVersions(d *xrd.Definition) string {
	var names []string
	for _, v := range d.Served {
		names = append(names, d.Group+"/"+v.Name)
	}
	if len(names) == 0 {
		return "a version that the definition serves; it serves none"
	}
	return strings.Join(names, " or ")
}

// position returns the position of the value at a path, or of its closest parent that
// exists.
func position(n *tree.Node, path []string) tree.Pos {
	at := n.At()
	for _, step := range path {
		if f := n.Field(step); f != nil {
			n, at = f.Value, f.Pos
			continue
		}
		i, err := strconv.Atoi(step)
		if !n.IsList() || err != nil || i < 0 || i >= n.Len() {
			break
		}
		n = n.Items[i]
		at = n.At()
	}
	return at
}
