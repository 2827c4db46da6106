package catalog

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"slices"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/query"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/words"
)

// feedType is the media type of the feed.
const feedType = "application/yaml; charset=utf-8"

// feed handles GET /feed.yaml: entities as YAML documents that another portal can read
// as a location, without the fields that each portal sets itself. Locations are
// omitted, because a reader would follow them and find everything twice.
func (c *Catalog) feed(w http.ResponseWriter, r *http.Request) error {
	params, err := rest.Params(r.URL.RawQuery)
	if err != nil {
		return err
	}
	selected, err := query.ParseFilters(params["filter"])
	if err != nil {
		return err
	}
	q := store.Query{
		Filter: query.AllOf(c.visible(r.Context()), selected, filter.Not(filter.In("kind", "location"))),
		Limit:  store.NoLimit,
	}
	alone := func(*store.Listing) error { return nil }
	return c.listed(w, r, shape{begin: "feed"}, q, feedType, alone, func(to io.Writer, l *store.Listing) error {
		out := bufio.NewWriterSize(to, 64<<10)
		var buf []byte
		err := l.Each(func(e *store.Entity) error {
			var err error
			if buf, err = appendFeed(buf[:0], e); err != nil {
				return err
			}
			_, err = out.Write(buf)
			return err
		})
		if err != nil {
			return err
		}
		return out.Flush()
	})
}

// appendFeed appends an entity as a document of the feed.
func appendFeed(dst []byte, e *store.Entity) ([]byte, error) {
	n, err := wire.Decoder{}.Decode(e.JSON)
	if err != nil {
		return nil, fmt.Errorf("cannot write %s to the feed: %w", e.Ref, err)
	}
	n.Delete("relations")
	n.Delete("status")
	metadata := n.Get("metadata")
	metadata.Delete("uid")
	metadata.Delete("etag")
	if annotations := metadata.Get("annotations"); annotations.IsMap() {
		annotations.Fields = withoutOrigin(annotations.Fields)
		if annotations.Len() == 0 {
			metadata.Delete("annotations")
		}
	}
	return tree.AppendYAML(append(dst, "---\n"...), n), nil
}

// originKeys are the annotations with the origin of an entity.
var originKeys = []string{
	words.AnnotationManagedBy, words.AnnotationManagedByOrigin, words.AnnotationViewURL,
	words.AnnotationEditURL, "portal.io/orphan",
}

// withoutOrigin removes the annotations with the origin of an entity, in either
// vocabulary: each reader writes its own.
func withoutOrigin(annotations []tree.Field) []tree.Field {
	return slices.DeleteFunc(annotations, func(f tree.Field) bool {
		return slices.Contains(originKeys, words.In(words.Key, f.Key))
	})
}
