package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/xrd"
)

// listing is what to list, and how.
type listing struct {
	Resource
	// labels and name restrict the list unless they are empty.
	labels, name string
	// metadata requests only the metadata of the objects.
	metadata bool
	// managed keeps what xrd.Written reads of managedFields, which are left out otherwise.
	managed bool
	// survey decodes the response as Items instead of objects.
	survey bool
	// once disables retries, because the caller retries.
	once bool
}

// page is one page of a list, or several combined.
type page struct {
	// objects are the listed objects; for a survey, items are used instead.
	objects []*tree.Node
	items   []Item
	// unreadable are objects that could not be decoded.
	unreadable []unreadable
	// version is the resource version of the list, the same on each of its pages.
	version string
	// next is the continue token; empty at the end of the list.
	next string
	// done, if not nil, is called when the objects are no longer needed.
	done func()
}

// hand passes the page to take, and releases it in any case.
func (p *page) hand(take func(page) error) error {
	defer p.end()
	return take(*p)
}

// end says that the objects are no longer needed.
func (p *page) end() {
	if p.done != nil {
		p.done()
		p.done = nil
	}
}

// unreadable is an object that cannot be decoded, with its name if that can be found.
type unreadable struct {
	name string
	err  error
}

// MetadataOnly and ObjectMetadataOnly are the media types of a list, and of an object, with
// nothing but metadata.
const (
	MetadataOnly       = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
	ObjectMetadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
)

// list reads a whole list. If there is an error, it returns what was read before it.
func (c *Cluster) list(ctx context.Context, l listing) (whole page, err error) {
	err = c.walk(ctx, l, func() { whole = page{} }, func(p page) error {
		whole.objects, whole.items = append(whole.objects, p.objects...), append(whole.items, p.items...)
		whole.unreadable, whole.version = append(whole.unreadable, p.unreadable...), p.version
		return nil
	})
	return whole, err
}

// walk reads a list page by page. If its continue token expires before the last page,
// the list is restarted; if that expires too, it is requested in one piece. begin is
// called whenever the list starts; take gets each page, and an error that it returns
// ends the walk.
func (c *Cluster) walk(ctx context.Context, l listing, begin func(), take func(page) error) error {
	for try, size := 0, c.opts.PageSize; ; try++ {
		begin()
		expired, err := c.pages(ctx, l, size, take)
		if !expired || size == 0 {
			return err
		}
		c.opts.Log.Debug("list expired, restarting", "resource", l.String())
		if try > 0 {
			size = 0
		}
	}
}

// pages reads a list once, and requests each page while take has the one before it.
func (c *Cluster) pages(ctx context.Context, l listing, size int, take func(page) error) (expired bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	next, coming := "", c.request(ctx, l, size, "")
	defer func() {
		cancel()
		if coming != nil {
			// The page that was requested last is not taken.
			unwanted := <-coming
			unwanted.page.end()
		}
	}()
	for {
		p, err := (<-coming).result()
		coming = nil
		if err != nil {
			status, ok := errors.AsType[*statusError](err)
			if len(p.objects)+len(p.items)+len(p.unreadable) > 0 {
				// The response was cut off, but contains some objects.
				_ = take(p)
			}
			return ok && status.code == http.StatusGone, err
		}
		endless := p.next == next
		if next = p.next; next != "" && !endless {
			coming = c.request(ctx, l, size, next)
		}
		if err := p.hand(take); err != nil || next == "" {
			return false, err
		}
		if endless {
			return false, c.explain(request{doing: "list " + l.String()}, &foreignError{"the list does not end"})
		}
	}
}

// requested is a page, or why there is none.
type requested struct {
	page     page
	err      error
	panicked any
}

// result returns the page. A panic while it was read continues in this goroutine, whose
// callers expect it.
func (r requested) result() (page, error) {
	if r.panicked != nil {
		panic(r.panicked)
	}
	return r.page, r.err
}

// request requests one page in a new goroutine.
func (c *Cluster) request(ctx context.Context, l listing, size int, next string) <-chan requested {
	out := make(chan requested, 1)
	go func() {
		var r requested
		defer func() {
			r.panicked = recover()
			out <- r
		}()
		r.page, r.err = c.page(ctx, l, size, next)
	}()
	return out
}

