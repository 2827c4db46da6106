package scaffolder

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

const (
	// usagePeriod is how old the tasks may be that are counted.
	usagePeriod = 90 * 24 * time.Hour
	// usageLimit is how many Templates there are if the client sets no limit, and
	// mostUsage the maximum.
	usageLimit = 10
	mostUsage  = 100
)

// usage is how often a Template was run, as clients see it.
type usage struct {
	TemplateRef string `json:"templateRef"`
	Count       int    `json:"count"`
	LastUsedAt  string `json:"lastUsedAt"`
}

// templateUsage answers GET /v2/templates/usage. Counts include the tasks of all callers,
// about which they say nothing else, unless the caller asks for their own, which takes
// permission to read them. Dry runs are no tasks.
func (s *Scaffolder) templateUsage(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	params, err := rest.Params(r.URL.RawQuery)
	if err != nil {
		return err
	}
	limit, err := rest.Count(params, "limit", usageLimit)
	if err != nil {
		return err
	}
	if limit > mostUsage {
		return rest.Input("request/query/limit must be <= %d", mostUsage)
	}
	mine, err := rest.Flag(params, "mine")
	if err != nil {
		return err
	}
	var by *taskstore.Creator
	if mine {
		owners, err := s.readers(ctx)
		if err != nil {
			return err
		}
		if by = creatorOf(auth.From(ctx)); !owners.Has(by.CreatedBy) {
			limit = 0
		}
	}
	items, err := s.used(ctx, by, limit)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, struct {
		Items []usage `json:"items"`
	}{items})
}

// creatorOf returns what selects the tasks of a caller.
func creatorOf(c auth.Caller) *taskstore.Creator {
	if c.Kind == auth.Service {
		return &taskstore.Creator{Subject: c.Key()}
	}
	return &taskstore.Creator{CreatedBy: strings.ToLower(c.Subject)}
}

// used returns the most used Templates that the caller may read.
func (s *Scaffolder) used(ctx context.Context, by *taskstore.Creator, limit int) ([]usage, error) {
	items := []usage{}
	if limit == 0 {
		return items, nil
	}
	all, err := s.TaskStore.TemplateUsage(ctx, s.TaskStore.Now().Add(-usagePeriod), by)
	if err != nil {
		return nil, err
	}
	for _, u := range all {
		if len(items) == limit {
			break
		}
		_, err := s.Catalog.Find(ctx, u.Template)
		if errors.Is(err, db.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		items = append(items, usage{TemplateRef: u.Template, Count: u.Count, LastUsedAt: asTime(u.Last)})
	}
	return items, nil
}
