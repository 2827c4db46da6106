package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/text"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/structural"
)

// Compare returns the changes from one definition to another of the same name, sorted.
func Compare(older, newer *xrd.Definition) []Change {
	c := &comparison{older: older, newer: newer}
	c.names()
	c.rest()
	Sort(c.changes)
	return c.changes
}

// comparison is the comparison of two definitions.
type comparison struct {
	older, newer *xrd.Definition
	changes      []Change
}

// rest compares everything but the names.
func (c *comparison) rest() {
	c.versions()
	c.schemas()
	c.settings()
}

// report adds a change about a part of a definition, which steps lead to in the new or
// the old one.
func (c *comparison) report(rule string, in *xrd.Definition, steps []string, ch Change) {
	ch.Rule, ch.Severity, ch.Definition = rule, rules[rule].Severity, c.newer.Label()
	ch.Path, ch.File, ch.Pos = pathOf(steps), in.Origin.File, locate(in.Node, steps)
	if ch.Hint == "" && ch.Breaking() {
		ch.Hint = rules[rule].Why
	}
	same := func(o Change) bool {
		return o.Rule == ch.Rule && o.Version == ch.Version && o.Field == ch.Field && o.Message == ch.Message
	}
	if !slices.ContainsFunc(c.changes, same) {
		c.changes = append(c.changes, ch)
	}
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

// locate returns the position of a part, or of the nearest part around it that exists.
func locate(n *tree.Node, steps []string) tree.Pos {
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
		f := n.Field(s)
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
func (c *comparison) versions() {
	for i, o := range c.older.Versions {
		j := named(c.newer, o.Name)
		if j < 0 {
			c.report(RuleNoVersion, c.older, step(i), Change{Version: o.Name, Message: "version removed", Old: o.Name})
			continue
		}
		n := c.newer.Versions[j]
		switch {
		case o.Served && !n.Served:
			c.report(RuleUnserved, c.newer, step(j, "served"), Change{Version: o.Name, Message: "version no longer served"})
		case !o.Served && n.Served:
			c.report(RuleVersionAdded, c.newer, step(j, "served"), Change{Version: o.Name, Message: "version served"})
		}
		if n.Deprecated && !o.Deprecated {
			c.report(RuleDeprecated, c.newer, step(j, "deprecated"), Change{Version: o.Name, Message: "version deprecated"})
		}
	}
	for j, n := range c.newer.Versions {
		if named(c.older, n.Name) < 0 {
			c.report(RuleVersionAdded, c.newer, step(j), Change{Version: n.Name, Message: "version added", New: n.Name})
			c.conversions(n)
		}
	}
	o, n := referenceable(c.older), referenceable(c.newer)
	if o >= 0 && n >= 0 && c.older.Versions[o].Name != c.newer.Versions[n].Name {
		from, to := c.older.Versions[o].Name, c.newer.Versions[n].Name
		c.report(RuleReferenceable, c.newer, step(n, "referenceable"), Change{Message: fmt.Sprintf("referenceable version changed from %s to %s", from, to), Old: from, New: to})
	}
}

// referenceable returns the index of the version that Compositions refer to, -1 if there
// is none.
func referenceable(d *xrd.Definition) int {
	return slices.IndexFunc(d.Versions, func(v *xrd.Version) bool { return v.Referenceable })
}

// conversions warns of an added version that loses what served ones have.
func (c *comparison) conversions(added *xrd.Version) {
	if !added.Served {
		return
	}
	for _, other := range c.newer.Served {
		if other == added {
			continue
		}
		changes, err := Versions(c.newer, other.Name, added.Name)
		i := slices.IndexFunc(changes, func(ch Change) bool { return ch.Breaking() })
		if err != nil || i < 0 {
			continue
		}
		more := ""
		if n := slices.IndexFunc(changes[i:], func(ch Change) bool { return !ch.Breaking() }); n > 1 || n < 0 && len(changes) > i+1 {
			more = ", and more"
		}
		c.report(RuleConversion, c.newer, step(named(c.newer, added.Name)), Change{
			Version: added.Name, Message: fmt.Sprintf("not compatible with served version %s: %s: %s%s", other.Name, changes[i].Field, changes[i].Message, more),
		})
	}
}

// Versions returns the changes from one version of a definition to another, sorted.
func Versions(d *xrd.Definition, from, to string) ([]Change, error) {
	i, j := named(d, from), named(d, to)
	for _, name := range []string{from, to} {
		if named(d, name) < 0 {
			return nil, fmt.Errorf("%s has no version %q", d.Label(), name)
		}
	}
	c := &comparison{older: d, newer: d}
	crds, err := structural.CRDs(d)
	if err != nil {
		return nil, err
	}
	for _, crd := range crds {
		w := &walk{comparison: c, version: to, older: i, newer: j}
		w.schema(crd.Spec.Versions[i].Schema.OpenAPIV3Schema, crd.Spec.Versions[j].Schema.OpenAPIV3Schema, place{})
	}
	c.forms(to, i, j)
	Sort(c.changes)
	return c.changes, nil
}

// schemas compares the schemas of versions that both definitions have, as they are in
// the CRDs of composites and of claims.
func (c *comparison) schemas() {
	older, err := structural.CRDs(c.older)
	if err != nil {
		c.report(RuleIncomparable, c.older, []string{"spec", "versions"}, Change{Message: "old definition cannot be compared: " + err.Error()})
		return
	}
	// The fields of Crossplane depend on the scope, whose change is reported already.
	aligned := *c.newer
	aligned.Scope = c.older.Scope
	newer, err := structural.CRDs(&aligned)
	if err != nil {
		c.report(RuleIncomparable, c.newer, []string{"spec", "versions"}, Change{Message: "new definition cannot be compared: " + err.Error()})
		return
	}
	for k := range min(len(older), len(newer)) {
		for i, o := range older[k].Spec.Versions {
			j := slices.IndexFunc(newer[k].Spec.Versions, func(n extv1.CustomResourceDefinitionVersion) bool { return n.Name == o.Name })
			if j < 0 {
				continue
			}
			w := &walk{comparison: c, version: o.Name, older: i, newer: j}
			w.schema(o.Schema.OpenAPIV3Schema, newer[k].Spec.Versions[j].Schema.OpenAPIV3Schema, place{})
		}
	}
	for i, o := range c.older.Versions {
		if j := named(c.newer, o.Name); j >= 0 {
			c.forms(o.Name, i, j)
		}
	}
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
		c.report(RuleLoosened, c.older, at, Change{Message: "connection secrets have all keys", Old: strings.Join(o, ", ")})
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