// page requests one page. A page that is incomplete, although the server said it was
// complete, is retried like any other temporary failure.
func (c *Cluster) page(ctx context.Context, l listing, size int, next string) (page, error) {
	r := request{doing: "list " + l.String(), path: l.path(), query: url.Values{}, once: l.once, needs: permission(l.Resource, "list")}
	if size > 0 {
		r.query.Set("limit", strconv.Itoa(size))
	}
	if next != "" {
		r.query.Set("continue", next)
	}
	if l.labels != "" {
		r.query.Set("labelSelector", l.labels)
	}
	if l.name != "" {
		r.query.Set("fieldSelector", "metadata.name="+l.name)
	}
	if l.metadata {
		r.accept = MetadataOnly
	}
	var p page
	r.read = func(data []byte) (err error) {
		p = page{}
		if !l.survey {
			if p.done, err = c.opts.Decoding.enter(ctx); err != nil {
				return err
			}
			defer func() {
				if err != nil {
					// A retry may follow, and other callers need not wait for it.
					p.end()
				}
			}()
		}
		reader := responses
		take := func(raw string) { p.take(responses, raw) }
		if l.managed {
			// The list has null for what is left out; a decoder that leaves it out too would
			// remove the keys.
			reader, take = written, func(raw string) { p.take(wire.Decoder{}, raw) }
		}
		if l.survey {
			reader, take = briefly, p.skim
		}
		rest, err := reader.List(data, take)
		p.next, p.version = rest.Get("metadata", "continue").Str(), rest.Get("metadata", "resourceVersion").Str()
		if err != nil && !json.Valid(data) {
			return err
		}
		if err != nil || len(p.objects)+len(p.items)+len(p.unreadable) == 0 && !isEmptyList(data) {
			return &foreignError{"response is JSON, but not a list"}
		}
		if l.survey && p.version == "" {
			// It may be from any server at any time: nothing can be concluded from what it
			// does not contain.
			return &foreignError{"the list has no resourceVersion, which every API server sets"}
		}
		return nil
	}
	err := c.call(ctx, r)
	return p, err
}

// take adds an object of a list.
func (p *page) take(reader wire.Decoder, raw string) {
	n, err := readObject(reader, raw)
	if err != nil {
		p.unreadable = append(p.unreadable, unreadable{name: nameIn(raw), err: err})
		return
	}
	p.objects = append(p.objects, n)
}

// readObject decodes an object as a server sends it.
func readObject(reader wire.Decoder, raw string) (*tree.Node, error) {
	n, err := reader.DecodeText(raw)
	switch {
	case err != nil:
		return nil, err
	case !n.IsMap():
		return nil, errors.New("not an object")
	case n.Get("metadata", "name").Str() == "":
		return nil, errNameless
	}
	return n, nil
}

// errNameless is returned for an object without a name.
var errNameless = errors.New("metadata.name is missing")

// isEmptyList reports whether a response is a list without items, rather than an
// object that is not a list.
func isEmptyList(data []byte) bool {
	n, err := responses.Decode(data)
	if err != nil || !n.Has("items") {
		return false
	}
	items := n.Get("items")
	return items.IsList() || items.Kind == tree.Null
}

// nameIn finds the name of an object that cannot be decoded as a whole. It reads
// token by token, because infinitely nested objects must not crash the program.
func nameIn(raw string) string {
	const most = 2
	// The path to a token, by depth: the keys, and whether it is a map and the next
	// token there is a key.
	var keys [most + 1]string
	var isMap, isKey [most + 1]bool
	d, depth := json.NewDecoder(strings.NewReader(raw)), 0
	for word, err := d.Token(); err == nil; word, err = d.Token() {
		switch delim, ok := word.(json.Delim); {
		case ok && (delim == '{' || delim == '['):
			if depth++; depth <= most {
				keys[depth], isMap[depth], isKey[depth] = "", delim == '{', true
			}
			continue
		case ok:
			depth--
		}
		if depth < 1 || depth > most || !isMap[depth] {
			continue
		}
		text, _ := word.(string)
		if isKey[depth] {
			keys[depth], isKey[depth] = text, false
			continue
		}
		if depth == most && keys == [...]string{"", "metadata", "name"} && text != "" {
			return text
		}
		isKey[depth] = true
	}
	return "an object without a readable name"
}

// finding returns a finding about an object that cannot be decoded. short is the
// short name of its kind.
func (c *Cluster) finding(short string, s unreadable) finding.Finding {
	return finding.Finding{
		Rule: xrd.RuleSyntax, Severity: finding.Error, Object: s.name, File: c.Origin(short, "", s.name).File,
		Message: fmt.Sprintf("cannot read the object: %v", s.err), Hint: "fix the object; other objects of the cluster are still read",
	}
}

// findings is finding for several objects.
func (c *Cluster) findings(short string, bad []unreadable) []finding.Finding {
	var out []finding.Finding
	for _, s := range bad {
		out = append(out, c.finding(short, s))
	}
	return out
}
