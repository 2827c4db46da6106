package cluster

import (
	"context"
	"errors"

	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

var _ source.Walker = (*Source)(nil)

// Walk passes the definitions of the clusters, and nothing else, to yield, one
// cluster after the other. It holds no more than two pages of a list at a time. A
// definition that is served in several versions is passed once.
func (s *Source) Walk(ctx context.Context, yield func(xrd.Found) bool) error {
	var errs []error
	for _, c := range s.clusters {
		w := &walking{reading: reading{Cluster: c, opts: s.opts, seen: map[string]bool{}}, yield: yield}
		w.run(ctx)
		err := errors.Join(w.errs...)
		if s.done != nil {
			s.done(Status{Cluster: c.name, URL: c.way.URL, Lists: w.lists, Known: w.known && !w.enough, Definitions: w.handed, Err: err})
		}
		errs = append(errs, err)
		if w.enough || ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// walking is the Walk of one cluster.
type walking struct {
	reading
	yield func(xrd.Found) bool
	// handed counts the definitions passed to yield.
	handed int
	// enough says that yield wants no more.
	enough bool
}

// errEnough ends a list when yield wants no more.
var errEnough = errors.New("stopped reading")

func (w *walking) run(ctx context.Context) {
	apis, err := w.APIs(ctx)
	w.known = err == nil
	w.note(err)
	for _, api := range apis {
		for _, l := range w.listings(api.DefinitionsResource()) {
			err := w.walk(ctx, l, func() {}, func(p page) error { return w.take(api, p) })
			if w.enough {
				return
			}
			if w.note(err) {
				w.lists++
				continue
			}
			w.known = false
		}
	}
}

// note records an error, and reports whether there is none.
func (w *walking) note(err error) bool {
	if err != nil {
		w.errs = append(w.errs, err)
	}
	return err == nil
}

// take passes on the definitions of a page.
func (w *walking) take(api API, p page) error {
	for _, n := range p.objects {
		Settle(n, api)
		d := xrd.NewDefinition(n, w.Origin(ShortDefinition, "", n.Get("metadata", "name").Str()))
		if w.first(api.Group+"/"+d.Name) && !w.offer(xrd.Found{Definition: d, Record: xrd.NewRecord(d)}) {
			return errEnough
		}
	}
	for _, s := range p.unreadable {
		f := w.finding(ShortDefinition, s)
		if w.first(api.Group+"/"+s.name) && !w.offer(xrd.Found{Finding: &f}) {
			return errEnough
		}
	}
	return nil
}

// first reports whether a key occurs for the first time: a list that is restarted, or
// another list of the same kind, may contain it again.
func (w *walking) first(key string) bool {
	if w.seen[key] {
		return false
	}
	w.seen[key] = true
	return true
}

// offer calls yield, and reports whether more is wanted.
func (w *walking) offer(f xrd.Found) bool {
	w.enough = !w.yield(f)
	if f.Definition != nil {
		w.handed++
	}
	return !w.enough
}
