package migration

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// maxRows is how many rows a table for people has.
const maxRows = 200

// Sections returns the comparison for people.
func (c *Comparison) Sections() []Section {
	counts := map[string]map[string]int{}
	renamed := Section{Title: "Names that change:", Header: []string{"IN BACKSTAGE", "IN THE PORTAL"}}
	var missing []Note
	for _, m := range c.Entities {
		if counts[m.Thing] == nil {
			counts[m.Thing] = map[string]int{}
		}
		counts[m.Thing][m.State]++
		switch m.State {
		case Renamed:
			renamed.Rows = append(renamed.Rows, []string{m.Ref, m.Becomes})
		case Missing:
			missing = append(missing, Note{m.Ref, m.Reason})
		}
	}
	all := Section{Header: []string{"ENTITIES OF KUBERNETES-INGESTOR", "NUMBER", "SAME NAME", "OTHER NAME", "NONE IN THE PORTAL"}}
	for _, thing := range []string{thingTemplate, thingAPI, thingComposite, thingWorkload, thingNamespace, thingOther} {
		if n := counts[thing]; n != nil {
			all.Rows = append(all.Rows, []string{thing, strconv.Itoa(n[Same] + n[Renamed] + n[Missing]), strconv.Itoa(n[Same]), strconv.Itoa(n[Renamed]), strconv.Itoa(n[Missing])})
		}
	}
	references := Section{Title: "References in other entities that break:", Header: []string{"ENTITY", "FIELD", "REFERENCE", "WRITE INSTEAD"}}
	for _, r := range c.References {
		references.Rows = append(references.Rows, []string{r.Entity, r.Field, r.Ref, cmp.Or(r.Becomes, noCounterpart)})
	}
	settings := Section{Title: "Annotations on objects in clusters:", Header: []string{"ANNOTATION", "OBJECTS", "FOR THE PORTAL"}}
	for _, s := range c.Annotations {
		if s.Objects > 0 {
			settings.Rows = append(settings.Rows, []string{s.Name, strconv.Itoa(s.Objects), s.Portal})
		}
	}
	out := slices.Concat([]Section{all, renamed}, grouped("Without an entity in the portal:", missing), []Section{references, settings})
	out = slices.DeleteFunc(out, func(s Section) bool { return len(s.Rows) == 0 })
	for i := range out {
		if more := len(out[i].Rows) - maxRows; more > 0 {
			out[i].Rows = out[i].Rows[:maxRows]
			out[i].Title += fmt.Sprintf(" (%d more with --output-format json)", more)
		}
	}
	if len(renamed.Rows) > 0 {
		out = append(out, Section{Title: "Users lose the stars of entities whose name changes, and their bookmarks: Backstage keeps both for each user."})
	}
	return out
}
