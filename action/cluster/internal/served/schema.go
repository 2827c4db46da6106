package served

import (
	"context"
	"sync"

	"example.dev/ingestor/action/cluster/internal/manifest"
	"example.dev/ingestor/action/cluster/internal/refusal"
	"example.dev/ingestor/action/cluster/internal/schema"
	"example.dev/ingestor/source/cluster"
)

// cached is the schema of a kind. A stale schema does no harm: the server still does a
// dry run of an object that the schema accepts, and the schema is read again before an
// object is refused.
type cached struct {
	// mu is held while the schema is read, so that it is read once.
	mu sync.Mutex
	// schema is nil until it was read.
	schema *schema.Schema
}

// Check validates the spec of a document against the schema of its definition, so
// that the message names the field of a form. Kinds without a definition, or with
// one that cannot be read, are left to the server.
func (k *Kinds) Check(ctx context.Context, c *cluster.Cluster, d *manifest.Document) error {
	spec := d.Node.Get("spec")
	if s := k.given(d); s != nil {
		return report(c, d, s.Problems(spec))
	}
	// Kinds of the core group are not composites.
	if d.Group() == "" {
		return nil
	}
	at := keyOf(c, d)
	k.mu.Lock()
	kept := k.schemas[at]
	if kept == nil {
		kept = &cached{}
		k.schemas[at] = kept
	}
	k.mu.Unlock()
	s, fresh, err := kept.read(ctx, c, d, false)
	if err != nil {
		return err
	}
	problems := s.Problems(spec)
	if len(problems) == 0 || fresh {
		return report(c, d, problems)
	}
	if s, _, err = kept.read(ctx, c, d, true); err != nil {
		return err
	}
	return report(c, d, s.Problems(spec))
}

func report(c *cluster.Cluster, d *manifest.Document, problems []refusal.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return refusal.InvalidFields(c, d, problems)
}

// given returns the schema that the program knows for the kind of a document,
// otherwise nil.
func (k *Kinds) given(d *manifest.Document) *schema.Schema {
	if k.schema == nil {
		return nil
	}
	n := k.schema(d.APIVersion, d.Kind)
	if n == nil {
		return nil
	}
	return schema.Compile(n)
}

// Titled adds the titles that a form shows to the fields that the server names, as far
// as the schema is known.
func (k *Kinds) Titled(c *cluster.Cluster, d *manifest.Document, problems []refusal.Problem) []refusal.Problem {
	if s := k.given(d); s != nil {
		return s.Titled(problems)
	}
	k.mu.Lock()
	kept := k.schemas[keyOf(c, d)]
	k.mu.Unlock()
	if kept == nil {
		return problems
	}
	kept.mu.Lock()
	s := kept.schema
	kept.mu.Unlock()
	if s == nil {
		return problems
	}
	return s.Titled(problems)
}

// read returns the schema, and whether it was read from the cluster just now: the first
// time, and if again is set.
func (s *cached) read(ctx context.Context, c *cluster.Cluster, d *manifest.Document, again bool) (found *schema.Schema, fresh bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.schema != nil && !again {
		return s.schema, false, nil
	}
	n, err := specSchema(ctx, c, d)
	switch refusal.ReasonOf(err) {
	case cluster.Absent, cluster.Forbidden:
		// The portal may not read the schema; the server still validates.
		n, err = nil, nil
	}
	if err != nil {
		return nil, false, refusal.WithHint(err)
	}
	if s.schema == nil || !s.schema.Equal(n) {
		s.schema = schema.Compile(n)
	}
	return s.schema, true, nil
}
