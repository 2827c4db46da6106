package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
)

// Find returns the entity with a reference, if the caller may read it. For all other
// entities the error is db.ErrNotFound, so that the caller does not learn whether they
// exist.
func (c *Catalog) Find(ctx context.Context, ref string) (*store.Entity, error) {
	return c.find(ctx, ref, c.store.Get)
}

// find is Find with a reference or a uid, which get looks up.
func (c *Catalog) find(ctx context.Context, name string, get func(context.Context, string) (*store.Entity, error)) (*store.Entity, error) {
	if !rest.IsText(name) {
		return nil, db.ErrNotFound
	}
	e, err := get(ctx, name)
	if err != nil {
		return nil, err
	}
	if ok, err := c.mayRead(ctx, e); err != nil || !ok {
		return nil, errors.Join(err, db.ErrNotFound)
	}
	return e, nil
}

func writeEntity(w http.ResponseWriter, r *http.Request, e *store.Entity) error {
	return rest.Write(w, r, rest.Content{ETag: e.ETag, Body: e.JSON})
}

// nameOf returns the reference in the path of a request.
func nameOf(r *http.Request) entity.Ref {
	return entity.Ref{Kind: r.PathValue("kind"), Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
}

// entityByName handles GET /entities/by-name/{kind}/{namespace}/{name}.
func (c *Catalog) entityByName(w http.ResponseWriter, r *http.Request) error {
	ref := nameOf(r)
	e, err := c.Find(r.Context(), ref.String())
	if errors.Is(err, db.ErrNotFound) {
		return rest.NotFound("No entity named '%s' found, with kind '%s' in namespace '%s'", ref.Name, ref.Kind, ref.Namespace)
	}
	if err != nil {
		return err
	}
	return writeEntity(w, r, e)
}

// entityByUID handles GET /entities/by-uid/{uid}.
func (c *Catalog) entityByUID(w http.ResponseWriter, r *http.Request) error {
	uid := r.PathValue("uid")
	e, err := c.find(r.Context(), uid, c.store.GetByUID)
	if errors.Is(err, db.ErrNotFound) {
		return rest.NotFound("No entity with uid %s", uid)
	}
	if err != nil {
		return err
	}
	return writeEntity(w, r, e)
}

// deleteByUID handles DELETE /entities/by-uid/{uid}. For an entity that does not exist
// it responds with success, as the portal's clients expect.
func (c *Catalog) deleteByUID(w http.ResponseWriter, r *http.Request) error {
	uid := r.PathValue("uid")
	e, err := c.find(r.Context(), uid, c.store.GetByUID)
	var resource *permission.Resource
	if err == nil {
		resource, err = permission.ResourceOf(e.Ref, e.JSON)
	}
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	if err := c.policy.Require(r.Context(), permission.EntityDelete, resource); err != nil {
		return err
	}
	if e != nil && c.policy.Identifies(e.Provider) && (resource.Kind == "user" || resource.Kind == "group") {
		// A user who leaves a group escapes the rules that deny something to the group.
		resource.Provider = e.Provider
		if err := c.policy.Require(r.Context(), permission.IdentityWrite, resource); err != nil {
			return err
		}
	}
	if e != nil {
		err := c.store.DeleteByUID(r.Context(), uid)
		if errors.Is(err, db.ErrNotFound) {
			err = nil
		}
		c.recordDelete(r.Context(), e, err)
		if err != nil {
			return err
		}
		if c.Deleted != nil {
			if err := c.Deleted(r.Context(), e); err != nil {
				return err
			}
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// ancestry handles GET /entities/by-name/{kind}/{namespace}/{name}/ancestry: the entity
// and its ancestors, up to one that the caller may not read.
func (c *Catalog) ancestry(w http.ResponseWriter, r *http.Request) error {
	ref := nameOf(r).String()
	if !rest.IsText(ref) {
		return rest.NotFound("No such entity %s", ref)
	}
	line, err := c.store.Ancestry(r.Context(), ref)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	for i := range line {
		ok, err := c.mayRead(r.Context(), &line[i])
		if err != nil {
			return err
		}
		if !ok {
			line = line[:i]
			break
		}
	}
	if len(line) == 0 {
		return rest.NotFound("No such entity %s", ref)
	}
	type item struct {
		Entity  json.RawMessage `json:"entity"`
		Parents []string        `json:"parentEntityRefs"`
	}
	out := struct {
		Root  string `json:"rootEntityRef"`
		Items []item `json:"items"`
	}{Root: line[0].Ref}
	for i := range line {
		parents := []string{}
		// The parent of the last entity is missing, or closes a cycle.
		if i+1 < len(line) || i+1 == len(line) && among(line, line[i].Parent) {
			parents = append(parents, line[i].Parent)
		}
		out.Items = append(out.Items, item{Entity: line[i].JSON, Parents: parents})
	}
	return writeBody(w, r, out)
}

func among(line []store.Entity, ref string) bool {
	for i := range line {
		if line[i].Ref == ref {
			return true
		}
	}
	return false
}

// writeBody responds with v as JSON, which clients may cache.
func writeBody(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return rest.Write(w, r, rest.Content{ETag: rest.ETagOf(body), Body: body})
}
