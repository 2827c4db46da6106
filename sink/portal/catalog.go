package portal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"example.dev/ingestor/entity"
)

// Count returns how many entities the provider has.
func (p *Portal) Count(ctx context.Context) (int, error) {
	c := call{verb: "count entities in", method: http.MethodGet, path: "/api/catalog/providers", again: true}
	a, err := p.do(ctx, c)
	if err != nil {
		return 0, err
	}
	var list struct {
		Items []struct {
			Name     string `json:"name"`
			Entities int    `json:"entities"`
		} `json:"items"`
	}
	if err := a.decode(&list); err != nil {
		return 0, p.strange(c, a, err)
	}
	for _, item := range list.Items {
		if item.Name == p.opts.Provider {
			return item.Entities, nil
		}
	}
	return 0, nil
}

func (p *Portal) strange(c call, a answer, err error) error {
	return &Error{Problem: Strange, URL: p.base, Status: a.status, Err: err, verb: c.verb, name: p.opts.Name}
}

// ShrinkError is the error of a full push that would remove more than half of the
// provider's entities.
type ShrinkError struct {
	Provider string
	// Has is the number of entities before, and Pushed the number after the push.
	Has, Pushed int
}

// Error returns the message.
func (e *ShrinkError) Error() string {
	return fmt.Sprintf("%s has %d entities, and a full push of %d would remove more than half of them", e.Provider, e.Has, e.Pushed)
}

// Guard returns a *ShrinkError if a full push of so many entities would remove
// more than half of the provider's entities, as happens when a source was
// truncated.
func (p *Portal) Guard(ctx context.Context, entities int) error {
	has, err := p.Count(ctx)
	if err != nil {
		return err
	}
	if 2*entities < has {
		return &ShrinkError{Provider: p.opts.Provider, Has: has, Pushed: entities}
	}
	return nil
}

// Register registers the URL of a file of entities, which the portal then reads
// regularly. It reports whether the location already existed.
func (p *Portal) Register(ctx context.Context, address string) (existed bool, err error) {
	c := p.location("register a location in", address)
	c.good = []int{http.StatusConflict}
	a, err := p.do(ctx, c)
	if err != nil {
		return false, err
	}
	if a.status == http.StatusConflict {
		return true, nil
	}
	var made struct {
		Location *struct{} `json:"location"`
	}
	if err := a.decode(&made); err != nil || made.Location == nil {
		return false, p.strange(c, a, errors.New("response has no location"))
	}
	return false, nil
}

// Try makes the portal read a URL as a dry run of a registration, and returns the
// number of entities found. Nothing changes.
func (p *Portal) Try(ctx context.Context, address string) (int, error) {
	found, err := p.Find(ctx, address)
	return len(found), err
}

// Find makes the portal read a URL as Try does, and returns the references of the
// entities found, including that of the location itself.
func (p *Portal) Find(ctx context.Context, address string) ([]entity.Ref, error) {
	c := p.location("read a location with", address)
	c.query = url.Values{"dryRun": {"true"}}
	a, err := p.do(ctx, c)
	if err != nil {
		return nil, err
	}
	var found struct {
		Entities []struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Namespace string `json:"namespace"`
				Name      string `json:"name"`
			} `json:"metadata"`
		} `json:"entities"`
	}
	if err := a.decode(&found); err != nil {
		return nil, p.strange(c, a, err)
	}
	refs := make([]entity.Ref, len(found.Entities))
	for i, e := range found.Entities {
		refs[i] = entity.Ref{Kind: e.Kind, Namespace: e.Metadata.Namespace, Name: e.Metadata.Name}
	}
	return refs, nil
}

// Get returns the JSON at a path, such as /api/catalog/locations. The verb describes
// the request in errors, such as "read the locations of". A response that is too
// large is an *Error of ErrLarge.
func (p *Portal) Get(ctx context.Context, verb, path string, query url.Values) ([]byte, error) {
	c := call{verb: verb, method: http.MethodGet, path: path, query: query, again: true}
	a, err := p.do(ctx, c)
	if err != nil {
		return nil, err
	}
	if !json.Valid(a.body) {
		return nil, p.strange(c, a, errors.New("response is not JSON"))
	}
	return a.body, nil
}

// Post sends a text to a path for an answer in JSON, and changes nothing there. The verb
// describes the request in errors, and media is the type of the text.
func (p *Portal) Post(ctx context.Context, verb, path string, query url.Values, media string, text []byte) ([]byte, error) {
	c := call{verb: verb, method: http.MethodPost, path: path, query: query, again: true, body: func() (body, error) {
		return body{ReadCloser: io.NopCloser(bytes.NewReader(text)), media: media, sent: func() bool { return true }}, nil
	}}
	a, err := p.do(ctx, c)
	if err != nil {
		return nil, err
	}
	if !json.Valid(a.body) {
		return nil, p.strange(c, a, errors.New("response is not JSON"))
	}
	return a.body, nil
}

// location returns a call for the location of a URL.
func (p *Portal) location(verb, address string) call {
	return call{
		verb: verb, method: http.MethodPost, path: "/api/catalog/locations", again: true,
		body: func() (body, error) {
			text, err := json.Marshal(map[string]string{"type": "url", "target": address})
			return body{ReadCloser: io.NopCloser(bytes.NewReader(text)), media: "application/json", sent: func() bool { return true }}, err
		},
	}
}
