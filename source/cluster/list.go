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
	"example.dev/ingestor/xrd"
)

// listing is what is listed, and how.
type listing struct {
	Resource
	// labels and name narrow the list; empty does not.
	labels, name string
	// metadata asks for the objects' metadata alone.
	metadata bool
	// survey reads the answer as Items, and not as objects.
	survey bool
	// once makes each call once: whoever lists tries again.
	once bool
}

// page is one answer to a list, or several put together.
type page struct {
	// objects are what was listed; items are that for a survey.
	objects []*tree.Node
	items   []Item
	// spoilt are objects that could not be read.
	spoilt []spoilt
	// version is the list's, the same on each of its pages.
	version string
	// next is where the list goes on; empty at its end.
	next string
	// done, if not nil, is called when nobody needs the objects any more.
	done func()
}

// hand hands the page on, and ends it whatever happens.
func (p *page) hand(take func(page) error) error {
	defer p.end()
	return take(*p)
}

// end says that nobody needs the objects any more.
func (p *page) end() {
	if p.done != nil {
		p.done()
		p.done = nil
	}
}

// spoilt is an object that cannot be read, with its name as far as that can
// be told.
type spoilt struct {
	name string
	err  error
}

const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// list reads a whole list. What is returned with an error is what was read
// before it.
func (c *Cluster) list(ctx context.Context, l listing) (whole page, err error) {
	err = c.walk(ctx, l, func() { whole = page{} }, func(p page) error {
		whole.objects, whole.items = append(whole.objects, p.objects...), append(whole.items, p.items...)
		whole.spoilt, whole.version = append(whole.spoilt, p.spoilt...), p.version
		return nil
	})
	return whole, err
}

// walk reads a list page by page. When the server forgets the state the pages
// show before the last one is read, the list is begun anew; when it forgets
// that too, it is asked for in one piece. begin is called whenever the list
// begins; take has each page, and what it returns ends the walk if it is not
// nil.
func (c *Cluster) walk(ctx context.Context, l listing, begin func(), take func(page) error) error {
	for try, size := 0, c.opts.PageSize; ; try++ {
		begin()
		expired, err := c.pages(ctx, l, size, take)
		if !expired || size == 0 {
			return err
		}
		c.opts.Log.Debug("list expired, beginning anew", "resource", l.String())
		if try > 0 {
			size = 0
		}
	}
}

func (c *Cluster) pages(ctx context.Context, l listing, size int, take func(page) error) (expired bool, err error) {
	for next := ""; ; {
		p, err := c.page(ctx, l, size, next)
		if err != nil {
			status, ok := errors.AsType[*statusError](err)
			if len(p.objects)+len(p.items)+len(p.spoilt) > 0 {
				// It was cut off, and has something all the same.
				_ = take(p)
			}
			return ok && status.code == http.StatusGone, err
		}
		if err := p.hand(take); err != nil || p.next == "" {
			return false, err
		}
		if p.next == next {
			return false, c.explain(request{doing: "list " + l.String()}, &foreignError{"the list does not come to an end"})
		}
		next = p.next
	}
}

// page asks for one page. A page that ends before it is complete, although the
// server said it was, is asked for again like any other failure that passes.
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
		r.accept = metadataOnly
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
					// It may be asked for again, and others need not wait for that.
					p.end()
				}
			}()
		}
		reader, take := wire, p.take
		if l.survey {
			reader, take = briefly, p.skim
		}
		rest, err := reader.List(data, take)
		p.next, p.version = rest.Get("metadata", "continue").Str(), rest.Get("metadata", "resourceVersion").Str()
		if err != nil && !json.Valid(data) {
			return err
		}
		if err != nil || len(p.objects)+len(p.items)+len(p.spoilt) == 0 && !isEmptyList(data) {
			return &foreignError{"the answer is JSON, but not a list"}
		}
		if l.survey && p.version == "" {
			// It may be any server's, at any time: nothing can be concluded from what
			// it does not have.
			return &foreignError{"the list has no resourceVersion, as those of an API server do"}
		}
		return nil
	}
	err := c.call(ctx, r)
	return p, err
}

// take adds an object of a list.
func (p *page) take(raw string) {
	n, err := readObject(raw)
	if err != nil {
		p.spoilt = append(p.spoilt, spoilt{name: nameIn(raw), err: err})
		return
	}
	p.objects = append(p.objects, n)
}

// readObject reads an object as a server sends it.
func readObject(raw string) (*tree.Node, error) {
	n, err := wire.DecodeText(raw)
	switch {
	case err != nil:
		return nil, err
	case !n.IsMap():
		return nil, errors.New("it is not an object")
	case n.Get("metadata", "name").Str() == "":
		return nil, errNameless
	}
	return n, nil
}

// errNameless is an object that does not say which one it is.
var errNameless = errors.New("it has no name")

// isEmptyList reports whether an answer is a list without items, and not an
// object that never had any.
func isEmptyList(data []byte) bool {
	n, err := wire.Decode(data)
	if err != nil || !n.Has("items") {
		return false
	}
	items := n.Get("items")
	return items.IsList() || items.Kind == tree.Null
}

// nameIn finds the name of an object that cannot be read as a whole. It goes
// through it word by word: an object that is nested without end must not be
// the end of this program.
func nameIn(raw string) string {
	const most = 2
	// What is on the way to a word, by depth: the keys, and whether it is a map
	// and a key is next there.
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

// finding says what is wrong with an object that cannot be read. short is what
// people call its kind.
func (c *Cluster) finding(short string, s spoilt) finding.Finding {
	return finding.Finding{
		Rule: xrd.RuleSyntax, Severity: finding.Error, Object: s.name, File: c.Origin(short, "", s.name).File,
		Message: fmt.Sprintf("cannot read the object: %v", s.err), Hint: "the other objects of the cluster are read all the same",
	}
}

// findings is finding for several.
func (c *Cluster) findings(short string, bad []spoilt) []finding.Finding {
	var out []finding.Finding
	for _, s := range bad {
		out = append(out, c.finding(short, s))
	}
	return out
}
