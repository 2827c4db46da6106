package cluster

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"example.dev/ingestor/action/cluster/internal/manifest"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// schemas caches the schemas of kinds. A stale schema does no harm: the server
// still does a dry run of an object that the schema accepts, and the schema is
// read again before an object is refused.
type schemas struct {
	mu    sync.Mutex
	known map[kindKey]*schema
}

// schema is the schema of the spec of a kind.
type schema struct {
	// mu is held while the schema is read, so that it is read once.
	mu    sync.Mutex
	asked bool
	// node is the schema in the definition; nil if the kind has no definition.
	node     *tree.Node
	compiled *jsonschema.Schema
}

// check validates the spec of a document against the schema of its definition, so
// that the message names the field of a form. Kinds without a definition, or with
// one that cannot be read, are left to the server.
func (w *writer) check(ctx context.Context, c *cluster.Cluster, d *manifest.Document) error {
	if w.opts.Schema != nil {
		if n := w.opts.Schema(d.APIVersion, d.Kind); n != nil {
			return report(c, d, compile(n).problems(d))
		}
	}
	// Kinds of the core group are not composites.
	if d.Group() == "" {
		return nil
	}
	w.schemas.mu.Lock()
	key := kindKey{c, d.APIVersion, d.Kind}
	s := w.schemas.known[key]
	if s == nil {
		s = &schema{}
		w.schemas.known[key] = s
	}
	w.schemas.mu.Unlock()
	fresh, err := s.read(ctx, c, d, false)
	if err != nil {
		return err
	}
	problems := s.current().problems(d)
	if len(problems) == 0 || fresh {
		return report(c, d, problems)
	}
	if _, err := s.read(ctx, c, d, true); err != nil {
		return err
	}
	return report(c, d, s.current().problems(d))
}

// known returns the schema of a document's kind if it was read before, otherwise
// nil.
func (w *writer) known(d *manifest.Document, c *cluster.Cluster) *schema {
	if w.opts.Schema != nil {
		if n := w.opts.Schema(d.APIVersion, d.Kind); n != nil {
			return &schema{node: n}
		}
	}
	w.schemas.mu.Lock()
	s := w.schemas.known[kindKey{c, d.APIVersion, d.Kind}]
	w.schemas.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.current()
}

func report(c *cluster.Cluster, d *manifest.Document, problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return invalid(c, d, problems)
}

// read reads the schema from the cluster, unless that was done before and again is
// not set. It reports whether it was read.
func (s *schema) read(ctx context.Context, c *cluster.Cluster, d *manifest.Document, again bool) (asked bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked && !again {
		return false, nil
	}
	n, err := specSchema(ctx, c, d)
	switch reason(err) {
	case cluster.Absent, cluster.Forbidden:
		// The portal may not read the schema; the server still validates.
		n, err = nil, nil
	}
	if err != nil {
		return false, told(err)
	}
	if !s.asked || !s.node.Equal(n) {
		s.node, s.compiled = n, compile(n).compiled
	}
	s.asked = true
	return true, nil
}

// current returns a copy of the schema as it is now.
func (s *schema) current() *schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &schema{node: s.node, compiled: s.compiled}
}

var errFound = errors.New("found")

// specSchema returns the schema of the spec of a composite or claim; nil for other
// kinds.
func specSchema(ctx context.Context, c *cluster.Cluster, d *manifest.Document) (*tree.Node, error) {
	def, err := definitionOf(ctx, c, d)
	if def == nil {
		return nil, err
	}
	_, version := d.GroupVersion()
	for _, v := range def.Versions {
		if v.Name == version {
			return v.Spec(), nil
		}
	}
	return nil, nil
}

// definitionOf returns the definition of a composite or claim; nil for other
// kinds.
func definitionOf(ctx context.Context, c *cluster.Cluster, d *manifest.Document) (*xrd.Definition, error) {
	apis, err := c.APIs(ctx)
	if err != nil && len(apis) == 0 {
		return nil, err
	}
	group, _ := d.GroupVersion()
	var found *xrd.Definition
	look := func(objects []*tree.Node) bool {
		for _, n := range objects {
			def := xrd.NewDefinition(n, xrd.Origin{Source: xrd.SourceCluster, Cluster: c.Name()})
			if n.Get("spec", "group").Str() == group && (def.Names.Kind == d.Kind || def.Claim.Kind == d.Kind) {
				found = def
				return true
			}
		}
		return false
	}
	var errs []error
	for _, api := range apis {
		res := api.DefinitionsResource()
		// The definition of a composite can be fetched by name; that of a claim, or of
		// a kind that is not served, must be searched for.
		if d.Served.Plural != "" {
			named, _, err := c.Fetch(ctx, res, []cluster.NamespacedName{{Name: d.Served.Plural + "." + group}})
			if err == nil && look(named) {
				return found, nil
			}
		}
		_, err := c.Each(ctx, res, "", func(objects []*tree.Node, _ []finding.Finding) error {
			if look(objects) {
				return errFound
			}
			return nil
		})
		if errors.Is(err, errFound) {
			return found, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// compile compiles the schema of a definition. If that fails, validation is left
// to the server.
func compile(n *tree.Node) *schema {
	s := &schema{node: n}
	if n == nil {
		return s
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tree.AppendJSON(nil, plain(n), "")))
	if err != nil {
		return s
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4)
	const address = "spec.json"
	if err := c.AddResource(address, doc); err != nil {
		return s
	}
	if compiled, err := c.Compile(address); err == nil {
		s.compiled = compiled
	}
	return s
}

// plain converts the schema of a definition to a JSON Schema that accepts
// everything that the server accepts: fields with a default are not required.
func plain(n *tree.Node) *tree.Node {
	out := tree.Obj()
	nullable := n.Get("nullable").IsTrue()
	for _, f := range n.Fields {
		switch f.Key {
		case "type":
			if nullable && f.Value.IsString() {
				out.Set("type", tree.Strs([]string{f.Value.Str(), "null"}))
				continue
			}
			out.Set(f.Key, f.Value)
		case "enum":
			values := tree.Arr(f.Value.List()...)
			if nullable {
				values.Items = append(values.Items, tree.Nil())
			}
			out.Set(f.Key, unique(values))
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
			"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties":
			out.Set(f.Key, f.Value)
		case "items", "not":
			out.Set(f.Key, plain(f.Value))
		case "additionalProperties":
			if f.Value.IsMap() {
				out.Set(f.Key, plain(f.Value))
			}
		case "allOf", "anyOf", "oneOf":
			all := tree.Arr()
			for _, item := range f.Value.List() {
				all.Items = append(all.Items, plain(item))
			}
			if all.Len() > 0 {
				out.Set(f.Key, all)
			}
		case "properties":
			all := tree.Obj()
			for _, p := range f.Value.Fields {
				all.Set(p.Key, plain(p.Value))
			}
			out.Set(f.Key, all)
		case "required":
			var names []string
			for _, name := range f.Value.Strings() {
				if !n.Get("properties", name).Has("default") {
					names = append(names, name)
				}
			}
			out.Set(f.Key, tree.Strs(names))
		}
	}
	if n.Get("x-kubernetes-int-or-string").IsTrue() {
		out.Set("type", tree.Strs([]string{"integer", "string", "null"}))
	}
	return out
}

// unique returns a list without duplicates.
func unique(list *tree.Node) *tree.Node {
	out := tree.Arr()
next:
	for _, v := range list.Items {
		for _, o := range out.Items {
			if v.Equal(o) {
				continue next
			}
		}
		out.Items = append(out.Items, v)
	}
	return out
}
