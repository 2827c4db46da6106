package main

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"example.dev/ingestor/internal/ingestion/ingest"
)

// point is what was used and changed by a point in time.
type point struct {
	at              time.Time
	cpu, written    float64
	stale, entities int
	// updated and removed count entities since an earlier point.
	updated, removed int
}

// outage stops all clusters, waits until all entities are stale, and starts the
// clusters again.
func (m *measurement) outage() error {
	before, err := m.point(time.Now())
	if err != nil {
		return err
	}
	if err := m.fleet.Down(); err != nil {
		return err
	}
	down, err := m.turn("outage", before, before.entities)
	if err != nil {
		return err
	}
	if err := m.fleet.Up(); err != nil {
		return err
	}
	// The backoff has its own pace; the time counts from here.
	down.at = time.Now()
	_, err = m.turn("recovery", down, 0)
	return err
}

// turn waits until a number of entities is stale and the service rests, and shows what
// was used since before.
func (m *measurement) turn(what string, before point, stale int) (point, error) {
	if err := until("the "+what, func() (bool, error) {
		n, err := m.stale()
		return n == stale, err
	}); err != nil {
		now, _ := m.stale()
		return point{}, fmt.Errorf("%w: %d entities are stale, want %d", err, now, stale)
	}
	turned := time.Since(before.at)
	if err := m.rest(); err != nil {
		return point{}, err
	}
	now, err := m.point(before.at)
	if err != nil {
		return now, err
	}
	if now.stale != stale || now.entities != before.entities || now.removed > 0 {
		return now, fmt.Errorf("after the %s there are %d entities, %d of them stale, and %d were removed; want %d and %d, none removed",
			what, now.entities, now.stale, now.removed, before.entities, stale)
	}
	fmt.Fprintf(m, "%s of all clusters: %d of %d entities are stale after %.0f s, all is steady after %.0f s; %.1f s of CPU time, %.0f MB written; %d entities written, %.2f times each (wanted: at most once)\n",
		what, stale, now.entities, turned.Seconds(), time.Since(before.at).Seconds(), now.cpu-before.cpu, now.written-before.written,
		now.updated, float64(now.updated)/float64(now.entities))
	return now, nil
}

// point returns the present state, and what was changed since a point in time.
func (m *measurement) point(since time.Time) (p point, err error) {
	p.at = time.Now()
	if p.cpu, err = m.CPU(); err != nil {
		return p, err
	}
	if p.written, err = m.written(); err != nil {
		return p, err
	}
	if p.entities, err = m.Entities(""); err != nil {
		return p, err
	}
	if p.stale, err = m.stale(); err != nil {
		return p, err
	}
	var runs struct{ Items []ingest.Run }
	if _, err = m.Ask(http.MethodGet, "/api/composer-ingestor/runs?limit=500", "", &runs); err != nil {
		return p, err
	}
	for _, r := range runs.Items {
		if r.Started.After(since) {
			p.updated += r.Updated
			p.removed += r.Removed
		}
	}
	return p, nil
}

// stale returns the number of entities that are marked as stale.
func (m *measurement) stale() (int, error) {
	var page struct{ TotalItems int }
	_, err := m.Ask(http.MethodGet, "/api/catalog/entities/by-query?limit=1&filter="+url.QueryEscape("metadata.annotations.backstage.io/stale"), "", &page)
	return page.TotalItems, err
}
