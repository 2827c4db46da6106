package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// The beginnings of the names of lists; behind them stands the resource.
const (
	listDefinitions  = "definitions "
	listCompositions = "compositions "
	listComposites   = "composites "
	listWorkloads    = "workloads "
	listFolder       = "files"
)

// definitions reads a cluster's definitions and what belongs to them.
type definitions struct {
	*target
	cluster *cluster.Cluster
	// served tells who follows of the lists that the last scan found.
	served chan []list
	// dropped are the names of lists that a scan has forgotten: whoever follows
	// them has to begin anew.
	dropped sync.Map
}

// atOnce is how many lists of a cluster are read at once.
const atOnce = 4

// scan reads all lists of the cluster. The error is one that kept it from
// finding out which lists there are.
func (d *definitions) scan(ctx context.Context, s *scan) error {
	lists, err := d.variant.in.Memory.Lists(ctx, d.name)
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
	objects, err := d.variant.in.Memory.SourceObjects(ctx, d.name)
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

// forget drops those of the lists, which were known before the scan, that there
// are no longer: of kinds that no definition gives any more. It needs to be known
// which do. What somebody else has begun to read meanwhile stays.
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
	dirty, err := d.variant.in.Memory.DropLists(ctx, d.name, gone)
	s.dirty += dirty
	return err
}

// missed notes those of the lists, of definitions and Compositions, that are not
// served any more. What became of their objects is not known.
func (d *definitions) missed(ctx context.Context, s *scan, lists []string) error {
	for _, name := range lists {
		role, of, _ := strings.Cut(name, " ")
		if role += " "; role != listDefinitions && (role != listCompositions || d.variant.NoCompositions) {
			continue
		}
		if _, read := s.lists[name]; read {
			continue
		}
		objects, err := d.variant.in.Memory.Known(ctx, d.name, name)
		if err != nil {
			return err
		}
		s.ended(name, listed{count: len(objects), err: s.absent(of)})
	}
	return nil
}

// tell has lists followed that were not served when following began, such as
// that of Compositions in a cluster where Crossplane was being installed.
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
			// A list's items need not say what they are.
			n.Set("apiVersion", tree.Str(k.Group+"/"+k.Version))
			n.Set("kind", tree.Str(k.Kind))
			if in := n.Get("spec", "claimRef", "namespace").Str(); in != "" && len(d.variant.Namespaces) > 0 && !slices.Contains(d.variant.Namespaces, in) {
				return mirror.Object{Note: note{Refused: fmt.Sprintf("its claim is in namespace %q, which is not read", in)}.encode()}, nil
			}
			return composite(n, d.cluster.Origin(k.Plural, n.Get("metadata", "namespace").Str(), name(n))), nil
		},
	}
}

// all are the labels that choose everything.
var all = []string{""}

// never refuses nothing.
func never(cluster.Item) string { return "" }

func name(n *tree.Node) string { return n.Get("metadata", "name").Str() }

// required is the selector for the labels that a definition must have.
func (p *variant) required() xrd.Selector {
	if p.Profile.RequiredLabel == "" {
		return xrd.Selector{}
	}
	// The label is the contract's, so it can be read.
	s, _ := xrd.ParseSelector(p.Profile.RequiredLabel + "=true")
	return s
}

// definition makes an object of a definition.
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

// composition makes an object of a Composition.
func composition(n *tree.Node, origin xrd.Origin) mirror.Object {
	return mirror.Object{
		Of: forKind(xrd.NewComposition(n, origin)), Note: noteFor(n, origin).encode(), Body: body(xrd.Prune(n, xrd.RoleComposition)),
	}
}

// forKind is the kind that a Composition is for.
func forKind(c *xrd.Composition) string {
	group, _, _ := strings.Cut(c.TypeAPIVersion, "/")
	return kindKey(group, c.TypeKind)
}

// composite makes an object of a composite or a claim.
func composite(n *tree.Node, origin xrd.Origin) mirror.Object {
	group, _, _ := strings.Cut(n.Get("apiVersion").Str(), "/")
	kept := xrd.Prune(n, xrd.RoleComposite)
	if status := kept.Field("status"); status != nil {
		// The pruned object has fields of its own.
		status.Value = engine.Telling(status.Value)
	}
	return mirror.Object{Of: kindKey(group, n.Get("kind").Str()), Note: noteFor(n, origin).encode(), Body: body(kept), Status: fares(n)}
}

// kindKey is how a kind is called in the mirror; empty for no kind.
func kindKey(group, kind string) string {
	if kind == "" {
		return ""
	}
	return bounded(group + "/" + kind)
}

// mostName is the longest name that goes into the mirror as it is. A cluster's
// own are shorter.
const mostName = 300

// bounded returns a name that databases can find things by.
func bounded(name string) string {
	if len(name) <= mostName {
		return name
	}
	return strings.ToValidUTF8(name[:mostName], "") + " " + short(name)
}

// body writes what is remembered of a pruned object: not what changes whenever
// anything of it does, which would make every state of it another thing.
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

// kinds returns the kinds that the definitions taken give, by the names of
// their lists; none if composites are not read.
func (d *definitions) kinds(ctx context.Context) (map[string]cluster.Kind, error) {
	objects, err := d.variant.in.Memory.SourceObjects(ctx, d.name)
	return d.kindsOf(objects), err
}

// kindsOf returns the kinds that the definitions among objects give.
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

// composites reads composites and claims. A kind that is not served cannot be
// asked for: if there are objects of it, what became of them is not known.
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
	known, err := d.variant.in.Memory.Known(ctx, d.name, name)
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

// read surveys a list and takes what is new.
func (s *scan) read(ctx context.Context, c *cluster.Cluster, l list) {
	s.mu.Lock()
	silent := s.silent
	s.mu.Unlock()
	if silent != nil {
		// One that does not answer is not waited for again and again.
		s.ended(l.name, listed{err: silent})
		return
	}
	begun := s.variant.in.Now()
	survey, err := c.Survey(ctx, l.res, l.survey)
	if err == nil {
		reached := surveyed
		if len(survey.Spoilt) > 0 {
			// They exist all the same, so that nothing can be taken for gone.
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
