package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"example.dev/ingestor/xrd/selector"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// ReadOptions configure what is read from a cluster. The zero value reads all
// definitions and Compositions.
type ReadOptions struct {
	// Labels is evaluated by the server as far as it can: more definitions than selected
	// may be read, never fewer.
	Labels selector.Selector
	// Names are the only definitions to read; empty means all.
	Names []string
	// NoCompositions skips Compositions.
	NoCompositions bool
	// Composites selects the definitions whose composites and claims are read; nil means
	// none.
	Composites func(*xrd.Definition) bool
	// Metadata reads only the metadata of composites.
	Metadata bool
	// Namespaces are those whose composites and claims are read; empty means all.
	Namespaces []string
	// NoDefinitions reads neither definitions nor what belongs to them.
	NoDefinitions bool
	// Workloads reads the metadata of workloads with an id, in either spelling of the
	// label.
	Workloads bool
}

// atOnce is how many lists of composites, or permissions to read them, are requested
// concurrently from a server.
const atOnce = 4

// Read reads what the options ask for. The Set is never nil and holds what could be
// read; the error joins an *Error for everything else.
func (c *Cluster) Read(ctx context.Context, opts ReadOptions) (*xrd.Set, error) {
	r, err := c.read(ctx, opts)
	return r.set, err
}

// read is like Read and also returns statistics.
func (c *Cluster) read(ctx context.Context, opts ReadOptions) (*reading, error) {
	r := &reading{Cluster: c, opts: opts, set: &xrd.Set{}, seen: map[string]bool{}}
	var first sync.WaitGroup
	if opts.Workloads {
		first.Go(func() { r.workloads(ctx) })
	}
	var apis []API
	if !opts.NoDefinitions {
		var err error
		apis, err = c.APIs(ctx)
		r.known = err == nil
		r.failed(err)
	}
	for _, api := range apis {
		first.Go(func() { r.definitions(ctx, api) })
		if !opts.NoCompositions && len(api.Compositions) > 0 {
			first.Go(func() { r.compositions(ctx, api) })
		}
	}
	first.Wait()
	if opts.Composites != nil && !opts.NoDefinitions && ctx.Err() == nil {
		r.composites(ctx)
	}
	r.sort()
	return r, errors.Join(r.errs...)
}

