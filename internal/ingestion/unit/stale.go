package unit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/status"
)

// Stale returns the lists of a unit's objects that cannot be read, and since when;
// empty if all can.
func (p *Pass) Stale(objects []mirror.Object) (what string, since time.Time) {
	var lists []string
	for i := range objects {
		o := &objects[i]
		c := p.statuses[o.Source].Lists[o.List]
		at := c.StaleObject(o.Key)
		if at.IsZero() {
			continue
		}
		where := p.called(o.Source, o.List)
		if !slices.Contains(lists, where) {
			lists = append(lists, where)
		}
		if since.IsZero() || at.Before(since) {
			since = at
		}
	}
	slices.Sort(lists)
	return strings.Join(lists, ", "), since
}

// called returns the display name of a list of a target.
func (b *Builder) called(source, list string) string {
	at := source
	if i := slices.IndexFunc(b.Targets, func(t status.Target) bool { return t.Name == source }); i >= 0 {
		at = b.Targets[i].At
	}
	kind, _, _ := strings.Cut(list, " ")
	return at + "/" + kind
}

// fingerprint returns a hash of everything that a unit's entities depend on.
func (p *Pass) fingerprint(unit string, from Loaded, stale string, since time.Time) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00%d\x00", unit, stale, since.UnixMilli())
	for _, v := range p.Variants {
		fmt.Fprintf(h, "%s\x00", v.Seal)
	}
	fmt.Fprintf(h, "%q\x00", from.Parts)
	for i := range from.Objects {
		o := &from.Objects[i]
		fmt.Fprintf(h, "%s\x00%s\x00%d %d\x00", o.Source, o.Key, len(o.Note), len(o.Body))
		if o.Unit == unit {
			at := p.statuses[o.Source]
			fmt.Fprintf(h, "%q\x00", at.UnservedKinds(object.NoteOf(o).Kinds))
		}
		h.Write(o.Note)
		h.Write(o.Body)
	}
	return hex.EncodeToString(h.Sum(nil))
}
