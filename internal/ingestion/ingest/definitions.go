package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"example.dev/ingestor/xrd/selector"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// The prefixes of list names; the resource follows.
const (
	listDefinitions  = "definitions "
	listCompositions = "compositions "
	listComposites   = "composites "
	listWorkloads    = "workloads "
	listFolder       = "files"
)

// definitions reads the definitions of a cluster and the objects that belong to them.
type definitions struct {
	*target
	cluster *cluster.Cluster
	// served passes the lists that the last scan found to the watcher.
	served chan []list
	// dropped contains the names of lists that a scan has dropped: their watches must be
	// restarted.
	dropped sync.Map
}

// atOnce is how many lists of a cluster are read concurrently.
const atOnce = 4

// scan reads all lists of the cluster. It returns an error if it cannot find out which
// lists there are.
func (d *definitions) scan(ctx context.Context, s *scan) error {
	lists, err := d.variant.in.Mirror.Lists(ctx, d.name)
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
			s.read(ctx, d.cluster, l)
			return nil
		})
	}
	_ = group.Wait()
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	if err := s.remove(ctx); err != nil {
		return err
	}
	d.variant.in.reached("read kinds", d.name)
	objects, err := d.variant.in.Mirror.SourceObjects(ctx, d.name)
	if err != nil {
		return err
	}
	for i := range objects {
		if o := &objects[i]; strings.HasPrefix(o.List, listDefinitions) {
			s.picks.add(o.Unit, noteOf(o).Refused, wordsOf(o.List))
		}
	}
	s.givers = giversOf(objects)
	if err := d.composites(ctx, s, d.kindsOf(objects)); err != nil {
		return err
	}
	if err := s.remove(ctx); err != nil {
		return err
	}
	d.tell(fixed)
	return d.forget(ctx, s, lists)
}

// forget drops those of the lists known before the scan that no longer exist, because
// no definition defines their kind any more. It does nothing if definitions could not
// be read. Lists that another process began to read in the meantime are kept.
func (d *definitions) forget(ctx context.Context, s *scan, lists []string) error {
	for name, l := range s.lists {
		if strings.HasPrefix(name, listDefinitions) && l.err != nil {
			return nil
		}
	}
	if err := d.missed(ctx, s, lists); err != nil {
		return err
	}
	var gone []string
	for _, name := range lists {
		if _, read := s.lists[name]; !read {
			gone = append(gone, name)
			d.dropped.Store(name, true)
		}
	}
	d.variant.in.reached("drop lists", d.name)
	dirty, err := d.variant.in.Mirror.DropLists(ctx, d.name, gone)
	s.dirty += dirty
	return err
}

// missed records the lists of definitions and Compositions that are no longer served.
// What happened to their objects is unknown.
func (d *definitions) missed(ctx context.Context, s *scan, lists []string) error {
	for _, name := range lists {
		role, of, _ := strings.Cut(name, " ")
		if role += " "; role != listDefinitions && (role != listCompositions || d.variant.NoCompositions) {
			continue
		}
		if _, read := s.lists[name]; read {
			continue
		}
		objects, err := d.variant.in.Mirror.Known(ctx, d.name, name)
		if err != nil {
			return err
		}
		s.ended(name, listed{count: len(objects), err: s.absent(of)})
	}
	return nil
}

