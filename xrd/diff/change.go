// Package diff compares definitions, and classifies what changed: what breaks existing
// resources and manifests, what may surprise, and what is compatible. It compares the
// CRDs that Crossplane makes of a definition. The rules of crdify decide about their
// fields, with the exceptions that the design page lists, and rules of this package about
// everything else.
//
// It is one package because every keyword of a schema needs a decision, and all of them are
// made in one walk.
package diff

import (
	"cmp"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
)

// Change is one difference between two versions of a definition.
type Change struct {
	// Rule is the id of one of Rules, which has the severity.
	Rule     string
	Severity finding.Severity
	// Definition is the name of the definition: the new one, if it has one.
	Definition string
	// Version is the API version that the change is about; empty if it is about all.
	Version string
	// Field is the path of the field in objects, such as spec.sizes[*].name; empty if the
	// change is about whole objects.
	Field string
	// Path is the path in the definition. File and Pos are the position in the new
	// definition, or in the old one for what was removed.
	Path string
	File string
	Pos  tree.Pos
	// Message says what changed, Hint what to do.
	Message, Hint string
	// Old and New are the values in short form, empty if there are none.
	Old, New string
}

// Breaking reports whether objects may be refused or lose data.
func (c *Change) Breaking() bool { return c.Severity == finding.Error }

// Finding returns the change as a finding.
func (c *Change) Finding() finding.Finding {
	message := c.Message
	if c.Field != "" {
		message = c.Field + ": " + message
	}
	if c.Version != "" {
		message = c.Version + ": " + message
	}
	return finding.Finding{
		Rule: c.Rule, Severity: c.Severity, Object: c.Definition, Path: c.Path, File: c.File, Pos: c.Pos,
		Message: message, Hint: c.Hint,
	}
}

// Findings returns changes as findings.
func Findings(changes []Change) []finding.Finding {
	out := make([]finding.Finding, len(changes))
	for i := range changes {
		out[i] = changes[i].Finding()
	}
	return out
}

// Covers returns how closely a change concerns a field of an object of a version, such
// as spec.sizes[0].name: the number of elements that their paths have in common plus
// one, or 0 if it does not concern it.
func (c *Change) Covers(version, field string) int {
	if c.Version != "" && c.Version != version {
		return 0
	}
	own, other := split(c.Field), split(field)
	if len(own) > len(other) {
		return 0
	}
	for i, e := range own {
		if e != anyKey && e != other[i] {
			return 0
		}
	}
	return len(own) + 1
}

// anyKey stands for the entries of a list or a map in Change.Field.
const anyKey = "*"

// split returns the elements of a path such as spec.sizes[0].name or spec.labels[a.b].
func split(path string) []string {
	var all []string
	for path != "" {
		switch path[0] {
		case '.':
			path = path[1:]
		case '[':
			key, rest, _ := strings.Cut(path[1:], "]")
			all, path = append(all, key), rest
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			all, path = append(all, path[:end]), path[end:]
		}
	}
	return all
}

// Sort sorts changes: breaking ones first, then by definition, version, field, rule and
// message.
func Sort(changes []Change) {
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(b.Severity, a.Severity),
			strings.Compare(a.Definition, b.Definition),
			strings.Compare(a.Version, b.Version),
			strings.Compare(a.Field, b.Field),
			strings.Compare(a.Rule, b.Rule),
			strings.Compare(a.Message, b.Message),
		)
	})
}

// Count returns how many changes have the severity.
func Count(changes []Change, s finding.Severity) int {
	n := 0
	for i := range changes {
		if changes[i].Severity == s {
			n++
		}
	}
	return n
}