// sort sorts the results, because lists finish in any order.
func (r *reading) sort() {
	slices.SortFunc(r.errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	finding.Sort(r.set.Findings)
	slices.SortFunc(r.set.Definitions, func(a, b *xrd.Definition) int { return byPlace(&a.Object, &b.Object) })
	slices.SortFunc(r.set.Compositions, func(a, b *xrd.Composition) int { return byPlace(&a.Object, &b.Object) })
	slices.SortFunc(r.set.Others, byPlace)
	slices.SortFunc(r.set.Workloads, byPlace)
}

func byPlace(a, b *xrd.Object) int {
	return cmp.Or(strings.Compare(a.Origin.File, b.Origin.File), cmp.Compare(a.Words, b.Words), strings.Compare(a.APIVersion, b.APIVersion))
}

// reading is the state of one Read.
type reading struct {
	*Cluster
	opts ReadOptions

	mu  sync.Mutex
	set *xrd.Set
	// seen are the definitions and Compositions read, by group, kind and name: two lists
	// of one kind may overlap.
	seen  map[string]bool
	errs  []error
	lists int
	// known says that all definitions were read.
	known bool
	// silent says that the server has stopped responding.
	silent atomic.Bool
}

// errSilent is the reason for calls that were not made.
var errSilent = errors.New("skipped because the server stopped responding")

// definitions reads the definitions of a group.
func (r *reading) definitions(ctx context.Context, api API) {
	for _, l := range r.listings(api.DefinitionsResource()) {
		all, err := r.list(ctx, l)
		for _, n := range all.objects {
			Settle(n, api)
		}
		r.keep(l.Resource, ShortDefinition, all, err)
		if err != nil {
			r.mu.Lock()
			r.known = false
			r.mu.Unlock()
		}
	}
}

// listings returns the lists that together contain the requested definitions.
func (r *reading) listings(res Resource) []listing {
	var out []listing
	if len(r.opts.Names) > 0 {
		for _, name := range r.opts.Names {
			out = append(out, listing{Resource: res, name: name})
		}
		return out
	}
	for _, labels := range r.opts.Labels.Pushed() {
		out = append(out, listing{Resource: res, labels: labels})
	}
	return out
}

func (r *reading) compositions(ctx context.Context, api API) {
	res := api.CompositionsResource()
	all, err := r.list(ctx, listing{Resource: res})
	r.keep(res, ShortComposition, all, err)
}

// composites reads the composites and claims of the selected definitions.
func (r *reading) composites(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	var unasked atomic.Int64
	for _, d := range slices.Clone(r.set.Definitions) {
		if !r.opts.Composites(d) {
			continue
		}
		for _, k := range Composites(d, r.opts.Namespaces) {
			group.Go(func() error {
				if r.silent.Load() {
					// A server that does not respond is not waited for repeatedly.
					unasked.Add(1)
					return nil
				}
				all, err := r.list(ctx, listing{Resource: k.Resource, metadata: r.opts.Metadata})
				if isReason(err, Absent) {
					r.unserved(d, k)
					return nil
				}
				if e, ok := errors.AsType[*Error](err); ok && (e.Reason == Timeout || e.Reason == Unreachable) {
					r.silent.Store(true)
				}
				if k.Namespace == "" && len(r.opts.Namespaces) > 0 {
					all.objects = slices.DeleteFunc(all.objects, r.elsewhere)
				}
				for _, n := range all.objects {
					// Metadata alone does not include apiVersion and kind of the object.
					n.Set("apiVersion", tree.Str(k.Group+"/"+k.Version))
					n.Set("kind", tree.Str(k.Kind))
				}
				r.keep(k.Resource, k.Plural, all, err)
				return nil
			})
		}
	}
	_ = group.Wait()
	if n := unasked.Load(); n > 0 {
		r.errs = append(r.errs, r.explain(request{doing: fmt.Sprintf("list %d more kinds of composites and claims", n)}, errSilent))
	}
}

// elsewhere reports whether a cluster-scoped composite belongs to a claim in a
// namespace that is not read.
func (r *reading) elsewhere(n *tree.Node) bool {
	namespace := n.Get("spec", "claimRef", "namespace").Str()
	return namespace != "" && !slices.Contains(r.opts.Namespaces, namespace)
}

// unserved records that the kind of a definition is not served, so that no objects of
// it can exist.
func (r *reading) unserved(d *xrd.Definition, k Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d.NotServed(k.Kind)
	r.set.Findings = append(r.set.Findings, finding.Finding{
		Rule: xrd.RuleUnserved, Severity: finding.Warning, Object: d.Name, File: d.Origin.File,
		Message: fmt.Sprintf("cluster %q does not serve %s, so it has no resources of that kind", r.name, k),
		Hint:    "wait until the definition is established; if it does not become so, run kubectl describe xrd " + d.Name,
	})
	r.lists++
}

// failed records an error, unless it is nil.
func (r *reading) failed(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

// keep adds the result of a list. short is the short name of the kind.
func (r *reading) keep(res Resource, short string, all page, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range all.objects {
		meta := n.Get("metadata")
		key := strings.Join([]string{res.Group, res.Plural, meta.Get("namespace").Str(), meta.Get("name").Str()}, "/")
		if r.seen[key] {
			continue
		}
		r.seen[key] = true
		r.set.Documents++
		r.set.Add(n, r.Origin(short, meta.Get("namespace").Str(), meta.Get("name").Str()))
	}
	r.set.Documents += len(all.unreadable)
	r.set.Findings = append(r.set.Findings, r.findings(short, all.unreadable)...)
	if err != nil {
		r.errs = append(r.errs, err)
		return
	}
	r.lists++
}
