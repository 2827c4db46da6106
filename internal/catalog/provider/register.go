package provider

import (
	"context"
	"errors"
	"strings"

	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/permission"
)

// Register registers the file at a URL as a location, if the caller of ctx may, and
// returns the references of its entities. A location that is registered already is read
// again. A dry run only reads the file.
func (in *Providers) Register(ctx context.Context, target string, dry bool) ([]string, error) {
	if err := in.policy.Require(ctx, permission.LocationCreate, nil); err != nil {
		return nil, err
	}
	if err := in.mayBe(location.TypeURL); err != nil {
		return nil, err
	}
	at := location.Target{Type: location.TypeURL, Target: strings.TrimSpace(target)}
	if err := inputOf(location.Check(at.Type, at.Target)); err != nil {
		return nil, err
	}
	read, err := in.locations.reader.Read(ctx, at)
	defer in.closeReading(read)
	if err == nil && len(read.Problems) > 0 {
		err = &read.Problems[0]
	}
	if err != nil {
		return nil, inputOf(err)
	}
	refs := make([]string, len(read.Documents))
	for i, d := range read.Documents {
		refs[i] = d.Ref
	}
	if dry {
		return refs, nil
	}
	l, err := in.store.AddLocation(ctx, at.Type, at.Target)
	if errors.Is(err, db.ErrExists) {
		l, err = in.sameLocation(ctx, at.Type, at.Target)
	}
	in.recordLocation(ctx, audit.LocationRegister, store.Location{ID: l.ID, Type: at.Type, Target: at.Target}, err)
	if err != nil {
		return nil, err
	}
	in.readSoon(l.ID)
	return refs, nil
}
