// Package kube reads and watches a cluster: definitions with the objects that belong to
// them, and workloads.
package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/ingestion/listing"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/source/cluster"
)

// definitions reads the definitions of a cluster and the objects that belong to them.
type definitions struct {
	*scan.Target
	cluster *cluster.Cluster
	*Share
	// served passes the lists that the last scan found to the watcher.
	served chan []listing.List
	// dropped contains the names of lists that a scan has dropped: their watches must be
	// restarted.
	dropped sync.Map
}

// Definitions lets a target read and watch the definitions of a cluster.
func Definitions(t *scan.Target, c *cluster.Cluster, share *Share) {
	d := &definitions{Target: t, cluster: c, Share: share, served: make(chan []listing.List, 1)}
	t.Read, t.Watch = d.read, d.watch
}

// atOnce is how many lists of a cluster are read concurrently.
const atOnce = 4

// read reads all lists of the cluster. It returns an error if it cannot find out which
// lists there are.
func (d *definitions) read(ctx context.Context, sc *scan.Scan) error {
	s := &listing.Reader{Scan: sc, Cluster: d.cluster}
	lists, err := d.Mirror.Lists(ctx, d.Name)
	if err != nil {
		return err
	}
	apis, err := d.cluster.APIs(ctx)
	if err != nil && len(apis) == 0 {
		return err
	}
	fixed := d.fixed(apis)
	d.tell(fixed)
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, l := range fixed {
		group.Go(func() error {
			s.Read(ctx, l)
			return nil
		})
	}
	_ = group.Wait()
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	if err := s.Remove(ctx); err != nil {
		return err
	}
	d.Reached("read kinds", d.Name)
	objects, err := d.Mirror.SourceObjects(ctx, d.Name)
	if err != nil {
		return err
	}
	for i := range objects {
		if o := &objects[i]; strings.HasPrefix(o.List, object.ListDefinitions) {
			s.Count(o.Unit, object.NoteOf(o).Refused, object.WordsOf(o.List))
		}
	}
	s.Definers = definersOf(objects)
	if err := d.composites(ctx, s, d.kindsOf(objects)); err != nil {
		return err
	}
	if err := s.Remove(ctx); err != nil {
		return err
	}
	d.tell(fixed)
	return d.forget(ctx, s, lists)
}

// forget drops those of the lists known before the scan that no longer exist, because
// no definition defines their kind any more. It does nothing if definitions could not
// be read. Lists that another process began to read in the meantime are kept.
func (d *definitions) forget(ctx context.Context, s *listing.Reader, lists []string) error {
	for name, l := range s.Lists {
		if strings.HasPrefix(name, object.ListDefinitions) && l.Err != nil {
			return nil
		}
	}
	if err := d.missed(ctx, s, lists); err != nil {
		return err
	}
	var gone []string
	for _, name := range lists {
		if _, read := s.Lists[name]; !read {
			gone = append(gone, name)
			d.dropped.Store(name, true)
		}
	}
	d.Reached("drop lists", d.Name)
	dirty, err := d.Mirror.DropLists(ctx, d.Name, gone)
	s.AddDirty(dirty)
	return err
}

// missed records the lists of definitions and Compositions that are no longer served.
// What happened to their objects is unknown.
func (d *definitions) missed(ctx context.Context, s *listing.Reader, lists []string) error {
	for _, name := range lists {
		role, of, _ := strings.Cut(name, " ")
		if role += " "; role != object.ListDefinitions && (role != object.ListCompositions || d.Variant.NoCompositions) {
			continue
		}
		if _, read := s.Lists[name]; read {
			continue
		}
		objects, err := d.Mirror.Known(ctx, d.Name, name)
		if err != nil {
			return err
		}
		s.Ended(name, scan.Result{Count: len(objects), Err: s.Absent(of)})
	}
	return nil
}

// tell passes the lists to the watcher, which starts to watch those that were not
// served when it started, such as Compositions while Crossplane was being installed.
func (d *definitions) tell(lists []listing.List) {
	select {
	case <-d.served:
	default:
	}
	select {
	case d.served <- lists:
	default:
	}
}

// fixed returns the lists of definitions and Compositions.
func (d *definitions) fixed(apis []cluster.API) []listing.List {
	var out []listing.List
	for _, api := range apis {
		out = append(out, d.definitionList(api))
		if len(api.Compositions) > 0 && !d.Variant.NoCompositions {
			out = append(out, d.compositionList(api.CompositionsResource()))
		}
	}
	return out
}

