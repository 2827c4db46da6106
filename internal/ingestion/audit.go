package ingestion

import (
	"context"
	"errors"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/audit"
)

// scanNow adds scans of sources to the queue, ahead of all others.
func (in *Ingestion) scanNow(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := in.ingest.RequestScan(ctx, name); err != nil {
			return errors.Join(db.ErrUnavailable, err)
		}
	}
	return nil
}

// recordScan writes an audit event for a scan of one source, or of all, that a caller
// requested.
func (in *Ingestion) recordScan(ctx context.Context, source *string, sources int, err error) {
	target := map[string]string{}
	if source != nil {
		target["source"] = *source
	}
	in.audit.Done(ctx, audit.Event{Name: audit.IngestionScan, Target: target, Counts: map[string]int{"sources": sources}}, err)
}
