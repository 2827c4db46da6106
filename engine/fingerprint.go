package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"slices"
	"sync"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// Fingerprint returns a hash of everything in an Input that Transform reads, and of
// everything in its objects that package xrd/lint reads: with the same options, inputs
// with equal fingerprints give equal results. It covers what xrd.Prune keeps, except for
// resource versions. It does not cover what a hook or a custom Transformer reads beyond
// that.
func Fingerprint(in Input) string {
	h := newHasher()
	defer h.free()
	definition := in.Fingerprint
	if definition == "" {
		definition = definitionFingerprint(in.Definition)
	}
	h.buf.strings(definition, in.Base)
	h.buf.strings(in.Clusters...)
	h.buf.size(len(in.Definition.Serving))
	for _, s := range in.Definition.Serving {
		h.buf.text(s.Cluster)
		h.buf.size(len(s.Conditions))
		for _, c := range s.Conditions {
			h.buf.strings(c.Type, c.Status, c.Reason, c.Message)
		}
	}
	h.buf.strings(untracked(in.Untracked)...)
	h.buf.size(len(in.Compositions))
	for _, c := range in.Compositions {
		h.buf.strings(c.TypeAPIVersion, c.TypeKind, c.Mode)
		h.buf.strings(c.Resources...)
		h.buf.size(len(c.Steps))
		for _, s := range c.Steps {
			h.buf.strings(s.Name, s.Function)
		}
		h.buf.object(&c.Object, xrd.RoleComposition)
		h.flush()
	}
	h.buf.size(len(in.Composites))
	for _, c := range in.Composites {
		h.buf.flags(c.Claim)
		h.buf.strings(c.Composition, c.Counterpart.Kind, c.Counterpart.Namespace, c.Counterpart.Name)
		h.buf.size(len(c.Conditions))
		for _, x := range c.Conditions {
			h.buf.strings(x.Type, x.Status, x.Reason)
		}
		h.buf.object(&c.Object, xrd.RoleComposite)
		h.flush()
	}
	h.buf.size(len(in.Related))
	for _, k := range in.Related {
		h.buf.strings(k.Cluster, k.Group, k.Kind, k.Namespace, k.Name)
	}
	return h.hex()
}

// untracked returns the names mapped to true, sorted.
func untracked(m map[string]bool) []string {
	var out []string
	for name, yes := range m {
		if yes {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// definitionFingerprint returns the definition's part of a fingerprint.
func definitionFingerprint(d *xrd.Definition) string {
	h := newHasher()
	defer h.free()
	p := &h.buf
	p.object(&d.Object, xrd.RoleDefinition)
	p.strings(d.Group, string(d.Scope), d.DefaultComposition, d.EnforcedComposition, d.DefaultUpdatePolicy, d.DefaultDeletePolicy)
	for _, n := range []xrd.Names{d.Names, d.Claim} {
		p.strings(n.Kind, n.Plural, n.Singular)
	}
	p.strings(d.ConnectionSecretKeys...)
	listed := d.Node.Get("spec", "versions").List()
	p.size(len(d.Served))
	for _, v := range append(slices.Clip(d.Served), d.Versions...) {
		p.strings(v.Name, v.DeprecationWarning)
		p.flags(v.Served, v.Referenceable, v.Deprecated)
		i := slices.Index(listed, v.Node)
		p.size(i + 1)
		if i < 0 || v.Schema != v.Node.Get("schema", "openAPIV3Schema") {
			p.tree(v.Node)
			p.tree(v.Schema)
		}
	}
	return h.hex()
}

// hasher hashes its input in pieces, so that a large input needs little memory.
type hasher struct {
	buf trace
	sum hash.Hash
}

var hashers = sync.Pool{New: func() any { return &hasher{sum: sha256.New()} }}

func newHasher() *hasher {
	h := hashers.Get().(*hasher)
	h.sum.Reset()
	return h
}

func (h *hasher) free() { hashers.Put(h) }

func (h *hasher) flush() {
	_, _ = h.sum.Write(h.buf) // A hash.Hash never returns an error.
	h.buf = h.buf[:0]
}

func (h *hasher) hex() string {
	h.flush()
	var room [sha256.Size]byte
	return hex.EncodeToString(h.sum.Sum(room[:0]))
}

// trace is the data to hash. Every part is prefixed with its length, so that different
// parts cannot encode to the same bytes.
type trace []byte

func (p *trace) size(n int) { *p = binary.AppendUvarint(*p, uint64(n)) }

func (p *trace) text(s string) {
	p.size(len(s))
	*p = append(*p, s...)
}

func (p *trace) strings(all ...string) {
	p.size(len(all))
	for _, s := range all {
		p.text(s)
	}
}

func (p *trace) flags(all ...bool) {
	for _, b := range all {
		var c byte
		if b {
			c = 1
		}
		*p = append(*p, c)
	}
}

func (p *trace) stringMap(m map[string]string) {
	p.size(len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		p.text(k)
		p.text(m[k])
	}
}

func (p *trace) tree(n *tree.Node) { *p = tree.AppendFingerprint(*p, n) }

// object covers the document of an object and the fields parsed from it, because a hook
// may have changed either.
func (p *trace) object(o *xrd.Object, role xrd.Role) {
	p.strings(o.APIVersion, o.Kind, o.Name, o.Namespace, o.Origin.Source, o.Origin.File, o.Origin.Cluster, o.Origin.Location)
	p.size(int(o.Words))
	p.stringMap(o.Labels)
	annotations := o.Annotations
	if _, noted := annotations[xrd.LastApplied]; noted {
		annotations = maps.Clone(annotations)
		delete(annotations, xrd.LastApplied)
	}
	p.stringMap(annotations)
	n := xrd.Prune(o.Node, role)
	if meta := n.Get("metadata"); o.Name != "" && meta.Has("resourceVersion") {
		// Prune returned a copy of the metadata. The name of an unnamed object depends on all
		// of its content.
		meta.Delete("resourceVersion")
	}
	p.tree(n)
	if o.Origin.File != "" {
		// Findings contain positions.
		p.places(n)
	}
}

// places covers the positions of everything in n.
func (p *trace) places(n *tree.Node) {
	if n == nil {
		return
	}
	p.size(int(n.Pos.Line))
	p.size(int(n.Pos.Column))
	for i := range n.Fields {
		f := &n.Fields[i]
		p.size(int(f.Pos.Line))
		p.size(int(f.Pos.Column))
		p.places(f.Value)
	}
	for _, it := range n.Items {
		p.places(it)
	}
}
