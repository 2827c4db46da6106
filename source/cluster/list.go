package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

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
		rest, err := wire.List(data, func(raw []byte) {
			n, err := wire.Decode(raw)
			if err != nil {
				p.spoilt = append(p.spoilt, spoilt{name: nameIn(raw), err: err})
				return
			}
			p.items = append(p.items, n)
		})
		p.next = rest.Get("metadata", "continue").Str()
		return err
	}
	err := c.call(ctx, r)
	return p, err
}

// nameIn finds the name of an object that cannot be read as a whole, by
// looking at no more than its metadata.
func nameIn(raw []byte) string {
	name := "an object without a readable name"
	shallow := tree.Wire{Limits: tree.Limits{Bytes: len(raw), Depth: 1 << 20}, Omit: wire.Omit}
	if n, err := shallow.Decode(raw); err == nil {
		name = n.Get("metadata", "name").Str()
	}
	return name
}

// message says what is wrong with an object that cannot be read.
func (s spoilt) message() string { return fmt.Sprintf("cannot read the object: %v", s.err) }
