package diff

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/text"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/structural"
)

// Compare returns the changes from one definition to another of the same name, sorted. It
// returns an error only if ctx ends.
func Compare(ctx context.Context, older, newer *xrd.Definition) ([]Change, error) {
	c := newComparison(older, newer)
	c.names()
	return c.rest(ctx)
}

// comparison is the comparison of two definitions.
type comparison struct {
	older, newer *xrd.Definition
	changes      []Change
	known        map[changeKey]bool
	fields       index
}

// changeKey has the fields by which two changes of a definition are the same.
type changeKey struct{ rule, version, field, message string }

func newComparison(older, newer *xrd.Definition) *comparison {
	return &comparison{older: older, newer: newer, known: map[changeKey]bool{}, fields: index{}}
}

// rest compares everything but the names, and returns all changes.
func (c *comparison) rest(ctx context.Context) ([]Change, error) {
	older, newer := crdsOf(c.older, c.older.Scope), crdsOf(c.newer, c.older.Scope)
	for _, compare := range []func(context.Context, crds, crds) error{c.versions, c.schemas} {
		if err := compare(ctx, older, newer); err != nil {
			return nil, err
		}
	}
	c.settings()
	Sort(c.changes)
	return c.changes, nil
}

// crds are the CRDs of a definition, or why there are none.
type crds struct {
	all []*extv1.CustomResourceDefinition
	err error
}

// crdsOf returns the CRDs of a definition. Their fields of Crossplane are those of a scope,
// because they depend on it and its change is reported once.
func crdsOf(d *xrd.Definition, scope xrd.Scope) crds {
	aligned := *d
	aligned.Scope = scope
	all, err := structural.CRDs(&aligned)
	return crds{all, err}
}

// report adds a change about a part of a definition, which steps lead to in the new or
// the old one.
func (c *comparison) report(rule string, in *xrd.Definition, steps []string, ch Change) {
	ch.Rule, ch.Severity, ch.Definition = rule, rules[rule].Severity, c.newer.Label()
	if ch.Hint == "" && ch.Severity > finding.Info {
		ch.Hint = rules[rule].Why
	}
	key := changeKey{rule, ch.Version, ch.Field, ch.Message}
	if c.known[key] {
		return
	}
	c.known[key] = true
	ch.Path, ch.File, ch.Pos = pathOf(steps), in.Origin.File, c.fields.locate(in.Node, steps)
	c.changes = append(c.changes, ch)
}

