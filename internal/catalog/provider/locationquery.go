package provider

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/query"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
)

const (
	// locationCursor is the purpose with which cursors of locations are sealed.
	locationCursor      = "locations"
	defaultLocations    = 1000
	maxLocationsOnePage = 10_000
)

// locationPage is the position in a listing of locations.
type locationPage struct {
	After string          `json:"after"`
	Limit int             `json:"limit"`
	Query json.RawMessage `json:"query,omitempty"`
}

// queryLocations answers POST /locations/by-query.
func (in *Providers) queryLocations(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := in.policy.Require(ctx, permission.LocationRead, nil); err != nil {
		return err
	}
	page, filter, err := in.readLocationPage(r)
	if err != nil {
		return err
	}
	all, err := in.store.Locations(ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(l store.Location) bool { return !passes(filter, l) })
	var answer struct {
		Items    []locationView `json:"items"`
		Total    int            `json:"totalItems"`
		PageInfo struct {
			Next string `json:"nextCursor,omitempty"`
		} `json:"pageInfo"`
	}
	answer.Items, answer.Total = []locationView{}, len(all)
	for _, l := range all {
		if l.ID <= page.After {
			continue
		}
		if len(answer.Items) == page.Limit {
			if page.Limit == 0 {
				break
			}
			next := page
			next.After = answer.Items[page.Limit-1].ID
			if answer.PageInfo.Next, err = in.catalog.Seal(ctx, locationCursor, next); err != nil {
				return err
			}
			break
		}
		answer.Items = append(answer.Items, viewOf(l))
	}
	return rest.WriteJSON(w, r, http.StatusOK, answer)
}

func (in *Providers) readLocationPage(r *http.Request) (locationPage, filter.Filter, error) {
	var body struct {
		Cursor *string         `json:"cursor"`
		Limit  *int            `json:"limit"`
		Query  json.RawMessage `json:"query"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return locationPage{}, filter.Filter{}, err
	}
	page := locationPage{Limit: defaultLocations, Query: body.Query}
	if body.Cursor != nil {
		if len(body.Query) > 0 {
			return page, filter.Filter{}, rest.Input("A cursor and a query cannot be combined")
		}
		page = locationPage{}
		err := in.catalog.Unseal(r.Context(), locationCursor, *body.Cursor, &page)
		if errors.Is(err, query.ErrSeal) {
			return page, filter.Filter{}, rest.Input("Malformed cursor, could not be parsed")
		}
		if err != nil {
			return page, filter.Filter{}, err
		}
	}
	if body.Limit != nil {
		page.Limit = *body.Limit
	}
	if page.Limit < 0 || page.Limit > maxLocationsOnePage {
		return page, filter.Filter{}, rest.Input("request/body/limit must be >= 0 and <= %d", maxLocationsOnePage)
	}
	filter, err := query.ParsePredicate(page.Query)
	return page, filter, err
}

// passes reports whether a location matches the filter. It ignores case, as for
// entities.
func passes(f filter.Filter, l store.Location) bool {
	switch f.Op {
	case filter.OpFalse:
		return false
	case filter.OpAll:
		return !slices.ContainsFunc(f.Filters, func(f filter.Filter) bool { return !passes(f, l) })
	case filter.OpAny:
		return slices.ContainsFunc(f.Filters, func(f filter.Filter) bool { return passes(f, l) })
	case filter.OpNot:
		return !passes(f.Filters[0], l)
	case filter.OpHas, filter.OpIn, filter.OpPrefix:
	default:
		return true
	}
	view := viewOf(l)
	value, ok := map[string]string{"id": view.ID, "type": view.Type, "target": view.Target, "entityref": view.EntityRef, "error": view.Error}[f.Key]
	if !ok || f.Key == "error" && value == "" {
		return false
	}
	value = strings.ToLower(value)
	switch f.Op {
	case filter.OpIn:
		return slices.ContainsFunc(f.Values, func(v string) bool { return strings.ToLower(v) == value })
	case filter.OpPrefix:
		return strings.HasPrefix(value, strings.ToLower(f.Values[0]))
	}
	return true
}
