package catalog

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/query"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/words"
)

// feedVersion is the version of the feed's format. Readers refuse a version that they do
// not know.
const feedVersion = 1

// feedContent changes whenever entities are written differently: readers then get all of
// them again.
const feedContent = 2

// The headers of a feed.
const (
	// feedPosition is the value of since that continues after this response.
	feedPosition = "Feed-Position"
	// feedMode is modeFull or modeDelta.
	feedMode  = "Feed-Mode"
	modeFull  = "full"
	modeDelta = "delta"
)

// feedKinds are the kinds in a feed: those that every portal knows. Locations are not
// among them, because a reader would follow them and find everything twice.
var feedKinds = []string{"api", "component", "domain", "group", "resource", "system", "template", "user"}

// position is where a feed continues: after a revision of the catalog, for one selection
// of entities.
type position struct {
	Of       string `json:"of"`
	Revision int64  `json:"revision"`
}

// feedRequest is what a request for the feed selects.
type feedRequest struct {
	format feedFormat
	speaks words.Vocabulary
	filter filter.Filter
	// of identifies the selection.
	of string
}

// feed returns the handler of the feed in a format: entities that another portal can
// read, in one vocabulary, without the fields that each portal sets itself.
func (c *Catalog) feed(format feedFormat) rest.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, since, err := c.parseFeed(r, format)
		if err != nil {
			return err
		}
		if since >= 0 {
			covered, err := c.store.ListChanges(r.Context(), f.filter, since, func(d *store.Delta) error { return c.writeDelta(w, r, f, d) })
			if covered || err != nil {
				return clientError(err)
			}
		}
		s := shape{begin: fmt.Sprintf("%s %d %d %s", format.name, feedVersion, feedContent, f.speaks)}
		setMode := func(l *store.Listing) error { return c.setPosition(w, r, f, modeFull, l.Revision) }
		return c.listed(w, r, s, store.Query{Filter: f.filter, Limit: store.NoLimit}, format.mediaType, setMode, func(to io.Writer, l *store.Listing) error {
			out := feedWriter{feedRequest: f, w: bufio.NewWriterSize(to, 64<<10)}
			return out.write(modeFull, w.Header().Get(feedPosition), l.Each, nil)
		})
	}
}

// parseFeed reads the parameters of a feed. since is the revision that the client has,
// -1 if it needs everything.
func (c *Catalog) parseFeed(r *http.Request, format feedFormat) (f feedRequest, since int64, err error) {
	params, err := rest.Params(r.URL.RawQuery)
	if err != nil {
		return f, -1, err
	}
	selected, err := query.ParseFilters(params["filter"])
	if err != nil {
		return f, -1, err
	}
	f = feedRequest{format: format, speaks: c.Words.For(words.Upstream)}
	name, given, err := rest.One(params, "words")
	if err != nil {
		return f, -1, err
	}
	if given {
		choice, err := words.ParseChoice(name)
		if err != nil || choice.Fixed == nil {
			return f, -1, rest.Input("request/query/words is %q, but must be upstream or portal", rest.Short(name))
		}
		f.speaks = *choice.Fixed
	}
	visible := c.visible(r.Context())
	f.filter = query.AllOf(visible, selected, filter.In("kind", feedKinds...))
	if f.of, err = fingerprint([]any{selected, f.speaks.String(), feedVersion, feedContent}); err != nil {
		return f, -1, err
	}
	text, given, err := rest.One(params, "since")
	if err != nil || !given || visible.Op != filter.OpTrue {
		// The names of removed entities are for callers who may read all entities.
		return f, -1, err
	}
	var at position
	err = c.Unseal(r.Context(), "feed", text, &at)
	if errors.Is(err, query.ErrSeal) || err == nil && at.Of != f.of {
		return f, -1, nil
	}
	return f, at.Revision, err
}

// setPosition sets the headers of a feed.
func (c *Catalog) setPosition(w http.ResponseWriter, r *http.Request, f feedRequest, mode string, revision int64) error {
	text, err := c.Seal(r.Context(), "feed", position{Of: f.of, Revision: revision})
	if err != nil {
		return err
	}
	w.Header().Set(feedPosition, text)
	w.Header().Set(feedMode, mode)
	return nil
}

// writeDelta responds with what has changed.
func (c *Catalog) writeDelta(w http.ResponseWriter, r *http.Request, f feedRequest, d *store.Delta) error {
	if err := c.setPosition(w, r, f, modeDelta, d.Revision); err != nil {
		return err
	}
	return rest.WriteStream(w, r, rest.Streamed{Type: f.format.mediaType, Write: func(to io.Writer) error {
		out := feedWriter{feedRequest: f, w: bufio.NewWriterSize(to, 64<<10)}
		return out.write(modeDelta, w.Header().Get(feedPosition), d.Each, d.Removed)
	}})
}

// feedFormat is how a feed is written.
type feedFormat struct {
	name, mediaType string
	// append appends a document.
	append func(dst []byte, n *tree.Node) []byte
	// framed says that the first record describes the feed and the last one says that it
	// is complete.
	framed bool
}