// tell passes the lists to the watcher, which starts to watch those that were not
// served when it started, such as Compositions while Crossplane was being installed.
func (d *definitions) tell(lists []list) {
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
func (d *definitions) fixed(apis []cluster.API) []list {
	var out []list
	for _, api := range apis {
		out = append(out, d.definitionList(api))
		if len(api.Compositions) > 0 && !d.variant.NoCompositions {
			out = append(out, d.compositionList(api.CompositionsResource()))
		}
	}
	return out
}

func (d *definitions) definitionList(api cluster.API) list {
	res := api.DefinitionsResource()
	return list{
		name: listDefinitions + res.String(), short: cluster.ShortDefinition, res: res,
		labels: d.variant.required().Pushed(), refuse: func(item cluster.Item) string { return d.variant.refuseAt(res, item) },
		object: func(n *tree.Node) (mirror.Object, error) {
			cluster.Settle(n, api)
			return d.variant.definition(n, d.cluster.Origin(cluster.ShortDefinition, "", name(n)))
		},
	}
}

func (d *definitions) compositionList(res cluster.Resource) list {
	return list{
		name: listCompositions + res.String(), short: cluster.ShortComposition, res: res, labels: all, refuse: never,
		object: func(n *tree.Node) (mirror.Object, error) {
			return composition(n, d.cluster.Origin(cluster.ShortComposition, "", name(n))), nil
		},
	}
}

func (d *definitions) compositeList(k cluster.Kind) list {
	return list{
		name: listComposites + k.String(), short: k.Plural, res: k.Resource, labels: all, refuse: never,
		object: func(n *tree.Node) (mirror.Object, error) {
			// Items of a list may lack apiVersion and kind.
			n.Set("apiVersion", tree.Str(k.Group+"/"+k.Version))
			n.Set("kind", tree.Str(k.Kind))
			if in := n.Get("spec", "claimRef", "namespace").Str(); in != "" && len(d.variant.Namespaces) > 0 && !slices.Contains(d.variant.Namespaces, in) {
				return mirror.Object{Note: note{Refused: fmt.Sprintf("claim is in namespace %q, which is not read", in)}.encode()}, nil
			}
			return composite(n, d.cluster.Origin(k.Plural, n.Get("metadata", "namespace").Str(), name(n))), nil
		},
	}
}

// all is the label selector that matches everything.
var all = []string{""}

// never refuses no object.
func never(cluster.Item) string { return "" }

func name(n *tree.Node) string { return n.Get("metadata", "name").Str() }

// required returns the selector for the label that a definition must have.
func (p *variant) required() selector.Selector {
	if p.Profile.RequiredLabel == "" {
		return selector.Selector{}
	}
	// The label is fixed by the contract, so parsing cannot fail.
	s, _ := selector.Parse(p.Profile.RequiredLabel + "=true")
	return s
}

// definition converts a definition to a mirror object.
func (p *variant) definition(n *tree.Node, origin xrd.Origin) (mirror.Object, error) {
	d := xrd.NewDefinition(n, origin)
	o := mirror.Object{Unit: d.Name}
	kept := noteFor(n, origin)
	kept.Refused = p.refuse(d)
	if kept.Refused == "" {
		o.Kind, o.Claim = kindKey(d.Group, d.Names.Kind), kindKey(d.Group, d.Claim.Kind)
		kept.Kinds = cluster.Composites(d, p.Namespaces)
		if kept.Serving = d.Serving; d.HasClaim() {
			kept.Claim = d.Claim.Kind
		}
		o.Body = body(xrd.Prune(n, xrd.RoleDefinition))
	}
	o.Note = kept.encode()
	return o, nil
}

// composition converts a Composition to a mirror object.
func composition(n *tree.Node, origin xrd.Origin) mirror.Object {
	return mirror.Object{
		Of: forKind(xrd.NewComposition(n, origin)), Note: noteFor(n, origin).encode(), Body: body(xrd.Prune(n, xrd.RoleComposition)),
	}
}

// forKind returns the key of the kind that a Composition composes.
func forKind(c *xrd.Composition) string {
	group, _, _ := strings.Cut(c.TypeAPIVersion, "/")
	return kindKey(group, c.TypeKind)
}

// composite converts a composite or a claim to a mirror object.
func composite(n *tree.Node, origin xrd.Origin) mirror.Object {
	group, _, _ := strings.Cut(n.Get("apiVersion").Str(), "/")
	kept := xrd.Prune(n, xrd.RoleComposite)
	if status := kept.Field("status"); status != nil {
		// Prune has copied the fields, so the original is not modified.
		status.Value = engine.Telling(status.Value)
	}
	return mirror.Object{Of: kindKey(group, n.Get("kind").Str()), Note: noteFor(n, origin).encode(), Body: body(kept), Status: storedStatus(n)}
}

// kindKey returns the key of a kind in the mirror; empty if kind is empty.
func kindKey(group, kind string) string {
	if kind == "" {
		return ""
	}
	return bounded(group + "/" + kind)
}

// mostName is the longest name that is stored unchanged. Names in a cluster are
// shorter.
const mostName = 300

// bounded returns a name short enough for a database index: a longer one is truncated,
// and its hash appended.
func bounded(name string) string {
	if len(name) <= mostName {
		return name
	}
	return strings.ToValidUTF8(name[:mostName], "") + " " + short(name)
}

// body encodes a pruned object without the fields that change with every update,
// resourceVersion and uid, which would make every version look different.
func body(n *tree.Node) []byte {
	if meta := n.Field("metadata"); meta != nil && meta.Value.IsMap() {
		kept := tree.Obj()
		for _, f := range meta.Value.Fields {
			if f.Key != "resourceVersion" && f.Key != "uid" {
				kept.Fields = append(kept.Fields, f)
			}
		}
		n = &tree.Node{Kind: n.Kind, Pos: n.Pos, Fields: slices.Clone(n.Fields)}
		n.Set("metadata", kept)
	}
	return tree.AppendJSON(nil, n, "")
}

// kinds returns the kinds that the selected definitions define, by the names of their
// lists. The map is empty if composites are not read.
func (d *definitions) kinds(ctx context.Context) (map[string]cluster.Kind, error) {
	objects, err := d.variant.in.Mirror.SourceObjects(ctx, d.name)
	return d.kindsOf(objects), err
}

// kindsOf returns the kinds that the definitions among objects define.
func (d *definitions) kindsOf(objects []mirror.Object) map[string]cluster.Kind {
	out := map[string]cluster.Kind{}
	if d.variant.NoComposites {
		return out
	}
	for i := range objects {
		if !strings.HasPrefix(objects[i].List, listDefinitions) {
			continue
		}
		for _, k := range noteOf(&objects[i]).Kinds {
			out[listComposites+k.String()] = k
		}
	}
	return out
}

// composites reads composites and claims. A kind that is not served cannot be listed:
// if objects of it are known, what happened to them is unknown.
func (d *definitions) composites(ctx context.Context, s *scan, kinds map[string]cluster.Kind) error {
	if len(kinds) == 0 {
		return nil
	}
	served, err := d.cluster.Served(ctx)
	if err != nil {
		for name := range kinds {
			s.ended(name, listed{err: err})
		}
		return nil
	}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for name, k := range kinds {
		if !served.Has(k.Resource) {
			if err := d.unserved(ctx, s, name, k); err != nil {
				return err
			}
			continue
		}
		group.Go(func() error {
			s.read(ctx, d.cluster, d.compositeList(k))
			return nil
		})
	}
	return group.Wait()
}

func (d *definitions) unserved(ctx context.Context, s *scan, name string, k cluster.Kind) error {
	known, err := d.variant.in.Mirror.Known(ctx, d.name, name)
	if err != nil {
		return err
	}
	l := listed{count: len(known), unserved: true}
	if len(known) > 0 {
		l.err = s.absent(k.Resource.String())
	}
	s.ended(name, l)
	return nil
}

// read surveys a list and stores what changed.
func (s *scan) read(ctx context.Context, c *cluster.Cluster, l list) {
	s.mu.Lock()
	silent := s.silent
	s.mu.Unlock()
	if silent != nil {
		// Do not wait for an unresponsive cluster again for every list.
		s.ended(l.name, listed{err: silent})
		return
	}
	begun := s.variant.in.Now()
	survey, err := c.Survey(ctx, l.res, l.survey)
	if err == nil {
		reached := surveyed
		if len(survey.Spoilt) > 0 {
			// The unreadable objects still exist, so the list is incomplete and nothing may be
			// removed.
			reached = some
		}
		s.note(l.name, survey.Spoilt)
		err = s.take(ctx, c, l, survey.Items, survey.Version, reached)
	}
	if e, ok := errors.AsType[*cluster.Error](err); ok && (e.Reason == cluster.Unreachable || e.Reason == cluster.Timeout) {
		s.mu.Lock()
		s.silent = err
		s.mu.Unlock()
	}
	if strings.HasPrefix(l.name, listDefinitions) {
		s.mu.Lock()
		s.found += len(survey.Items)
		s.mu.Unlock()
	}
	s.variant.Log.Debug("list read", "source", s.name, "list", l.name, "objects", len(survey.Items), "version", survey.Version,
		"milliseconds", s.variant.in.Now().Sub(begun).Milliseconds(), "error", errorText(err))
	s.ended(l.name, s.granted(ctx, l, listed{count: len(survey.Items), version: survey.Version, err: err}))
}
