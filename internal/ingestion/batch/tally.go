package batch

import (
	"slices"
	"time"
)

// Written is the result of writing a Build.
type Written struct {
	Added, Updated, Removed, Unchanged int
	// Refused are entities that belong to other providers.
	Refused []Refused
	// Changed are the references of added, updated and removed entities.
	Changed Changes
}

// Refused is an entity that belongs to another provider.
type Refused struct{ Ref, Owner string }

// Tally counts what was done.
type Tally struct {
	// Units counts the processed units, Failed those of them that could not be built.
	Units  int `json:"units"`
	Failed int `json:"failed"`
	// Added, Updated, Removed and Unchanged count entities, Refused those that belong to
	// other providers.
	Added     int `json:"added"`
	Updated   int `json:"updated"`
	Removed   int `json:"removed"`
	Unchanged int `json:"unchanged"`
	Refused   int `json:"refused"`
	// The durations of the phases.
	Load      time.Duration `json:"-"`
	Transform time.Duration `json:"-"`
	Write     time.Duration `json:"-"`
	// Refs are the references of what changed.
	Refs Changes `json:"-"`
}

// Changed reports whether the catalog was changed.
func (t *Tally) Changed() bool { return t.Added+t.Updated+t.Removed > 0 }

func (t *Tally) add(w Written) {
	t.Added += w.Added
	t.Updated += w.Updated
	t.Removed += w.Removed
	t.Unchanged += w.Unchanged
	t.Refused += len(w.Refused)
	t.Refs.add(w.Changed)
	for _, r := range w.Refused {
		t.Refs.add(Changes{Refused: []string{r.Ref}})
	}
}

// Changes are the references of entities, and the names of units that could not be
// built: the first mostChanges of each, sorted.
type Changes struct {
	Added   []string `json:"added"`
	Updated []string `json:"updated"`
	Removed []string `json:"removed"`
	Failed  []string `json:"failed"`
	// Refused are entities that belong to other providers.
	Refused []string `json:"refused"`
}

// mostChanges is how many references of each kind are stored with a run.
const mostChanges = 100

// add appends more changes. Those beyond the limit are dropped.
func (c *Changes) add(more Changes) {
	for _, to := range []struct {
		list *[]string
		more []string
	}{{&c.Added, more.Added}, {&c.Updated, more.Updated}, {&c.Removed, more.Removed}, {&c.Failed, more.Failed}, {&c.Refused, more.Refused}} {
		room := max(0, mostChanges-len(*to.list))
		*to.list = append(*to.list, to.more[:min(room, len(to.more))]...)
	}
}

// Sorted returns the changes sorted and without duplicates, with empty lists instead of
// nil.
func (c *Changes) Sorted() Changes {
	put := func(list []string) []string {
		list = append([]string{}, list...)
		slices.Sort(list)
		return slices.Compact(list)
	}
	return Changes{put(c.Added), put(c.Updated), put(c.Removed), put(c.Failed), put(c.Refused)}
}
