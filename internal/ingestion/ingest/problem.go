package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/finding"
)

// RuleUnreadable is the rule for a file or folder that cannot be read.
const RuleUnreadable = "ING001"

// RuleNoneSelected is the rule for a source that has definitions, none of which is
// selected.
const RuleNoneSelected = "ING002"

// RuleMissing is the rule for an owner or a system that entities refer to but that does
// not exist.
const RuleMissing = "ING003"

// Rules are the rules about sources.
var Rules = []finding.Rule{
	{ID: RuleUnreadable, Severity: finding.Error, Title: "a file or folder cannot be read", Why: "It does not exist, or the service may not read it. Its last known objects are kept and marked as stale; all other files are read."},
	{ID: RuleNoneSelected, Severity: finding.Warning, Title: "none of the definitions of a source is selected", Why: "The source can be read and has definitions, but no entities are generated from them. Set the label, or ingestAll."},
	{ID: RuleMissing, Severity: finding.Warning, Title: "an owner or a system is not in the catalog", Why: "Entities refer to it, so their relation has no target. Register the Group, User or System, or refer to another one."},
}

// Problem is an object or a file of a source that cannot be read.
type Problem struct {
	// List is the list that contains it.
	List string `json:"list"`
	Finding
	// Object names the object, if it is not a file.
	Object string `json:"object,omitempty"`
}

const (
	// mostProblems is how many problems of a source are stored, mostTold how many of a
	// list are in one error.
	mostProblems = 200
	mostTold     = 20
)

// complain adds findings about unreadable objects of a list.
func (c *condition) complain(list string, bad []finding.Finding) {
	c.ProblemCount += len(bad)
	for _, f := range inOrder(bad) {
		if len(c.Problems) == mostProblems {
			return
		}
		c.Problems = append(c.Problems, Problem{List: list, Finding: findingOf(f), Object: f.Object})
	}
}

// inOrder returns findings sorted, so that the same findings always give the same text,
// which is logged once.
func inOrder(bad []finding.Finding) []finding.Finding {
	bad = slices.Clone(bad)
	finding.Sort(bad)
	return bad
}

// complaints returns an error that describes the unreadable objects of a list or a
// source.
func complaints(of string, bad []finding.Finding) error {
	var b strings.Builder
	fmt.Fprintf(&b, "cannot read %d of the objects in %s: ", len(bad), of)
	for i, f := range inOrder(bad) {
		if i == mostTold {
			fmt.Fprintf(&b, "; and %d more", len(bad)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		if where := f.Where(); !strings.Contains(f.Message, cmp.Or(f.File, where)) {
			b.WriteString(where + ": ")
		}
		b.WriteString(f.Message)
	}
	return errors.New(b.String())
}

// condition returns the state to store for a list after it was read, or could not be
// read.
func (l *listed) condition(was listCondition, now time.Time, spoilt int) listCondition {
	out := listCondition{Count: l.count, Version: l.version, Good: now, Spoilt: spoilt}
	if l.err != nil {
		out = listCondition{Count: was.Count, Version: was.Version, Good: was.Good, Error: l.err.Error(), Stale: was.staleSince(now), Kept: maps.Clone(was.Kept)}
	}
	if l.untracked != "" {
		out = listCondition{Untracked: l.untracked}
	}
	// A list that cannot be read now keeps its last known state.
	out.Unserved = l.unserved || l.err != nil && was.Unserved
	for key, unit := range l.kept {
		if out.Kept == nil {
			out.Kept = map[string]keptObject{}
		}
		since := was.Kept[key].Since
		if since.IsZero() || since.After(now) {
			since = was.staleSince(now)
		}
		out.Kept[key] = keptObject{Since: since, Unit: unit}
	}
	return out
}

// stale returns since when an object of the list is stale; zero if it is not.
func (c *listCondition) stale(key string) time.Time {
	if k, ok := c.Kept[key]; ok && (c.Stale.IsZero() || k.Since.Before(c.Stale)) {
		return k.Since
	}
	return c.Stale
}

// staleSince returns since when the content of a list that cannot be read now is
// unknown.
func (c *listCondition) staleSince(now time.Time) time.Time {
	since := c.Stale
	if since.IsZero() {
		since = c.Good
	}
	if since.IsZero() || since.After(now) {
		// The list was never read, or the clock was set back.
		return now
	}
	return since
}

// turned returns the units of objects that have become stale or fresh, and reports
// whether the whole list has.
func (c *listCondition) turned(now listCondition) (units []string, all bool) {
	all = !c.Stale.Equal(now.Stale)
	compare := func(a, b map[string]keptObject) {
		for key, k := range a {
			if b[key].Since.Equal(k.Since) {
				continue
			}
			// An object without a unit may belong to any.
			if all = all || k.Unit == ""; k.Unit != "" {
				units = append(units, k.Unit)
			}
		}
	}
	compare(c.Kept, now.Kept)
	compare(now.Kept, c.Kept)
	slices.Sort(units)
	return slices.Compact(units), all
}
