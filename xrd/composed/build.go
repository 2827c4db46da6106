package composed

import (
	"context"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// Options limit a tree. The zero value is ready for use.
type Options struct {
	// Most is how many objects the tree has at most; default 500.
	Most int
	// Skip is how many children of the root are left out, because an earlier tree has
	// them.
	Skip int
	// Owned hides the details of an object that does not name its parent as its owner. It is
	// for readers that may see more than the caller: the author of a composite could refer
	// to the objects of others.
	Owned bool
}

const defaultMost = 500

// Build reads the tree of an object. Of the objects beyond the limit only the number is
// known, beside their parent.
func Build(ctx context.Context, r Reader, root Ref, opts Options) (*Node, error) {
	if opts.Most <= 0 {
		opts.Most = defaultMost
	}
	found, err := r.Read(ctx, []Ref{root})
	if err != nil {
		return nil, err
	}
	top := newNode(found[0])
	left := opts.Most - 1
	level := []branch{{node: top, object: found[0], skip: opts.Skip}}
	for len(level) > 0 {
		if level, err = descend(ctx, r, level, &left, opts.Owned); err != nil {
			return nil, err
		}
	}
	return top, nil
}

// branch is a node whose children are to be read.
type branch struct {
	node   *Node
	object Object
	parent *branch
	skip   int
}

// isAncestor reports whether a reference is that of the branch or of one above it.
func (b *branch) isAncestor(r Ref) bool {
	for at := b; at != nil; at = at.parent {
		if at.node.Ref == r {
			return true
		}
	}
	return false
}

// descend reads the children of a level at once, and returns those that may have children
// themselves.
func descend(ctx context.Context, r Reader, level []branch, left *int, owned bool) ([]branch, error) {
	var refs []Ref
	var parents []*branch
	for i := range level {
		b := &level[i]
		children := References(b.object)
		b.node.Skipped = min(b.skip, len(children))
		children = children[b.node.Skipped:]
		n := min(len(children), *left)
		b.node.More = len(children) - n
		*left -= n
		for _, c := range children[:n] {
			refs, parents = append(refs, c), append(parents, b)
		}
	}
	if len(refs) == 0 {
		return nil, nil
	}
	found, err := r.Read(ctx, refs)
	if err != nil {
		return nil, err
	}
	var next []branch
	for i, o := range found {
		parent := parents[i]
		if owned && o.State == Present && !owns(parent.object, o) {
			o = Object{Ref: o.Ref, State: Forbidden, Problem: "the object does not belong to " + parent.node.Ref.String()}
		}
		n := newNode(o)
		parent.node.Children = append(parent.node.Children, n)
		if parent.isAncestor(o.Ref) {
			n.Loop = true
			continue
		}
		if o.State == Present && len(References(o)) > 0 {
			next = append(next, branch{node: n, object: o, parent: parent})
		}
	}
	return next, nil
}

// owns reports whether a part names its parent as an owner, or as the claim it is for.
func owns(parent, part Object) bool {
	uid := parent.Node.Get("metadata", "uid").Str()
	for _, owner := range part.Node.Get("metadata", "ownerReferences").List() {
		if uid != "" && owner.Get("uid").Str() == uid {
			return true
		}
	}
	claim := part.Node.Get("spec", "claimRef")
	// Kinds of other groups may have the same name. A composite may refer to another version.
	if of := claim.Get("apiVersion").Str(); of != "" && groupOf(of) != groupOf(parent.Ref.APIVersion) {
		return false
	}
	return claim.Get("kind").Str() == parent.Ref.Kind && claim.Get("name").Str() == parent.Ref.Name && claim.Get("namespace").Str() == parent.Ref.Namespace
}

// groupOf returns the group of an API version.
func groupOf(apiVersion string) string {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// References returns the objects that an object refers to as its parts: what a composite
// composes, and the composite of a claim. A reference without a name, which Crossplane
// writes before it creates the object, is left out.
func References(o Object) []Ref {
	if o.State != Present {
		return nil
	}
	var out []Ref
	for _, spec := range []*tree.Node{o.Node.Get("spec"), o.Node.Get("spec", xrd.MachineryV2)} {
		all := spec.Get("resourceRefs").List()
		if claimed := spec.Get("resourceRef"); claimed.IsMap() {
			all = append([]*tree.Node{claimed}, all...)
		}
		for _, n := range all {
			ref := Ref{APIVersion: n.Get("apiVersion").Str(), Kind: n.Get("kind").Str(), Namespace: n.Get("namespace").Str(), Name: n.Get("name").Str()}
			if ref.APIVersion == "" || ref.Kind == "" || ref.Name == "" {
				continue
			}
			if ref.Namespace == "" {
				// What a namespaced composite composes is in its own namespace.
				ref.Namespace = o.Ref.Namespace
			}
			out = append(out, ref)
		}
	}
	slices.SortFunc(out, compareRefs)
	return slices.Compact(out)
}

// isComposite reports whether an object is a composite or a claim that Crossplane knows.
func isComposite(n *tree.Node) bool {
	spec := n.Get("spec")
	for _, key := range []string{"resourceRefs", "resourceRef", "compositionRef", "compositionSelector"} {
		if spec.Get(key) != nil || spec.Get(xrd.MachineryV2, key) != nil {
			return true
		}
	}
	return false
}
