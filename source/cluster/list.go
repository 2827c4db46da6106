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

	"example.dev/ingestor/tree"
)

// listing is what is listed, and how.
type listing struct {
	Resource
	// labels and name narrow the list; empty does not.
	labels, name string
	// metadata asks for the objects' metadata alone.
	metadata bool
}

// page is one answer to a list.
type page struct {
	items []*tree.Node
	// spoilt are items that could not be read.
	spoilt []spoilt
	// next is where the list goes on; empty at its end.
	next string
}

// spoilt is an object that cannot be read, with its name as far as that can
// be told.
type spoilt struct {
	name string
	err  error
}

const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// list reads a whole list, page by page. When the server forgets the state the
// pages show before the last one is read, the list is begun anew; when it
// forgets that too, it is asked for in one piece. What is returned with an
// error is what was read before it.
func (c *Cluster) list(ctx context.Context, l listing) (items []*tree.Node, bad []spoilt, err error) {
	for try, size := 0, c.opts.PageSize; ; try++ {
		items, bad, err = c.pages(ctx, l, size)
		status, ok := errors.AsType[*statusError](err)
		if !ok || status.code != http.StatusGone || size == 0 {
			return items, bad, err
		}
		c.opts.Log.Debug("list expired, beginning anew", "resource", l.String())
		if try > 0 {
			size = 0
		}
	}
}

func (c *Cluster) pages(ctx context.Context, l listing, size int) (items []*tree.Node, bad []spoilt, err error) {
	for next := ""; ; {
		p, err := c.page(ctx, l, size, next)
		items, bad = append(items, p.items...), append(bad, p.spoilt...)
		if err != nil || p.next == "" {
			return items, bad, err
		}
		if p.next == next {
			return items, bad, c.explain(request{doing: "list " + l.String()}, &foreignError{"the list does not come to an end"})
		}
		next = p.next
	}
}

// page asks for one page. A page that ends before it is complete, although the
// server said it was, is asked for again like any other failure that passes.
func (c *Cluster) page(ctx context.Context, l listing, size int, next string) (page, error) {
	r := request{doing: "list " + l.String(), path: l.path(), query: url.Values{}, needs: permission(l.Resource, "list")}
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
	r.read = func(data []byte) error {
		p = page{}
		rest, err := wire.List(data, p.take)
		p.next = rest.Get("metadata", "continue").Str()
		if err != nil && !json.Valid(data) {
			return err
		}
		if err != nil || len(p.items)+len(p.spoilt) == 0 && !isEmptyList(data) {
			return &foreignError{"the answer is JSON, but not a list"}
		}
		return nil
	}
	err := c.call(ctx, r)
	return p, err
}

// take adds an item of a list.
func (p *page) take(raw string) {
	n, err := wire.DecodeText(raw)
	switch {
	case err != nil:
	case !n.IsMap():
		err = errors.New("it is not an object")
	case n.Get("metadata", "name").Str() == "":
		err = errors.New("it has no name")
	}
	if err != nil {
		p.spoilt = append(p.spoilt, spoilt{name: nameIn(raw), err: err})
		return
	}
	p.items = append(p.items, n)
}

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

// message says what is wrong with an object that cannot be read.
func (s spoilt) message() string { return fmt.Sprintf("cannot read the object: %v", s.err) }
