package ingestion

import (
	"context"
	"errors"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/ingestion/ingest"
)

// scanNow asks the queue to scan sources before all others.
func (in *Ingestion) scanNow(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := in.scanSoon(ctx, name, ingest.TriggerManual); err != nil {
			return errors.Join(db.ErrUnavailable, err)
		}
	}
	return nil
}

// recordScan records that a source, or all of them, is scanned because a caller
// asked for it.
func (in *Ingestion) recordScan(ctx context.Context, source *string, sources int, err error) {
	target := map[string]string{}
	if source != nil {
		target["source"] = *source
	}
	in.audit.Done(ctx, audit.Event{Name: audit.IngestionScan, Target: target, Counts: map[string]int{"sources": sources}}, err)
}
