package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
)

// locationView is a location as clients see it.
type locationView struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Target    string `json:"target"`
	EntityRef string `json:"entityRef"`
	// Error says why the location could not be read, fully or in part.
	Error string `json:"error,omitempty"`
}

func viewOf(l store.Location) locationView {
	return locationView{l.ID, l.Type, l.Target, location.Ref(l.Type, l.Target), l.Error}
}

// locationInput is a location as clients specify it.
type locationInput struct {
	Type   *string `json:"type"`
	Target *string `json:"target"`
}

func (in *locationInput) check(at string) error {
	switch {
	case in.Target == nil:
		return rest.Input("%s must have required property 'target'", at)
	case in.Type == nil:
		return rest.Input("%s must have required property 'type'", at)
	}
	return nil
}

// readLocation reads and checks the location in the body of a request.
func (in *Providers) readLocation(r *http.Request) (typ, target string, err error) {
	var body locationInput
	if err := rest.ReadJSON(r, &body); err != nil {
		return "", "", err
	}
	if err := body.check("request/body"); err != nil {
		return "", "", err
	}
	typ, target = *body.Type, strings.TrimSpace(*body.Target)
	if err := in.mayBe(typ); err != nil {
		return "", "", err
	}
	return typ, target, inputOf(location.Check(typ, target))
}

// mayBe returns an error for a type of location that cannot be registered.
func (in *Providers) mayBe(typ string) error {
	if slices.Contains(in.locations.types, typ) {
		return nil
	}
	types, err := json.Marshal(append([]string{}, in.locations.types...))
	if err != nil {
		return err
	}
	return rest.Input("Registered locations must be of an allowed type %s", types)
}

// inputOf converts a problem with a location to an error for clients.
func inputOf(err error) error {
	if p, ok := errors.AsType[*location.Problem](err); ok {
		return rest.Input("%s", p.Error())
	}
	return err
}

// createLocation answers POST /locations.
func (in *Providers) createLocation(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := in.policy.Require(ctx, permission.LocationCreate, nil); err != nil {
		return err
	}
	q, err := rest.Params(r.URL.RawQuery)
	if err != nil {
		return err
	}
	dry, err := rest.Flag(q, "dryRun")
	if err != nil {
		return err
	}
	onConflict, given, err := rest.One(q, "onConflict")
	if err != nil {
		return err
	}
	if given && onConflict != "refresh" && onConflict != "reject" {
		return rest.Input("request/query/onConflict must be equal to one of the allowed values: refresh, reject")
	}
	typ, target, err := in.readLocation(r)
	if err != nil {
		return err
	}
	if dry {
		return in.tryLocation(w, r, typ, target)
	}
	l, err := in.store.AddLocation(ctx, typ, target)
	if errors.Is(err, db.ErrExists) && onConflict == "refresh" {
		l, err = in.sameLocation(r.Context(), typ, target)
	}
	if errors.Is(err, db.ErrExists) {
		err = rest.Conflict("Location %s:%s already exists", typ, target)
	}
	in.recordLocation(ctx, audit.LocationRegister, store.Location{ID: l.ID, Type: typ, Target: target}, err)
	if err != nil {
		return err
	}
	in.readSoon(l.ID)
	view := viewOf(l)
	view.Error = ""
	return rest.WriteJSON(w, r, http.StatusCreated, struct {
		Location locationView `json:"location"`
		Entities []struct{}   `json:"entities"`
	}{view, []struct{}{}})
}

// sameLocation returns the location with that address.
func (in *Providers) sameLocation(ctx context.Context, typ, target string) (store.Location, error) {
	all, err := in.store.Locations(ctx)
	if err != nil {
		return store.Location{}, err
	}
	for _, l := range all {
		if l.Type == typ && l.Target == target {
			return l, nil
		}
	}
	return store.Location{}, db.ErrExists
}

// tryLocation reads a location and returns what registering it would add.
func (in *Providers) tryLocation(w http.ResponseWriter, r *http.Request, typ, target string) error {
	_, err := in.sameLocation(r.Context(), typ, target)
	if err != nil && !errors.Is(err, db.ErrExists) {
		return err
	}
	exists := err == nil
	res, err := in.locations.reader.Read(r.Context(), location.Target{Type: typ, Target: target})
	defer in.closeReading(res)
	if r.Context().Err() != nil {
		return rest.Input("Error: Unable to read %s:%s, timed out", typ, target)
	}
	if err == nil && len(res.Problems) > 0 {
		err = &res.Problems[0]
	}
	if err != nil {
		return inputOf(err)
	}
	entities := make([]json.RawMessage, len(res.Documents))
	for i := range res.Documents {
		if entities[i], err = res.Documents[i].JSON(); err != nil {
			return err
		}
	}
	return rest.WriteJSON(w, r, http.StatusCreated, struct {
		Exists   bool              `json:"exists"`
		Location locationView      `json:"location"`
		Entities []json.RawMessage `json:"entities"`
	}{exists, viewOf(store.Location{ID: typ + ":" + target, Type: typ, Target: target}), entities})
}