func (d *definitions) definitionList(api cluster.API) listing.List {
	res := api.DefinitionsResource()
	return listing.List{
		Name: object.ListDefinitions + res.String(), Resource: res,
		Labels: d.Variant.Required().Pushed(), Refuse: func(item cluster.Item) string { return d.Variant.RefuseAt(res, item) },
		Object: func(n *tree.Node) mirror.Object {
			cluster.Settle(n, api)
			return d.Variant.Definition(n, d.cluster.Origin(cluster.ShortDefinition, "", name(n)))
		},
	}
}

func (d *definitions) compositionList(res cluster.Resource) listing.List {
	return listing.List{
		Name: object.ListCompositions + res.String(), Resource: res, Labels: all, Refuse: never,
		Object: func(n *tree.Node) mirror.Object {
			return object.FromComposition(n, d.cluster.Origin(cluster.ShortComposition, "", name(n)))
		},
	}
}

func (d *definitions) compositeList(k cluster.Kind) listing.List {
	return listing.List{
		Name: object.ListComposites + k.String(), Resource: k.Resource, Labels: all, Refuse: never,
		Object: func(n *tree.Node) mirror.Object {
			// Items of a list may lack apiVersion and kind.
			n.Set("apiVersion", tree.Str(k.Group+"/"+k.Version))
			n.Set("kind", tree.Str(k.Kind))
			if in := n.Get("spec", "claimRef", "namespace").Str(); in != "" && len(d.Variant.Namespaces) > 0 && !slices.Contains(d.Variant.Namespaces, in) {
				return object.Refused(fmt.Sprintf("claim is in namespace %q, which is not read", in))
			}
			return object.FromComposite(n, d.cluster.Origin(k.Plural, n.Get("metadata", "namespace").Str(), name(n)))
		},
	}
}

// all is the label selector that matches everything.
var all = []string{""}

// never refuses no object.
func never(cluster.Item) string { return "" }

// kinds returns the kinds that the selected definitions define, by the names of their
// lists. The map is empty if composites are not read.
func (d *definitions) kinds(ctx context.Context) (map[string]cluster.Kind, error) {
	objects, err := d.Mirror.SourceObjects(ctx, d.Name)
	return d.kindsOf(objects), err
}

// kindsOf returns the kinds that the definitions among objects define.
func (d *definitions) kindsOf(objects []mirror.Object) map[string]cluster.Kind {
	out := map[string]cluster.Kind{}
	if d.Variant.NoComposites {
		return out
	}
	for i := range objects {
		if !strings.HasPrefix(objects[i].List, object.ListDefinitions) {
			continue
		}
		for _, k := range object.NoteOf(&objects[i]).Kinds {
			out[object.ListComposites+k.String()] = k
		}
	}
	return out
}

// composites reads composites and claims. A kind that is not served cannot be listed:
// if objects of it are known, what happened to them is unknown.
func (d *definitions) composites(ctx context.Context, s *listing.Reader, kinds map[string]cluster.Kind) error {
	if len(kinds) == 0 {
		return nil
	}
	served, err := d.cluster.Served(ctx)
	if err != nil {
		for name := range kinds {
			s.Ended(name, scan.Result{Err: err})
		}
		return nil
	}
	lists, err := d.Mirror.Lists(ctx, d.Name)
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(lists))
	for _, name := range lists {
		known[name] = true
	}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for name, k := range kinds {
		if !served.Has(k.Resource) {
			if !known[db.Storable(name)] {
				s.Ended(name, scan.Result{Unserved: true})
				continue
			}
			if err := d.unserved(ctx, s, name, k); err != nil {
				return err
			}
			continue
		}
		group.Go(func() error {
			s.Read(ctx, d.compositeList(k))
			return nil
		})
	}
	return group.Wait()
}

func (d *definitions) unserved(ctx context.Context, s *listing.Reader, name string, k cluster.Kind) error {
	known, err := d.Mirror.Known(ctx, d.Name, name)
	if err != nil {
		return err
	}
	l := scan.Result{Count: len(known), Unserved: true}
	if len(known) > 0 {
		l.Err = s.Absent(k.Resource.String())
	}
	s.Ended(name, l)
	return nil
}

// definersOf returns the definitions among objects by the name of the list of
// composites whose kind they define.
func definersOf(objects []mirror.Object) map[string][]string {
	out := map[string][]string{}
	for i := range objects {
		o := &objects[i]
		if !strings.HasPrefix(o.List, object.ListDefinitions) {
			continue
		}
		for _, k := range object.NoteOf(o).Kinds {
			name := object.ListComposites + k.String()
			out[name] = append(out[name], o.Unit)
		}
	}
	return out
}

func name(n *tree.Node) string { return n.Get("metadata", "name").Str() }
