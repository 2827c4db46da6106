package xrd

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
)

// RuleConflict is a definition that occurs twice with different content.
const RuleConflict = "XRD003"

// Merge merges definitions with the same name, regardless of their order. If their
// content is equal, as it is when one object is listed through several API versions or
// found in several clusters, nothing is lost. If it differs, a finding says which one is
// used: the one with the higher generation, then the newer apiVersion, then the first by
// file and position, then the one with the smaller content hash.
//
// Definitions without a name are all kept. The result is sorted by name, then file and
// position.
func Merge(defs []*Definition) (kept []*Definition, findings []finding.Finding) {
	byName := make(map[string][]*Definition, len(defs))
	for _, d := range defs {
		if d.Name == "" {
			kept = append(kept, d)
			continue
		}
		byName[d.Name] = append(byName[d.Name], d)
	}
	for _, same := range byName {
		if len(same) == 1 {
			kept = append(kept, same[0])
			continue
		}
		winner, conflicts := choose(same)
		kept = append(kept, winner)
		findings = append(findings, conflicts...)
	}
	slices.SortFunc(kept, func(a, b *Definition) int {
		if c := cmp.Or(strings.Compare(a.Name, b.Name), comparePlaces(&a.Object, &b.Object)); c != 0 {
			return c
		}
		return compareRest(&a.Object, &b.Object)
	})
	finding.Sort(findings)
	return kept, findings
}

// Select merges the definitions for which refusal returns "", and separately those it
// refuses. Copies are checked before they are merged: a refused copy hides no accepted
// one, and a name with any accepted copy is not among the refused.
func Select(defs []*Definition, refusal func(*Definition) string) (taken, refused []*Definition, findings []finding.Finding) {
	var yes, no []*Definition
	names := map[string]bool{}
	for _, d := range defs {
		if refusal(d) != "" {
			no = append(no, d)
			continue
		}
		yes = append(yes, d)
		names[d.Name] = d.Name != ""
	}
	no = slices.DeleteFunc(no, func(d *Definition) bool { return names[d.Name] })
	taken, findings = Merge(yes)
	refused, _ = Merge(no)
	return taken, refused, findings
}

// choose returns a copy of the definition to use, with the origins of the others, and a
// finding for each that differs.
func choose(same []*Definition) (*Definition, []finding.Finding) {
	all := slices.Clone(same)
	slices.SortFunc(all, func(a, b *Definition) int {
		if c := cmp.Or(
			cmp.Compare(b.Generation, a.Generation),
			CompareVersions(bareVersion(b.APIVersion), bareVersion(a.APIVersion)),
			comparePlaces(&a.Object, &b.Object),
		); c != 0 {
			return c
		}
		// Hashing is expensive, and the position nearly always decides.
		if c := bytes.Compare(a.hash(), b.hash()); c != 0 {
			return c
		}
		return compareRest(&a.Object, &b.Object)
	})
	kept := *all[0]
	kept.Serving = mergeServing(all)
	content := kept.content()
	var findings []finding.Finding
	for _, loser := range all[1:] {
		kept.Also = append(slices.Clip(kept.Also), loser.Origin)
		if !content.Equal(loser.content()) {
			findings = append(findings, conflict("definition", &kept.Object, &loser.Object))
		}
	}
	return &kept, findings
}

// Same reports whether o equals d in everything that affects the output.
func (d *Definition) Same(o *Definition) bool { return d.content().Equal(o.content()) }

func (d *Definition) hash() []byte {
	sum := sha256.Sum256(tree.AppendCanonical(nil, d.content()))
	return sum[:]
}

// conflict returns the finding that says which of two different objects is used.
func conflict(what string, winner, loser *Object) finding.Finding {
	return finding.Finding{
		Rule: RuleConflict, Severity: finding.Warning, Object: loser.Name,
		File: loser.Origin.File, Pos: loser.Node.At(),
		Message: fmt.Sprintf("duplicate %s %q with different content; using the one at %s, ignoring the one at %s", what, winner.Name, winner.place(), loser.place()),
		Hint:    "remove one of the two, or make them identical",
	}
}

// LastApplied is the annotation with the copy of the object that kubectl applied. It
// says how the object was written, not what it is.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// content returns the parts in which two definitions must agree to be equal: everything
// that affects the output, and nothing an API server adds.
func (d *Definition) content() *tree.Node {
	d = d.Whole()
	annotations := maps.Clone(d.Annotations)
	delete(annotations, LastApplied)
	versions := tree.Arr()
	for _, v := range d.Versions {
		versions.Items = append(versions.Items, v.Node)
	}
	return tree.Obj(
		tree.F("group", tree.Str(d.Group)),
		tree.F("names", d.Names.node()),
		tree.F("claim", d.Claim.node()),
		tree.F("scope", tree.Str(string(d.Scope))),
		tree.F("versions", versions),
		tree.F("labels", tree.StrMap(d.Labels)),
		tree.F("annotations", tree.StrMap(annotations)),
		tree.F("default", tree.OptStr(d.DefaultComposition)),
		tree.F("enforced", tree.OptStr(d.EnforcedComposition)),
		tree.F("update", tree.Str(d.DefaultUpdatePolicy)),
		tree.F("delete", tree.Str(d.DefaultDeletePolicy)),
		tree.F("keys", tree.Strs(d.ConnectionSecretKeys)),
	)
}

func (n Names) node() *tree.Node { return tree.Strs([]string{n.Kind, n.Plural, n.Singular}) }

// place returns where o was found, for messages: a file and line if there is one, else
// the cluster or location.
func (o *Object) place() string {
	line := o.Node.At().Line
	switch {
	case o.Origin.File != "" && line > 0:
		return fmt.Sprintf("%s:%d", o.Origin.File, line)
	case o.Origin.File != "":
		return o.Origin.File
	case o.Origin.Cluster != "":
		return "cluster " + o.Origin.Cluster
	case o.Origin.Location != "":
		return o.Origin.Location
	}
	return fmt.Sprintf("line %d", line)
}

// comparePlaces orders objects by file and position.
func comparePlaces(a, b *Object) int {
	pa, pb := a.Node.At(), b.Node.At()
	return cmp.Or(strings.Compare(a.Origin.File, b.Origin.File), cmp.Compare(pa.Line, pb.Line), cmp.Compare(pa.Column, pb.Column))
}

// compareRest orders objects that are otherwise equal, so that the input order never
// matters.
func compareRest(a, b *Object) int {
	if c := cmp.Or(
		strings.Compare(a.Origin.Source, b.Origin.Source),
		strings.Compare(a.Origin.Cluster, b.Origin.Cluster),
		strings.Compare(a.Origin.Location, b.Origin.Location),
	); c != 0 {
		return c
	}
	return bytes.Compare(tree.AppendCanonical(nil, a.Whole().Node), tree.AppendCanonical(nil, b.Whole().Node))
}

// bareVersion returns an apiVersion without its group.
func bareVersion(apiVersion string) string {
	return apiVersion[strings.LastIndexByte(apiVersion, '/')+1:]
}