// closeReading removes the temporary file of a reading.
func (in *Providers) closeReading(res *location.Result) {
	if err := res.Close(); err != nil {
		in.log.Warn("removal of a temporary file failed", "error", err)
	}
}

// listLocations answers GET /locations.
func (in *Providers) listLocations(w http.ResponseWriter, r *http.Request) error {
	if err := in.policy.Require(r.Context(), permission.LocationRead, nil); err != nil {
		return err
	}
	all, err := in.store.Locations(r.Context())
	if err != nil {
		return err
	}
	type item struct {
		Data locationView `json:"data"`
	}
	items := make([]item, len(all))
	for i, l := range all {
		items[i].Data = viewOf(l)
	}
	return writeTagged(w, r, items)
}

// writeTagged writes v as the response, with an ETag of its content.
func writeTagged(w http.ResponseWriter, r *http.Request, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	body := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return rest.Write(w, r, rest.Content{ETag: rest.ETagOf(body), Body: body})
}

// oneLocation returns the location that a request names.
func (in *Providers) oneLocation(r *http.Request) (store.Location, error) {
	id := r.PathValue("id")
	if !rest.IsText(id) {
		return store.Location{}, noLocation(id)
	}
	l, err := in.store.Location(r.Context(), id)
	if errors.Is(err, db.ErrNotFound) {
		return l, noLocation(id)
	}
	return l, err
}

func noLocation(id string) error {
	return rest.NotFound("Found no location with ID %s", rest.Short(id))
}

// getLocation answers GET /locations/{id}.
func (in *Providers) getLocation(w http.ResponseWriter, r *http.Request) error {
	if err := in.policy.Require(r.Context(), permission.LocationRead, nil); err != nil {
		return err
	}
	l, err := in.oneLocation(r)
	if err != nil {
		return err
	}
	return writeTagged(w, r, viewOf(l))
}

// updateLocation answers PUT /locations/{id}.
func (in *Providers) updateLocation(w http.ResponseWriter, r *http.Request) error {
	if err := in.policy.Require(r.Context(), permission.LocationCreate, nil); err != nil {
		return err
	}
	typ, target, err := in.readLocation(r)
	if err != nil {
		return err
	}
	old, err := in.oneLocation(r)
	if err != nil {
		return err
	}
	l := old
	if old.Type != typ || old.Target != target {
		// Entities that were read from the old address are removed.
		if err := in.policy.Require(r.Context(), permission.LocationDelete, nil); err != nil {
			return err
		}
		l, err = in.store.UpdateLocation(r.Context(), old.ID, typ, target)
	}
	switch {
	case errors.Is(err, db.ErrNotFound):
		err = noLocation(old.ID)
	case errors.Is(err, db.ErrExists):
		err = rest.Conflict("Location %s:%s already exists", typ, target)
	}
	in.recordLocation(r.Context(), audit.LocationUpdate, store.Location{ID: old.ID, Type: typ, Target: target}, err)
	if err != nil {
		return err
	}
	in.readSoon(l.ID)
	return rest.WriteJSON(w, r, http.StatusOK, viewOf(l))
}

// deleteLocation answers DELETE /locations/{id}. It also removes the entities that were
// read from it.
func (in *Providers) deleteLocation(w http.ResponseWriter, r *http.Request) error {
	if err := in.policy.Require(r.Context(), permission.LocationDelete, nil); err != nil {
		return err
	}
	id := r.PathValue("id")
	if !rest.IsText(id) {
		return noLocation(id)
	}
	err := in.store.RemoveLocation(r.Context(), id)
	if errors.Is(err, db.ErrNotFound) {
		err = noLocation(id)
	}
	in.recordLocation(r.Context(), audit.LocationDelete, store.Location{ID: id}, err)
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// locationByEntity answers GET /locations/by-entity/{kind}/{namespace}/{name}.
func (in *Providers) locationByEntity(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := in.policy.Require(ctx, permission.LocationRead, nil); err != nil {
		return err
	}
	ref := entity.Ref{Kind: r.PathValue("kind"), Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}.String()
	e, err := in.catalog.Find(ctx, ref)
	if errors.Is(err, db.ErrNotFound) {
		return rest.NotFound("found no entity for ref %s", rest.Short(ref))
	}
	if err != nil {
		return err
	}
	id, ok := strings.CutPrefix(e.Provider, store.LocationProvider(""))
	if !ok {
		return rest.NotFound("found no location for ref %s", ref)
	}
	l, err := in.store.Location(ctx, id)
	if errors.Is(err, db.ErrNotFound) {
		return rest.NotFound("found no location for ref %s", ref)
	}
	if err != nil {
		return err
	}
	return writeTagged(w, r, viewOf(l))
}