// The formats of a feed.
var (
	feedYAML = feedFormat{
		name: "feed.yaml", mediaType: "application/yaml; charset=utf-8",
		append: func(dst []byte, n *tree.Node) []byte { return tree.AppendYAML(append(dst, "---\n"...), n) },
	}
	feedLines = feedFormat{
		name: "feed.ndjson", mediaType: "application/x-ndjson; charset=utf-8", framed: true,
		append: func(dst []byte, n *tree.Node) []byte { return append(tree.AppendJSON(dst, n, ""), '\n') },
	}
)

// mostOmitted is how many entities that are left out are named.
const mostOmitted = 50

// feedWriter writes a feed.
type feedWriter struct {
	feedRequest
	w   *bufio.Writer
	buf []byte
	end feedEnd
	// omitted are the references of all entities that were left out.
	omitted []string
}

// feedEnd is the last record of a framed feed.
type feedEnd struct {
	// Entities and Removed are how many there were before it.
	Entities int `json:"entities"`
	Removed  int `json:"removed"`
	// OmittedCount is how many entities were left out because other portals refuse them, and
	// Omitted are the first of them.
	OmittedCount int           `json:"omittedCount"`
	Omitted      []feedOmitted `json:"omitted,omitempty"`
}

type feedOmitted struct {
	EntityRef string `json:"entityRef"`
	Reason    string `json:"reason"`
}

// write writes the entities and the references of removed ones.
func (f *feedWriter) write(mode, at string, each func(func(*store.Entity) error) error, removed []string) error {
	if f.format.framed {
		err := f.record(map[string]any{"feed": map[string]any{"version": feedVersion, "mode": mode, "words": f.speaks.String(), "position": at}})
		if err != nil {
			return err
		}
	}
	if err := each(f.entity); err != nil {
		return err
	}
	if mode == modeDelta {
		// The reader may have an earlier version of an entity that is left out now.
		removed = append(removed, f.omitted...)
	}
	for _, ref := range removed {
		if kind, _, _ := strings.Cut(ref, ":"); !slices.Contains(feedKinds, kind) {
			continue
		}
		f.end.Removed++
		if err := f.document(tree.Obj(tree.F("remove", tree.Str(ref)))); err != nil {
			return err
		}
	}
	if f.format.framed {
		if err := f.record(map[string]any{"end": f.end}); err != nil {
			return err
		}
	}
	return f.w.Flush()
}

// entity writes an entity, unless other portals would refuse it.
func (f *feedWriter) entity(e *store.Entity) error {
	n, err := wire.Decoder{}.Decode(e.JSON)
	if err != nil {
		return fmt.Errorf("cannot write %s to the feed: %w", e.Ref, err)
	}
	n = entity.Translate(n, f.speaks)
	n.Delete("relations")
	n.Delete("status")
	metadata := n.Get("metadata")
	if spec := n.Get("spec"); f.speaks == words.Upstream && spec.IsMap() && metadata.Get("annotations", words.Upstream.Out(words.Key, words.AnnotationTemplateOrigin)) != nil {
		n.Set("spec", form.ForBackstage(spec))
	}
	metadata.Delete("uid")
	metadata.Delete("etag")
	if annotations := metadata.Get("annotations"); annotations.IsMap() {
		annotations.Fields = withoutOrigin(annotations.Fields)
		if annotations.Len() == 0 {
			metadata.Delete("annotations")
		}
	}
	if why := refusal(n); why != "" {
		f.omitted = append(f.omitted, e.Ref)
		if f.end.OmittedCount++; len(f.end.Omitted) < mostOmitted {
			f.end.Omitted = append(f.end.Omitted, feedOmitted{EntityRef: e.Ref, Reason: why})
		}
		return nil
	}
	f.end.Entities++
	return f.document(n)
}

func (f *feedWriter) document(n *tree.Node) error {
	f.buf = f.format.append(f.buf[:0], n)
	_, err := f.w.Write(f.buf)
	return err
}

func (f *feedWriter) record(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = f.w.Write(append(line, '\n'))
	return err
}

// feedAPIVersions are the versions that other portals know, in the contract's vocabulary:
// those of Templates, and those of the other kinds.
var feedAPIVersions = map[bool][]string{
	false: {words.EntityVersion, "portal.io/v1beta1"},
	true:  {words.TemplateVersion},
}

// refusal returns why other portals would refuse an entity, or nothing.
func refusal(n *tree.Node) string {
	version, kind := n.Get("apiVersion").Str(), n.Get("kind").Str()
	if !slices.Contains(feedAPIVersions[kind == entity.KindTemplate], words.APIVersionIn(version)) {
		return fmt.Sprintf("other portals do not know apiVersion %s of kind %s", rest.Short(version), rest.Short(kind))
	}
	for _, found := range entity.CheckDocument(n) {
		if found.Severity == finding.Error && found.Rule != entity.RuleLocationMissing && found.Rule != entity.RuleLocationForm {
			return found.Message
		}
	}
	return ""
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