// pathOf joins the steps to a part of a definition; numbers are indexes of lists.
func pathOf(steps []string) string {
	var b strings.Builder
	for _, s := range steps {
		if _, err := strconv.Atoi(s); err == nil {
			b.WriteString("[" + s + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s)
	}
	return b.String()
}

// index finds the fields of maps. Large maps are indexed when they are first used: definitions
// may have thousands of fields, each with a change.
type index map[*tree.Node]map[string]*tree.Field

func (x index) field(n *tree.Node, key string) *tree.Field {
	const small = 16
	if !n.IsMap() || len(n.Fields) <= small {
		return n.Field(key)
	}
	byKey := x[n]
	if byKey == nil {
		byKey = make(map[string]*tree.Field, len(n.Fields))
		for i := range slices.Backward(n.Fields) {
			// The first one counts.
			byKey[n.Fields[i].Key] = &n.Fields[i]
		}
		x[n] = byKey
	}
	return byKey[key]
}

// locate returns the position of a part, or of the nearest part around it that exists.
func (x index) locate(n *tree.Node, steps []string) tree.Pos {
	at := n.At()
	for _, s := range steps {
		if n.IsList() {
			i, err := strconv.Atoi(s)
			if err != nil || i >= len(n.Items) {
				return at
			}
			n = n.Items[i]
			at = n.At()
			continue
		}
		f := x.field(n, s)
		if f == nil {
			return at
		}
		at, n = f.Pos, f.Value
	}
	return at
}

// names compares scope, kinds and claims.
func (c *comparison) names() {
	o, n := c.older, c.newer
	if o.Scope != n.Scope {
		c.report(RuleScope, n, []string{"spec", "scope"}, Change{Message: fmt.Sprintf("scope changed from %s to %s", o.Scope, n.Scope), Old: string(o.Scope), New: string(n.Scope)})
	}
	for _, x := range []struct{ what, o, n string }{
		{"group", o.Group, n.Group}, {"kind", o.Names.Kind, n.Names.Kind}, {"plural", o.Names.Plural, n.Names.Plural},
	} {
		if x.o == x.n {
			continue
		}
		at := []string{"spec", "names", x.what}
		if x.what == "group" {
			at = []string{"spec", "group"}
		}
		c.report(RuleNames, n, at, Change{Message: fmt.Sprintf("%s changed from %s to %s", x.what, x.o, x.n), Old: x.o, New: x.n})
	}
	at := []string{"spec", "claimNames"}
	switch {
	case o.HasClaim() && !n.HasClaim():
		c.report(RuleNoClaim, c.either(n.Claim.Kind != ""), at, Change{Message: fmt.Sprintf("claims of kind %s are no longer offered", o.Claim.Kind), Old: o.Claim.Kind})
	case !o.HasClaim() && n.HasClaim():
		c.report(RuleClaimAdded, n, at, Change{Message: fmt.Sprintf("claims of kind %s are offered", n.Claim.Kind), New: n.Claim.Kind})
	case o.HasClaim() && (o.Claim.Kind != n.Claim.Kind || o.Claim.Plural != n.Claim.Plural):
		c.report(RuleClaimNames, n, at, Change{
			Message: fmt.Sprintf("claims changed from %s (%s) to %s (%s)", o.Claim.Kind, o.Claim.Plural, n.Claim.Kind, n.Claim.Plural), Old: o.Claim.Kind, New: n.Claim.Kind,
		})
	}
}

// either returns the new definition, or the old one.
func (c *comparison) either(inNew bool) *xrd.Definition {
	if inNew {
		return c.newer
	}
	return c.older
}

// named returns the index of the version with a name, -1 if there is none.
func named(d *xrd.Definition, name string) int {
	return slices.IndexFunc(d.Versions, func(v *xrd.Version) bool { return v.Name == name })
}

// step returns the steps to a version, followed by more.
func step(version int, more ...string) []string {
	return append([]string{"spec", "versions", strconv.Itoa(version)}, more...)
}

// versions compares which versions there are.
func (c *comparison) versions(ctx context.Context, _, newer crds) error {
	for i, o := range c.older.Versions {
		j := named(c.newer, o.Name)
		switch {
		case j < 0 && !o.Served && !o.Referenceable:
			c.report(RuleNoUnserved, c.older, step(i), Change{Version: o.Name, Message: "version removed, which was not served", Old: o.Name})
			continue
		case j < 0:
			c.report(RuleNoVersion, c.older, step(i), Change{Version: o.Name, Message: "version removed", Old: o.Name})
			continue
		}
		n := c.newer.Versions[j]
		switch {
		case o.Served && !n.Served:
			c.report(RuleUnserved, c.newer, step(j, "served"), Change{Version: o.Name, Message: "version no longer served"})
		case !o.Served && n.Served:
			c.report(RuleVersionAdded, c.newer, step(j, "served"), Change{Version: o.Name, Message: "version served"})
			c.conversion(j, newer)
		}
		if n.Deprecated && !o.Deprecated {
			c.report(RuleDeprecated, c.newer, step(j, "deprecated"), Change{Version: o.Name, Message: "version deprecated"})
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	for j, n := range c.newer.Versions {
		if named(c.older, n.Name) < 0 {
			c.report(RuleVersionAdded, c.newer, step(j), Change{Version: n.Name, Message: "version added", New: n.Name})
			c.conversion(j, newer)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	o, n := referenceable(c.older), referenceable(c.newer)
	if o >= 0 && n >= 0 && c.older.Versions[o].Name != c.newer.Versions[n].Name {
		from, to := c.older.Versions[o].Name, c.newer.Versions[n].Name
		c.report(RuleReferenceable, c.newer, step(n, "referenceable"), Change{Message: fmt.Sprintf("referenceable version changed from %s to %s", from, to), Old: from, New: to})
	}
	return nil
}

// referenceable returns the index of the version that Compositions refer to, -1 if there
// is none.
func referenceable(d *xrd.Definition) int {
	return slices.IndexFunc(d.Versions, func(v *xrd.Version) bool { return v.Referenceable })
}

// conversion warns of an added version that loses what existing objects have. They are
// stored in one version, so that no other one needs a comparison: what the stored version
// lacks is lost already.
func (c *comparison) conversion(added int, newer crds) {
	stored := c.stored()
	if !c.newer.Versions[added].Served || stored < 0 || newer.err != nil {
		return
	}
	name, from := c.newer.Versions[added].Name, c.newer.Versions[stored].Name
	within := newComparison(c.newer, c.newer)
	for _, crd := range newer.all {
		w := &walk{comparison: within, version: name, older: stored, newer: added}
		w.schema(schemaOf(crd, stored), schemaOf(crd, added), place{})
	}
	Sort(within.changes)
	breaking := Count(within.changes, finding.Error)
	if breaking == 0 {
		return
	}
	more := ""
	if breaking > 1 {
		more = ", and more"
	}
	first := &within.changes[0]
	c.report(RuleConversion, c.newer, step(added), Change{
		Version: name, Message: fmt.Sprintf("not compatible with served version %s: %s%s", from, strings.TrimPrefix(first.Field+": "+first.Message, ": "), more),
	})
}

// stored returns the index in the new definition of the version in which existing objects
// are stored: the old referenceable one or, if there is none, the old preferred one. It is
// -1 if the new definition does not serve it.
func (c *comparison) stored() int {
	name := ""
	if i := referenceable(c.older); i >= 0 {
		name = c.older.Versions[i].Name
	} else if v := c.older.Preferred(); v != nil {
		name = v.Name
	}
	return slices.IndexFunc(c.newer.Versions, func(v *xrd.Version) bool { return v.Name == name && v.Served })
}

func schemaOf(crd *extv1.CustomResourceDefinition, version int) *extv1.JSONSchemaProps {
	return crd.Spec.Versions[version].Schema.OpenAPIV3Schema
}

// Versions returns the changes from one version of a definition to another, sorted.
func Versions(d *xrd.Definition, from, to string) ([]Change, error) {
	i, j := named(d, from), named(d, to)
	for _, name := range []string{from, to} {
		if named(d, name) < 0 {
			return nil, fmt.Errorf("%s has no version %q", d.Label(), name)
		}
	}
	c := newComparison(d, d)
	two := *d
	two.Versions = []*xrd.Version{d.Versions[i], d.Versions[j]}
	made, err := structural.CRDs(&two)
	if err != nil {
		return nil, err
	}
	for _, crd := range made {
		w := &walk{comparison: c, version: to, older: i, newer: j}
		w.schema(schemaOf(crd, 0), schemaOf(crd, 1), place{})
	}
	c.forms(to, i, j)
	Sort(c.changes)
	return c.changes, nil
}

// schemas compares the schemas of versions that both definitions have, as they are in
// the CRDs of composites and of claims.
func (c *comparison) schemas(ctx context.Context, older, newer crds) error {
	if older.err != nil {
		c.report(RuleIncomparable, c.older, []string{"spec", "versions"}, Change{Message: "old definition cannot be compared: " + older.err.Error()})
		return nil
	}
	if newer.err != nil {
		c.report(RuleIncomparable, c.newer, []string{"spec", "versions"}, Change{Message: "new definition cannot be compared: " + newer.err.Error()})
		return nil
	}
	for i, o := range c.older.Versions {
		if err := ctx.Err(); err != nil {
			return err
		}
		j := named(c.newer, o.Name)
		if j < 0 {
			continue
		}
		for k := range min(len(older.all), len(newer.all)) {
			w := &walk{comparison: c, version: o.Name, older: i, newer: j, unserved: !o.Served}
			w.schema(schemaOf(older.all[k], i), schemaOf(newer.all[k], j), place{})
		}
		c.forms(o.Name, i, j)
	}
	return nil
}

// settings compares connection details and Compositions.
func (c *comparison) settings() {
	o, n := c.older.ConnectionSecretKeys, c.newer.ConnectionSecretKeys
	at := []string{"spec", "connectionSecretKeys"}
	var gone []string
	for _, key := range o {
		if !slices.Contains(n, key) {
			gone = append(gone, strconv.Quote(key))
		}
	}
	switch {
	case len(o) == 0 && len(n) > 0:
		c.report(RuleSecretKey, c.newer, at, Change{Message: "connection secrets have only these keys: " + strings.Join(n, ", "), New: strings.Join(n, ", ")})
	case len(n) > 0 && len(gone) > 0:
		c.report(RuleSecretKey, c.newer, at, Change{Message: fmt.Sprintf("connection secrets no longer have %s", text.Enumerate(gone, "and")), Old: strings.Join(o, ", "), New: strings.Join(n, ", ")})
	case len(o) > 0 && len(n) == 0:
		c.report(RuleLoosened, c.older, at, Change{Message: "connection secrets are no longer limited to certain keys", Old: strings.Join(o, ", ")})
	}
	for _, x := range []struct{ key, what, o, n string }{
		{"enforcedCompositionRef", "enforced", c.older.EnforcedComposition, c.newer.EnforcedComposition},
		{"defaultCompositionRef", "default", c.older.DefaultComposition, c.newer.DefaultComposition},
	} {
		if x.o != x.n {
			c.report(RuleComposition, c.either(x.n != ""), []string{"spec", x.key}, Change{Message: fmt.Sprintf("%s Composition changed from %s to %s", x.what, orNone(x.o), orNone(x.n)), Old: x.o, New: x.n})
		}
	}
}

func orNone(name string) string {
	if name == "" {
		return "none"
	}
	return name
}
