// Package variant has the two ingestors as the configuration describes them: which
// definitions each of them selects, and the engine that it builds entities with.
package variant

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"example.dev/ingestor/xrd/selector"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// Variant is a configured variant.
type Variant struct {
	*Options
	// Seal is a hash of everything, besides the objects, that the entities depend on.
	Seal string
}

// New sets the defaults of the options. build identifies the version of the program.
func New(o *Options, build string) *Variant {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Detection.Method == "" {
		o.Detection.Method = ByVersion
	}
	v := &Variant{Options: o}
	v.Seal = object.Hash(v.settings(build))[:8]
	return v
}

// Refuse returns why the variant does not select a definition; empty if it does.
func (v *Variant) Refuse(d *xrd.Definition) string {
	return refuse(d, v.Profile, v.Filter)
}

func refuse(d *xrd.Definition, profile engine.Profile, filter xrd.Filter) string {
	if ok, why := profile.Admit(d); !ok {
		return why
	}
	if ok, why := filter.Admit(d); !ok {
		return why
	}
	return ""
}

// RefuseAt is Refuse for a definition of which only the metadata is known: it returns
// an empty reason where the rest would be needed.
func (v *Variant) RefuseAt(res cluster.Resource, item cluster.Item) string {
	n := tree.Obj(tree.F("metadata", tree.Obj(
		tree.F("name", tree.Str(item.Name)),
		tree.F("labels", tree.StrMap(item.Labels)),
		tree.F("annotations", tree.StrMap(item.Annotations)),
	)))
	// The API group determines the vocabulary of the definition.
	n.Set("apiVersion", tree.Str(res.Group+"/"+res.Version))
	if _, group, ok := strings.Cut(item.Name, "."); ok {
		n.Set("spec", tree.Obj(tree.F("group", tree.Str(group))))
	}
	profile := v.Profile
	profile.Modern = false
	return refuse(xrd.NewDefinition(n, xrd.Origin{}), profile, v.Filter)
}

func (v *Variant) settings(build string) string {
	o, f := v.Engine, &v.Filter
	o.Now, o.Forms = time.Time{}, nil
	return fmt.Sprintf("%s %+v %+v %v %s|%s|%v|%v", build, o, v.Profile, v.Namespaces, f.Labels, f.Annotations, f.Groups, f.Exclude)
}

// NewEngine returns an engine for objects found at the given time, and its transformer.
func (v *Variant) NewEngine(found time.Time, forms engine.FormCache) (*engine.Engine, engine.Transformer) {
	o := v.Engine
	o.Now, o.Forms = found, forms
	return v.Extension.Engine(v.Profile, o)
}

// Owns reports whether a source belongs to the variant.
func (v *Variant) Owns(source string) bool { return strings.HasPrefix(source, v.Name+"/") }

// Required returns the selector for the label that a definition must have.
func (v *Variant) Required() selector.Selector {
	if v.Profile.RequiredLabel == "" {
		return selector.Selector{}
	}
	// The label is fixed by the contract, so parsing cannot fail.
	s, _ := selector.Parse(v.Profile.RequiredLabel + "=true")
	return s
}

// Definition converts a definition to a mirror object.
func (v *Variant) Definition(n *tree.Node, origin xrd.Origin) mirror.Object {
	d := xrd.NewDefinition(n, origin)
	return object.FromDefinition(d, v.Refuse(d), v.Namespaces)
}
