package ingestion

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/ingestion/change"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/unit"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/words"
)

// mostSource is the largest definition or Composition in a response. What a cluster
// stores is smaller; a file may be larger.
const mostSource = 4 << 20

// source answers GET /source/{kind}/{namespace}/{name}: the definition that an entity
// was built from, or the Composition that it represents, for callers who may read the
// entity.
func (in *Ingestion) source(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	ref := entity.Ref{Kind: r.PathValue("kind"), Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	provider, n, err := in.readable(ctx, ref.String())
	if errors.Is(err, db.ErrNotFound) {
		return noSource(ref)
	}
	if err != nil {
		return err
	}
	composition, ok := sourceOf(n)
	if !ok || strings.HasPrefix(provider, object.UnitWorkload) {
		return noSource(ref)
	}
	found, ok, err := in.ingest.Source(ctx, unit.Of(provider), composition)
	if err != nil {
		return err
	}
	if !ok {
		return noSource(ref)
	}
	if len(found.Object) > mostSource {
		return rest.TooLarge("The source of %s exceeds %d MiB; read it from %s", rest.Short(ref.String()), mostSource>>20, rest.Short(found.Source))
	}
	return rest.WriteJSON(w, r, http.StatusOK, found)
}

// definitionOf returns a Template and the definition that it was generated from, for
// callers who may read the Template.
func (in *Ingestion) definitionOf(ctx context.Context, name string) (template *tree.Node, definition []byte, err error) {
	ref, err := entity.ParseRef(name, entity.KindTemplate, entity.DefaultNamespace)
	if err != nil {
		return nil, nil, rest.Input("request/body/template is not an entity reference: %s", err)
	}
	provider, template, err := in.readable(ctx, ref.String())
	if errors.Is(err, db.ErrNotFound) || err == nil && (!strings.EqualFold(ref.Kind, entity.KindTemplate) || strings.HasPrefix(provider, object.UnitWorkload)) {
		return nil, nil, noSource(ref)
	}
	if err != nil {
		return nil, nil, err
	}
	found, ok, err := in.ingest.Source(ctx, unit.Of(provider), "")
	if err == nil && !ok {
		err = noSource(ref)
	}
	return template, found.Object, err
}

// ingested returns the definition behind an entity that the caller may read.
func (in *Ingestion) ingested(ctx context.Context, ref entity.Ref) (change.Ingested, error) {
	provider, n, err := in.readable(ctx, ref.String())
	if errors.Is(err, db.ErrNotFound) {
		return change.Ingested{}, noSource(ref)
	}
	if err != nil {
		return change.Ingested{}, err
	}
	if composition, ok := sourceOf(n); !ok || composition != "" || strings.HasPrefix(provider, object.UnitWorkload) {
		return change.Ingested{}, noSource(ref)
	}
	found, ok, err := in.ingest.Ingested(ctx, unit.Of(provider))
	if err == nil && !ok {
		err = noSource(ref)
	}
	return found, err
}

func noSource(ref entity.Ref) error {
	return rest.NotFound("No definition or Composition found for %s", rest.Short(ref.String()))
}

// sourceOf returns the name of the Composition that an entity represents; empty if the
// entity represents its definition or is generated from it. It reports false for other
// entities, such as those of composites.
func sourceOf(n *tree.Node) (composition string, ok bool) {
	switch n.Get("kind").Str() {
	case entity.KindTemplate, entity.KindAPI:
		return "", true
	case entity.KindResource:
	default:
		return "", false
	}
	switch words.In(words.Type, n.Get("spec", "type").Str()) {
	case words.TypeXRD:
		return "", true
	case words.TypeComposition:
		composition = noteIn(n, words.AnnotationCompositionRef)
		return composition, composition != ""
	}
	return "", false
}
