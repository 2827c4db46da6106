package diff

// Item is a change as JSON. Empty strings and zero mean unknown or none.
type Item struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Version  string `json:"version"`
	Field    string `json:"field"`
	Path     string `json:"path"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
	Old      string `json:"old"`
	New      string `json:"new"`
}

// The statuses of a definition.
const (
	StatusAdded     = "added"
	StatusRemoved   = "removed"
	StatusRenamed   = "renamed"
	StatusChanged   = "changed"
	StatusUnchanged = "unchanged"
)

// Compared is a compared definition as JSON.
type Compared struct {
	Name string `json:"name"`
	// Was is the earlier name of a renamed definition.
	Was string `json:"was,omitempty"`
	// Status is one of the statuses.
	Status  string `json:"status"`
	Changes []Item `json:"changes"`
}

// Status returns the status of the definition.
func (p *Pair) Status() string {
	switch {
	case p.Old == nil:
		return StatusAdded
	case p.New == nil:
		return StatusRemoved
	case p.Renamed():
		return StatusRenamed
	case len(p.Changes) > 0:
		return StatusChanged
	}
	return StatusUnchanged
}

// Compared returns the pair as JSON.
func (p *Pair) Compared() Compared {
	out := Compared{Name: p.Name(), Status: p.Status(), Changes: Items(p.Changes)}
	if p.Renamed() {
		out.Was = p.Old.Name
	}
	return out
}

// Items returns changes as JSON.
func Items(changes []Change) []Item {
	out := make([]Item, len(changes))
	for i := range changes {
		c := &changes[i]
		out[i] = Item{
			Rule: c.Rule, Severity: c.Severity.String(), Version: c.Version, Field: c.Field, Path: c.Path,
			File: c.File, Line: int(c.Pos.Line), Column: int(c.Pos.Column), Message: c.Message, Hint: c.Hint, Old: c.Old, New: c.New,
		}
	}
	return out
}
