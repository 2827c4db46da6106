// Package settings stores what users keep for themselves, such as starred entities, with
// the HTTP API of Backstage's user settings. Users have access to their own settings only,
// whatever their permissions are.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"unicode/utf8"

	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/rest"
)

// The limits of settings.
const (
	// maxName is the maximum length of buckets and keys, in characters, and maxValue that of
	// values, in bytes of JSON without insignificant spaces.
	maxName  = 255
	maxValue = 64 << 10
	// maxKeys is how many settings a user may have, and maxItems how many a request reads.
	maxKeys  = 100
	maxItems = 100
	// maxBody is the size limit of a request that stores a setting.
	maxBody = 4 * maxValue
)

// Settings is the API.
type Settings struct{ store storage }

// New returns the API of the settings in a database.
func New(d *db.DB) *Settings { return &Settings{storage{d}} }

// Plugin returns the endpoints below /api/user-settings.
func (s *Settings) Plugin() rest.Plugin {
	const setting = "/buckets/{bucket}/keys/{key}"
	return rest.Plugin{Names: []string{"user-settings"}, Routes: []rest.Route{
		{Method: http.MethodGet, Path: setting, Handle: s.get},
		{Method: http.MethodPut, Path: setting, Handle: s.put, MaxBody: maxBody},
		{Method: http.MethodDelete, Path: setting, Handle: s.delete},
		{Method: http.MethodPost, Path: "/multiget", Handle: s.multiget},
	}}
}

// setting is a setting as it is served.
type setting struct {
	name
	Value json.RawMessage `json:"value"`
}

// subjectOf returns the user whose settings a request is about, which is always the caller.
func subjectOf(r *http.Request) (string, error) {
	switch who := identity.From(r.Context()); who.Kind {
	case identity.User:
		return who.Subject, nil
	case identity.Guest:
		// All guests are the same user.
		return "", rest.NotAllowed("Guests have no stored settings; sign in")
	default:
		return "", rest.NotAllowed("Services have no stored settings; use the token of a user")
	}
}

// nameOf returns the user and the setting of a request.
func nameOf(r *http.Request) (string, name, error) {
	n := name{Bucket: r.PathValue("bucket"), Key: r.PathValue("key")}
	subject, err := subjectOf(r)
	if err == nil {
		err = n.check("")
	}
	return subject, n, err
}

// check refuses names that cannot be stored; in is where the name is given.
func (n name) check(in string) error {
	for _, part := range []struct{ what, text string }{{"bucket", n.Bucket}, {"key", n.Key}} {
		if err := rest.CheckText(in+part.what, part.text); err != nil {
			return err
		}
		if utf8.RuneCountInString(part.text) > maxName {
			return rest.Input("Invalid %s, it has more than %d characters", in+part.what, maxName)
		}
	}
	return nil
}

// get answers GET /buckets/{bucket}/keys/{key}.
func (s *Settings) get(w http.ResponseWriter, r *http.Request) error {
	subject, n, err := nameOf(r)
	if err != nil {
		return err
	}
	found, err := s.store.get(r.Context(), subject, []name{n})
	if err != nil {
		return err
	}
	value, ok := found[n]
	if !ok {
		return rest.NotFound("Unable to find '%s' in bucket '%s'", n.Key, n.Bucket)
	}
	return rest.WriteJSON(w, r, http.StatusOK, setting{n, value})
}

// put answers PUT /buckets/{bucket}/keys/{key}.
func (s *Settings) put(w http.ResponseWriter, r *http.Request) error {
	subject, n, err := nameOf(r)
	if err != nil {
		return err
	}
	value, err := readValue(r)
	if err != nil {
		return err
	}
	err = s.store.put(r.Context(), subject, n, value)
	if errors.Is(err, errTooMany) {
		return rest.Input("You have %d settings, which is the maximum; delete some first", maxKeys)
	}
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, setting{n, value})
}

// readValue reads the value of a request that stores a setting.
func readValue(r *http.Request) ([]byte, error) {
	data, err := rest.ReadBody(r)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(data) {
		return nil, rest.Input("request/body is not UTF-8")
	}
	var body struct {
		Value json.RawMessage `json:"value"`
	}
	if err := rest.DecodeJSON(data, &body); err != nil {
		return nil, err
	}
	if body.Value == nil {
		return nil, rest.Input(`Missing required field "value"`)
	}
	var value bytes.Buffer
	if err := json.Compact(&value, body.Value); err != nil {
		return nil, rest.Input("request/body/value is invalid: %s", err)
	}
	if value.Len() > maxValue {
		return nil, rest.TooLarge("The value has %d bytes, but may have %d", value.Len(), maxValue)
	}
	// Clients that read the value wrap it, and would fail at a value as deep as they can read.
	if _, err := (wire.Decoder{}).Decode(value.Bytes()); err != nil {
		return nil, rest.Input("request/body/value is invalid: %s", err)
	}
	return value.Bytes(), nil
}

// delete answers DELETE /buckets/{bucket}/keys/{key}. A setting that does not exist is
// deleted already.
func (s *Settings) delete(w http.ResponseWriter, r *http.Request) error {
	subject, n, err := nameOf(r)
	if err != nil {
		return err
	}
	if err := s.store.remove(r.Context(), subject, n); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// multiget answers POST /multiget: the values in the order of the request, null where
// there is none.
func (s *Settings) multiget(w http.ResponseWriter, r *http.Request) error {
	subject, err := subjectOf(r)
	if err != nil {
		return err
	}
	var body struct {
		Items []name `json:"items"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	if body.Items == nil {
		return rest.Input("request/body must have required property 'items'")
	}
	if len(body.Items) > maxItems {
		return rest.Input("request/body/items must have at most %d items", maxItems)
	}
	for _, n := range body.Items {
		if err := n.check("request/body/items/"); err != nil {
			return err
		}
	}
	found, err := s.store.get(r.Context(), subject, body.Items)
	if err != nil {
		return err
	}
	type item struct {
		Value json.RawMessage `json:"value"`
	}
	out := struct {
		Items []*item `json:"items"`
	}{Items: make([]*item, len(body.Items))}
	for i, n := range body.Items {
		if value, ok := found[n]; ok {
			out.Items[i] = &item{value}
		}
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}
