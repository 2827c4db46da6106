package entity

import (
	"fmt"
	"strings"
)

// Ref is a reference to an entity. References are case-insensitive; compare them by
// String.
type Ref struct {
	Kind, Namespace, Name string
}

// ParseRef parses a reference of the form [<kind>:][<namespace>/]<name>. A missing kind
// defaults to defaultKind; it is an error if that is empty. A missing namespace defaults
// to defaultNamespace, or to DefaultNamespace if that is empty. The parts keep their
// case.
func ParseRef(s, defaultKind, defaultNamespace string) (Ref, error) {
	r, why := parseRef(s, defaultKind, defaultNamespace)
	if why != "" {
		return Ref{}, fmt.Errorf("cannot read entity reference %q: %s", s, why)
	}
	return r, nil
}

// parseRef is ParseRef that returns the reason as text; Check puts it in a finding.
func parseRef(s, defaultKind, defaultNamespace string) (r Ref, why string) {
	r = Ref{Kind: defaultKind, Namespace: defaultNamespace, Name: s}
	if r.Namespace == "" {
		r.Namespace = DefaultNamespace
	}
	if kind, rest, ok := strings.Cut(r.Name, ":"); ok {
		r.Kind, r.Name = kind, rest
	}
	if namespace, rest, ok := strings.Cut(r.Name, "/"); ok {
		r.Namespace, r.Name = namespace, rest
	}
	switch {
	case r.Kind == "":
		return Ref{}, "kind is missing"
	case r.Namespace == "":
		return Ref{}, "namespace is empty"
	case r.Name == "":
		return Ref{}, "name is missing"
	case strings.Contains(r.Kind, "/"), strings.ContainsRune(r.Namespace, ':'), strings.ContainsAny(r.Name, ":/"):
		return Ref{}, "too many parts; want kind, namespace and name"
	}
	return r, ""
}

// String returns the canonical form, kind:namespace/name in lower case.
func (r Ref) String() string {
	namespace := r.Namespace
	if namespace == "" {
		namespace = DefaultNamespace
	}
	return strings.ToLower(r.Kind + ":" + namespace + "/" + r.Name)
}

// ParseExisting is ParseRef that rejects references that no entity can have, such as one
// with a space in its name.
func ParseExisting(s, defaultKind, defaultNamespace string) (Ref, error) {
	r, err := ParseRef(s, defaultKind, defaultNamespace)
	if err == nil && !r.canExist() {
		return Ref{}, fmt.Errorf("cannot use entity reference %q: invalid kind, namespace or name", s)
	}
	return r, err
}

// canExist reports whether an entity could have the reference.
func (r Ref) canExist() bool {
	return isKind(r.Kind) && isNamespace(strings.ToLower(r.Namespace)) && isName(r.Name)
}

// Ref returns the reference of the entity.
func (e *Entity) Ref() Ref {
	r := Ref{Kind: e.Kind, Namespace: e.Metadata.Namespace, Name: e.Metadata.Name}
	if r.Namespace == "" {
		r.Namespace = DefaultNamespace
	}
	return r
}

// Key returns the canonical form of the entity's reference, which is unique in a
// catalog.
func (e *Entity) Key() string { return e.Ref().String() }
