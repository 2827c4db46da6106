package ingestion

import (
	"context"
	"errors"
	"net/http"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/unit"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/words"
)

// conditions answers GET /conditions/{kind}/{namespace}/{name}: the conditions of the
// composite that an entity represents, for callers who may read the entity.
func (in *Ingestion) conditions(w http.ResponseWriter, r *http.Request) error {
	ref := entity.Ref{Kind: r.PathValue("kind"), Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	c, err := in.Composite(r.Context(), ref.String())
	if errors.Is(err, db.ErrNotFound) {
		return rest.NotFound("No cluster resource found for %s", rest.Short(ref.String()))
	}
	if err != nil {
		return err
	}
	items, ok, err := in.ingest.Conditions(r.Context(), c)
	if err != nil {
		return err
	}
	if !ok {
		return rest.NotFound("No cluster resource found for %s", rest.Short(ref.String()))
	}
	return rest.WriteJSON(w, r, http.StatusOK, map[string]any{"items": items})
}

// Composite returns the composite that an entity represents. The error is
// db.ErrNotFound if there is no such entity, the caller may not read it, or it belongs
// to another provider: annotations that others write into an entity give no access.
func (in *Ingestion) Composite(ctx context.Context, ref string) (object.Composite, error) {
	_, n, err := in.readable(ctx, ref)
	if err != nil {
		return object.Composite{}, err
	}
	c := object.Composite{
		Cluster: noteIn(n, words.AnnotationDiscoveredFrom), APIVersion: noteIn(n, words.AnnotationXRAPIVersion), Kind: noteIn(n, words.AnnotationXRKind),
		Namespace: noteIn(n, words.AnnotationClusterNamespace), Name: noteIn(n, words.AnnotationXRName),
	}
	if c.Kind == "" || c.Name == "" {
		return c, db.ErrNotFound
	}
	return c, nil
}

// readable returns an entity of the service that the caller may read, and its provider.
// The error is db.ErrNotFound if there is none.
func (in *Ingestion) readable(ctx context.Context, ref string) (provider string, n *tree.Node, err error) {
	if !rest.IsText(ref) {
		return "", nil, db.ErrNotFound
	}
	provider, entity, err := in.entities.Entity(ctx, ref)
	if err != nil {
		return "", nil, err
	}
	may, err := in.mayRead(ctx, ref, provider, entity)
	if err != nil {
		return "", nil, err
	}
	if !may {
		return "", nil, db.ErrNotFound
	}
	n, err = wire.Decoder{}.Decode(entity)
	return provider, n, err
}

// mayRead reports whether an entity is one of the service that the caller may read.
func (in *Ingestion) mayRead(ctx context.Context, ref, provider string, entity []byte) (bool, error) {
	if !unit.Provides(provider) {
		return false, nil
	}
	resource, err := permission.ResourceOf(ref, entity)
	if err != nil {
		return false, err
	}
	return in.policy.Decide(auth.From(ctx), permission.EntityRead, resource), nil
}

// readableOf reports, for each of some references, whether there is an entity of the
// service that the caller may read.
func (in *Ingestion) readableOf(ctx context.Context, refs []string) ([]bool, error) {
	out := make([]bool, len(refs))
	err := in.entities.Each(ctx, refs, func(i int, provider string, entity []byte) (err error) {
		out[i], err = in.mayRead(ctx, refs[i], provider, entity)
		return err
	})
	return out, err
}

// noteIn returns an annotation of an entity, in either vocabulary.
func noteIn(entity *tree.Node, key string) string {
	notes := entity.Get("metadata", "annotations")
	for _, name := range words.Spellings(words.Key, key) {
		if text := notes.Get(name).Str(); text != "" {
			return text
		}
	}
	return ""
}
