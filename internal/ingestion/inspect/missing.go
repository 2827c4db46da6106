package inspect

import (
	"context"
	"fmt"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/ingestion/status"
)

// MissingRef is an owner or a system that entities refer to but that does not exist.
type MissingRef struct {
	// Ref is the missing reference, Relation the relation that leads to it.
	Ref      string `json:"ref"`
	Relation string `json:"relation"`
	// Entities is the number of entities that refer to it; Example is the first one.
	Entities int    `json:"entities"`
	Example  string `json:"example"`
}

// finding returns the missing reference as a finding.
func (m *MissingRef) finding() status.Finding {
	what, hint := "owner", "register the Group or User, for example with a location, or set defaultOwner or the annotation portal.io/owner to one that exists"
	if m.Relation == "partOf" {
		what, hint = "system", "register the System, for example with a location, or set defaultSystem or the annotation portal.io/system to one that exists"
	}
	return status.Finding{
		Rule: status.RuleMissing, Severity: finding.Warning.String(), Hint: hint,
		Message: fmt.Sprintf("%s %s is not in the catalog; %d entities refer to it, such as %s", what, m.Ref, m.Entities, m.Example),
	}
}

const (
	// mostMissing is how many missing references are returned.
	mostMissing = 100
	// missingFor is how long missing references are cached: the query scans all relations.
	missingFor = 5 * time.Second
)

// cachedRefs is a cached result of Catalog.Missing.
type cachedRefs struct {
	at   time.Time
	refs []MissingRef
}

// Missing returns the owners and systems that do not exist.
func (in *Inspector) Missing(ctx context.Context) ([]MissingRef, error) {
	now := in.opts.Now()
	in.mu.Lock()
	known := in.cached
	in.mu.Unlock()
	if !known.at.IsZero() && now.Sub(known.at).Abs() < missingFor {
		return known.refs, nil
	}
	refs, err := in.opts.Catalog.Missing(ctx, mostMissing)
	if err != nil {
		return nil, err
	}
	in.mu.Lock()
	in.cached = cachedRefs{at: now, refs: refs}
	in.mu.Unlock()
	return refs, nil
}
