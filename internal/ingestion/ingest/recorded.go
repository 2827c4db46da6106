package ingest

import (
	"cmp"
	"slices"
)

// Recorded returns the health of the sources as of their last scan, from their states
// in the database, sorted by name.
func Recorded(states map[string][]byte) ([]SourceHealth, error) {
	conditions, err := readConditions(states)
	if err != nil {
		return nil, err
	}
	all := make([]SourceHealth, 0, len(conditions))
	for name, c := range conditions {
		p := &target{name: name}
		all = append(all, p.health(c, nil))
	}
	slices.SortFunc(all, func(a, b SourceHealth) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}
