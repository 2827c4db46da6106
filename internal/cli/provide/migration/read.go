// Package migration moves the content of a Backstage to a portal, and compares the two:
// which entities are imported and how, which tasks Backstage ran, and what becomes of the
// entities of TeraSky's kubernetes-ingestor.
package migration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/sink/portal"
	"example.dev/ingestor/words"
)

// The limits of what is read: the number of entities and their size in bytes. The portal
// accepts no more entities in one push.
const (
	maxEntities = 250_000
	maxBytes    = 4 << 30
)

// pageSize is the number of entities of one request; fewer, if they are large.
const pageSize = 100

// Entities reads all entities of a catalog, that of a Backstage or of a portal, and calls
// yield for each as JSON. The fields are those that are read, all if there are none. An
// error means that not all entities were read.
func Entities(ctx context.Context, from *portal.Portal, fields []string, yield func(item string) error) error {
	r := reading{from: from, fields: fields, limit: pageSize, yield: yield}
	for {
		cursor := r.cursor
		got, err := r.page(ctx)
		switch {
		case errors.Is(err, portal.ErrLarge) && r.limit > 1:
			r.limit /= 2
		case err != nil:
			return err
		case r.cursor == "" && r.read < r.total:
			return r.failf("the list is not complete: %d of %d entities", r.read, r.total)
		case r.cursor == "":
			return nil
		case got == 0 || r.cursor == cursor:
			return r.failf("the list does not end: the page after entity %d leads to itself", r.read)
		}
	}
}

// reading is one run of Entities.
type reading struct {
	from   *portal.Portal
	fields []string
	yield  func(item string) error
	limit  int
	// cursor is that of the next page: empty before the first, and after the last.
	cursor string
	// read and size are the number and bytes of the entities so far; total is how many there
	// were at the first page.
	read, size, total int
}

const readEntities = "read the entities of"

func (r *reading) failf(format string, args ...any) error {
	return fmt.Errorf("cannot %s %s: %w", readEntities, r.from.URL(), fmt.Errorf(format, args...))
}

// page reads a page, and returns how many entities it has.
func (r *reading) page(ctx context.Context) (got int, err error) {
	query := url.Values{"limit": {strconv.Itoa(r.limit)}}
	if len(r.fields) > 0 {
		query["fields"] = r.fields
	}
	if r.cursor != "" {
		query.Set("cursor", r.cursor)
	}
	body, err := r.from.Get(ctx, readEntities, "/api/catalog/entities/by-query", query)
	if err != nil {
		return 0, err
	}
	var failed error
	rest, err := wire.Decoder{}.List(body, func(item string) {
		got, r.size = got+1, r.size+len(item)
		switch {
		case failed != nil:
		case r.read+got > maxEntities:
			failed = r.failf("there are more than %d", maxEntities)
		case r.size > maxBytes:
			failed = r.failf("they are larger than %d GiB", maxBytes>>30)
		default:
			failed = r.yield(item)
		}
	})
	if failed != nil {
		return got, failed
	}
	total, notNumber := strconv.Atoi(rest.Get("totalItems").Scalar())
	if err != nil || notNumber != nil {
		return got, r.failf("response is not that of a catalog")
	}
	if r.read == 0 {
		r.total = total
	}
	r.read += got
	r.cursor = rest.Get("pageInfo", "nextCursor").Str()
	return got, nil
}

// Locations returns the URLs that are registered as locations of a catalog.
func Locations(ctx context.Context, from *portal.Portal) (map[string]bool, error) {
	var all []struct {
		Data struct {
			Type   string `json:"type"`
			Target string `json:"target"`
		} `json:"data"`
	}
	if err := get(ctx, from, "read the locations of", "/api/catalog/locations", nil, &all); err != nil {
		return nil, err
	}
	targets := map[string]bool{}
	for _, l := range all {
		if l.Data.Type == "url" {
			targets[l.Data.Target] = true
		}
	}
	return targets, nil
}

// actions returns the actions that Templates of a portal can use.
func actions(ctx context.Context, of *portal.Portal) (map[string]bool, error) {
	var all []struct {
		ID string `json:"id"`
	}
	if err := get(ctx, of, "read the actions of", "/api/scaffolder/v2/actions", nil, &all); err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, a := range all {
		ids[a.ID] = true
	}
	return ids, nil
}

// get decodes the JSON at a path.
func get(ctx context.Context, from *portal.Portal, verb, path string, query url.Values, into any) error {
	body, err := from.Get(ctx, verb, path, query)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("cannot %s %s: response has another form than that of a Backstage", verb, from.URL())
	}
	return nil
}

// annotation returns an annotation of an entity, in either spelling of the key.
func annotation(n *tree.Node, key string) string {
	all := n.Get("metadata", "annotations")
	for _, k := range words.Spellings(words.Key, key) {
		if v := all.Get(k).Str(); v != "" {
			return v
		}
	}
	return ""
}

// asRefusal returns the error of a portal that rejects a request because of what it is
// about, not because of who asks or how the portal is.
func asRefusal(err error) (*portal.Error, bool) {
	e, ok := errors.AsType[*portal.Error](err)
	return e, ok && e.Problem == portal.Invalid && e.Message != ""
}
