package query

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// answer is what a catalog answers to a request and to the pages that follow. Its
// fields are exported for go-cmp.
type answer struct {
	// Refused reports a status of 4xx, or an exception of the in-memory client. The message
	// is not compared.
	Refused bool
	Pages   []page
	Facets  map[string][]facet
	message string
}

// page is a page of entities.
type page struct {
	Refs []string
	// Parts are the entities with the fields of the request only.
	Parts []string
	Total int
	// Next and Previous report whether there are cursors.
	Next, Previous bool

	next, previous string
}

type facet struct {
	Value string
	Count int
}

// refs returns the references on the first page.
func (a *answer) refs() []string {
	if len(a.Pages) == 0 {
		return nil
	}
	return a.Pages[0].Refs
}

// diff returns the difference between a judge's answer and ours, empty if there is none.
func diff(judge, ours *answer) string {
	return cmp.Diff(judge, ours, cmp.Transformer("public", public), ignoreEmpty)
}

// public returns what is compared.
func public(a *answer) [3]any {
	pages := slices.Clone(a.Pages)
	for i := range pages {
		pages[i].next, pages[i].previous = "", ""
	}
	return [3]any{a.Refused, pages, a.Facets}
}

var ignoreEmpty = cmp.Options{
	cmp.AllowUnexported(page{}),
	cmp.Transformer("slice", func(s []string) []string {
		if len(s) == 0 {
			return nil
		}
		return s
	}),
}

// same reports whether the answers are equal. It is faster than diff.
func same(a, b *answer) bool {
	samePage := func(a, b page) bool {
		return slices.Equal(a.Refs, b.Refs) && slices.Equal(a.Parts, b.Parts) && a.Total == b.Total && a.Next == b.Next && a.Previous == b.Previous
	}
	return a.Refused == b.Refused && slices.EqualFunc(a.Pages, b.Pages, samePage) && maps.EqualFunc(a.Facets, b.Facets, slices.Equal[[]facet])
}

// catalog answers requests.
type catalog func(context.Context, *request) (*answer, error)

// ours asks the portal.
func (w *world) ours(ctx context.Context, r *request) (*answer, error) {
	return w.http(ctx, w.portal+"/api/catalog", r)
}

// real asks the real catalog.
func (w *world) real(ctx context.Context, r *request) (*answer, error) {
	return w.http(ctx, w.judge+"/real", r)
}

// http asks a catalog over HTTP.
func (w *world) http(ctx context.Context, base string, r *request) (*answer, error) {
	method, path, body := r.http()
	a, err := w.read(ctx, method, base+path, body, r)
	return a, w.turn(a, err, r, func(cursor string) (*answer, error) {
		v := url.Values{"cursor": {cursor}}
		if r.form == list {
			return w.read(ctx, http.MethodGet, base+"/entities?"+cursor, nil, r)
		}
		part := request{form: r.form, limit: r.limit, fields: r.fields}
		method, path, body := part.http()
		if r.form == byQuery {
			return w.read(ctx, method, base+path+"&"+v.Encode(), nil, r)
		}
		b := map[string]any{}
		if err := json.Unmarshal(body, &b); err != nil {
			return nil, err
		}
		b["cursor"] = cursor
		return w.read(ctx, method, base+path, encode(b), r)
	})
}

// memory asks the in-memory client.
func (w *world) memory(ctx context.Context, r *request) (*answer, error) {
	method, arg := r.memory()
	ask := func(arg map[string]any) (*answer, error) {
		return w.read(ctx, http.MethodPost, w.judge+"/memory/"+method, encode(arg), r)
	}
	a, err := ask(arg)
	if r.form == list {
		// It has no cursors for lists.
		return a, err
	}
	return a, w.turn(a, err, r, func(cursor string) (*answer, error) {
		next := map[string]any{"cursor": cursor, "limit": arg["limit"]}
		if r.fields != nil {
			next["fields"] = r.fields
		}
		return ask(next)
	})
}

// turn turns the pages of the first answer a, and appends them to it. At an end it stays
// on the page.
func (w *world) turn(a *answer, err error, r *request, read func(cursor string) (*answer, error)) error {
	if err != nil || len(a.Pages) == 0 {
		return err
	}
	for _, forward := range r.forward {
		at := a.Pages[len(a.Pages)-1]
		cursor := at.previous
		if forward {
			cursor = at.next
		}
		if cursor == "" {
			continue
		}
		b, err := read(cursor)
		if err != nil {
			return err
		}
		if b.Refused {
			return fmt.Errorf("cursor was refused: %s", b.message)
		}
		a.Pages = append(a.Pages, b.Pages...)
	}
	return nil
}

// read sends a request and decodes the answer.
func (w *world) read(ctx context.Context, method, url string, body []byte, r *request) (*answer, error) {
	media := ""
	if body != nil {
		media = "application/json"
	}
	got, err := w.call(ctx, method, url, media, body)
	switch {
	case err != nil:
		return nil, err
	case got.status >= 400 && got.status < 500, got.status == http.StatusInternalServerError && strings.HasPrefix(url, w.judge+"/memory/"):
		return &answer{Refused: true, message: string(got.body)}, nil
	case got.status != http.StatusOK:
		return nil, fmt.Errorf("%s: got %d %s", url, got.status, got.body)
	}
	a := &answer{}
	if r.isFacets() {
		err = json.Unmarshal(got.body, a)
		return a, err
	}
	var out struct {
		Items      []map[string]any
		TotalItems int
		PageInfo   struct{ NextCursor, PrevCursor string }
	}
	to := any(&out)
	if strings.HasPrefix(string(got.body), "[") {
		to = &out.Items
	}
	if err := json.Unmarshal(got.body, to); err != nil {
		return nil, fmt.Errorf("cannot decode the answer to %s: %w", url, err)
	}
	p := page{Refs: []string{}, Total: out.TotalItems, next: out.PageInfo.NextCursor, previous: out.PageInfo.PrevCursor}
	if address, _, ok := strings.Cut(got.link, ">"); ok {
		_, p.next, _ = strings.Cut(address, "?")
	}
	p.Next, p.Previous = p.next != "", p.previous != ""
	for _, e := range out.Items {
		p.Refs = append(p.Refs, refOf(e))
		if r.fields != nil {
			p.Parts = append(p.Parts, string(encode(e)))
		}
	}
	a.Pages = []page{p}
	return a, nil
}
