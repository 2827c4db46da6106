package migration

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/sink/portal"
)

// ImportReport is the result of an import.
type ImportReport struct {
	From     string `json:"from"`
	Provider string `json:"provider"`
	// DryRun means that nothing was changed.
	DryRun    bool        `json:"dryRun"`
	Entities  int         `json:"entities"`
	Kinds     []*Row      `json:"kinds"`
	Locations []*Location `json:"locations"`
	// Registered counts the locations that were registered, or would be.
	Registered int `json:"registered"`
	// Push is what the push changed; nil in a dry run, and if there was nothing to push.
	Push     *Changes `json:"push,omitempty"`
	Refused  []Note   `json:"refused"`
	LeftOut  []Note   `json:"leftOut"`
	Warnings []Note   `json:"warnings"`
	// Tasks is the number of tasks in Backstage, nil if it cannot be read; they are in
	// TasksFile, if that is set.
	Tasks     *int   `json:"tasks,omitempty"`
	TasksFile string `json:"tasksFile,omitempty"`
}

// Changes are the counts of a push.
type Changes struct {
	Added     int `json:"added"`
	Updated   int `json:"updated"`
	Removed   int `json:"removed"`
	Unchanged int `json:"unchanged"`
	Kept      int `json:"kept"`
}

// Report returns the report of the plan.
func (im *Import) Report() *ImportReport {
	r := &ImportReport{
		From: im.from.URL(), Provider: im.to.Provider(), Entities: im.Len(), Kinds: im.Rows, Locations: orEmpty(im.Locations),
		Refused: []Note{}, LeftOut: orEmpty(im.LeftOut), Warnings: orEmpty(im.Warnings),
	}
	for _, l := range im.Locations {
		if l.Wanted() {
			r.Registered++
		}
	}
	return r
}

// orEmpty returns a list that JSON does not show as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Refuse adds refused entities.
func (r *ImportReport) Refuse(refused []portal.Refusal) {
	for _, x := range refused {
		r.Refused = append(r.Refused, Note{x.Ref, x.Reason})
	}
}

// Sections returns the report for people.
func (r *ImportReport) Sections() []Section {
	kinds := Section{Header: []string{"ORIGIN", "KIND", "ENTITIES", "IN LOCATIONS", "PUSHED", "REFUSED", "LEFT OUT"}}
	for _, k := range r.Kinds {
		kinds.Rows = append(kinds.Rows, []string{k.Origin, k.Kind, strconv.Itoa(k.Entities), strconv.Itoa(k.InLocations), strconv.Itoa(k.Pushed), strconv.Itoa(k.Refused), strconv.Itoa(k.LeftOut)})
	}
	out := []Section{kinds}
	out = append(out, grouped("Refused by the portal:", r.Refused)...)
	out = append(out, grouped("Left out:", r.LeftOut)...)
	out = append(out, grouped("Imported with a location, but:", r.Warnings)...)
	unread := Section{Title: "Locations that the portal cannot read; what Backstage has of them is pushed:", Header: []string{"LOCATION", "REASON"}}
	exist := 0
	for _, l := range r.Locations {
		switch {
		case l.Exists:
			exist++
		case l.Problem != "":
			unread.Rows = append(unread.Rows, []string{l.Target, l.Problem})
		}
	}
	if len(unread.Rows) > 0 {
		out = append(out, unread)
	}
	verb := ""
	if r.DryRun {
		verb = "would be "
	}
	out = append(out, Section{Title: fmt.Sprintf("locations: %d %sregistered, %d already registered, %d cannot be read", r.Registered, verb, exist, len(unread.Rows))})
	switch {
	case r.DryRun:
		pushed := 0
		for _, k := range r.Kinds {
			pushed += k.Pushed
		}
		out = append(out, Section{Title: fmt.Sprintf("entities: %d would be pushed as %s; nothing was changed", pushed, r.Provider)})
	case r.Push != nil:
		p := r.Push
		out = append(out, Section{Title: fmt.Sprintf("entities of %s: added %d, updated %d, removed %d, unchanged %d, refused %d", r.Provider, p.Added, p.Updated, p.Removed, p.Unchanged, len(r.Refused))})
	}
	switch {
	case r.TasksFile != "":
		out = append(out, Section{Title: fmt.Sprintf("tasks: %d written to %s", *r.Tasks, r.TasksFile)})
	case r.Tasks != nil && *r.Tasks > 0:
		out = append(out, Section{Title: fmt.Sprintf("tasks: %d stay in Backstage; --tasks writes them to a file", *r.Tasks)})
	}
	return out
}

// maxShown is how many entities of a reason a report for people names.
const maxShown = 5

// grouped returns notes by reason, the most frequent first; no section without notes.
func grouped(title string, notes []Note) []Section {
	if len(notes) == 0 {
		return nil
	}
	refs := map[string][]string{}
	var reasons []string
	for _, n := range notes {
		reason := n.Reason
		if n.Ref != "" {
			reason = strings.ReplaceAll(reason, n.Ref, "the entity")
		}
		if refs[reason] == nil {
			reasons = append(reasons, reason)
		}
		refs[reason] = append(refs[reason], n.Ref)
	}
	slices.SortStableFunc(reasons, func(a, b string) int { return len(refs[b]) - len(refs[a]) })
	s := Section{Title: title, Header: []string{"REASON", "NUMBER", "ENTITIES"}}
	for _, reason := range reasons {
		s.Rows = append(s.Rows, []string{reason, strconv.Itoa(len(refs[reason])), some(refs[reason])})
	}
	return []Section{s}
}

// some returns the first of several texts.
func some(all []string) string {
	if more := len(all) - maxShown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:maxShown], ", "), more)
	}
	return strings.Join(all, ", ")
}
