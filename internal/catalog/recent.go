package catalog

import (
	"encoding/json"
	"net/http"
	"time"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/query"
	"example.dev/ingestor/internal/rest"
)

const (
	// recentSince is how old changes may be if the client does not say it.
	recentSince = 24 * time.Hour
	// recentLimit is how many changes there are if the client sets no limit, and
	// maxRecentLimit the maximum.
	recentLimit    = 20
	maxRecentLimit = 100
)

// The changes of an entity.
const (
	changeCreated = "created"
	changeChanged = "changed"
)

// recentItem is an entity that was added or changed.
type recentItem struct {
	EntityRef   string    `json:"entityRef"`
	Kind        string    `json:"kind"`
	Type        string    `json:"type,omitempty"`
	Tags        []string  `json:"tags,omitempty"`
	Title       string    `json:"title"`
	Description string    `json:"description,omitempty"`
	Change      string    `json:"change"`
	At          time.Time `json:"at"`
	Readiness   string    `json:"readiness,omitempty"`
}

// recent handles GET /recent.
func (c *Catalog) recent(w http.ResponseWriter, r *http.Request) error {
	params, err := rest.Params(r.URL.RawQuery)
	if err != nil {
		return err
	}
	limit, err := rest.Count(params, "limit", recentLimit)
	if err != nil {
		return err
	}
	if limit > maxRecentLimit {
		return rest.Input("request/query/limit must be <= %d", maxRecentLimit)
	}
	since := c.store.Now().Add(-recentSince)
	text, given, err := rest.One(params, "since")
	if err == nil && given {
		if since, err = time.Parse(time.RFC3339, text); err != nil {
			return rest.Input("request/query/since is %q, but must be a time such as 2006-01-02T15:04:05Z", rest.Short(text))
		}
	}
	if err != nil {
		return err
	}
	predicate, _, err := rest.One(params, "query")
	if err != nil {
		return err
	}
	only, err := query.ParsePredicate(json.RawMessage(predicate))
	if err != nil {
		return err
	}
	// Locations are where entities come from, and change whenever they are read.
	among := query.AllOf(c.visible(r.Context()), filter.Not(filter.In("kind", "location")), only)
	found, err := c.store.Recent(r.Context(), among, since, limit)
	if err != nil {
		return clientError(err)
	}
	items := make([]recentItem, len(found))
	for i := range found {
		d, err := documentOf(&found[i].Entity)
		if err != nil {
			return err
		}
		items[i] = recentItem{EntityRef: d.EntityRef, Kind: d.Kind, Type: d.Type, Tags: d.Tags, Title: d.Title, Description: d.Text, Change: changeChanged, At: found[i].At, Readiness: d.Readiness}
		if found[i].Created {
			items[i].Change = changeCreated
		}
	}
	return writeBody(w, r, map[string]any{"items": items})
}
