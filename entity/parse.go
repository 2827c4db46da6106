package entity

import (
	"fmt"
	"slices"

	"example.dev/ingestor/document/tree"
)

// ParseError describes why a document is not an entity, and where.
type ParseError struct {
	// Path is the path in the entity, such as "metadata.tags[2]".
	Path string
	// Pos is the position in the source, if known.
	Pos tree.Pos
	// Msg says what is wrong, Hint how to fix it.
	Msg  string
	Hint string
}

// Error returns the message with its path.
func (e *ParseError) Error() string {
	if e.Path == "" {
		return "cannot read entity: " + e.Msg
	}
	return fmt.Sprintf("cannot read entity: %s %s", e.Path, e.Msg)
}

// Parse parses an entity from a document. It is strict: a field of the wrong type or an
// unknown field is a *ParseError, so that nothing is lost silently. Missing fields are
// left empty; Check reports required ones. The entity shares its spec with n.
func Parse(n *tree.Node) (*Entity, error) {
	r := reader{}
	e := r.entity(n)
	if r.err != nil {
		return nil, r.err
	}
	return e, nil
}

func (r *reader) entity(n *tree.Node) *Entity {
	e := &Entity{}
	r.fields(n, "", func(f *tree.Field, path string) {
		switch f.Key {
		case "apiVersion":
			e.APIVersion = r.text(f.Value, path)
		case "kind":
			e.Kind = r.text(f.Value, path)
		case "metadata":
			r.metadata(f.Value, path, &e.Metadata)
		case "spec":
			if e.Spec = f.Value; !f.Value.IsMap() {
				r.wrongType(f.Value, path, "map")
			}
		default:
			r.fail(f.Pos, path, "is not a field of an entity", "remove it; an entity has apiVersion, kind, metadata and spec")
		}
	})
	return e
}

// reader parses the parts of an entity and keeps the first error.
type reader struct {
	err *ParseError
	// loose ignores unknown fields where a catalog allows them.
	loose bool
}

func (r *reader) fail(pos tree.Pos, path, msg, hint string) {
	if r.err == nil {
		r.err = &ParseError{Path: path, Pos: pos, Msg: msg, Hint: hint}
	}
}

func (r *reader) wrongType(n *tree.Node, path, want string) {
	hint := "make it a " + want
	if want == "string" && n != nil && n.Kind != tree.List && n.Kind != tree.Map {
		hint = "put it in quotes"
	}
	if n.IsNull() {
		hint = "remove it, or give it a value"
	}
	r.fail(n.At(), path, fmt.Sprintf("must be a %s, found %s", want, kindOf(n)), hint)
}

// fields calls read for each entry of a map until one fails.
func (r *reader) fields(n *tree.Node, path string, read func(f *tree.Field, path string)) {
	if !n.IsMap() {
		r.wrongType(n, path, "map")
		return
	}
	for i := range n.Fields {
		at := n.Fields[i].Key
		if path != "" {
			at = path + "." + at
		}
		if read(&n.Fields[i], at); r.err != nil {
			return
		}
	}
}

func (r *reader) text(n *tree.Node, path string) string {
	if !n.IsString() {
		r.wrongType(n, path, "string")
	}
	return n.Str()
}

func (r *reader) texts(n *tree.Node, path string) map[string]string {
	if !n.IsMap() {
		r.wrongType(n, path, "map")
	}
	if n.Len() == 0 {
		return nil
	}
	out := make(map[string]string, n.Len())
	for _, f := range n.Fields {
		out[f.Key] = r.text(f.Value, keyPath(path, f.Key))
	}
	return out
}

// items returns the entries of a list.
func (r *reader) items(n *tree.Node, path string) []*tree.Node {
	if !n.IsList() {
		r.wrongType(n, path, "list")
		return nil
	}
	return n.Items
}

func (r *reader) metadata(n *tree.Node, path string, m *Metadata) {
	r.fields(n, path, func(f *tree.Field, path string) {
		switch f.Key {
		case "name":
			m.Name = r.text(f.Value, path)
		case "namespace":
			m.Namespace = r.text(f.Value, path)
		case "title":
			m.Title = r.text(f.Value, path)
		case "description":
			m.Description = r.text(f.Value, path)
		case "labels":
			m.Labels = r.texts(f.Value, path)
		case "annotations":
			m.Annotations = r.texts(f.Value, path)
		case "tags":
			for i, it := range r.items(f.Value, path) {
				m.Tags = append(m.Tags, r.text(it, itemPath(path, i)))
			}
		case "links":
			for i, it := range r.items(f.Value, path) {
				m.Links = append(m.Links, r.link(it, itemPath(path, i)))
			}
		default:
			if !r.loose {
				r.fail(f.Pos, path, "is not a field of an entity's metadata", "remove it, or make it an annotation")
			}
		}
	})
}

func (r *reader) link(n *tree.Node, path string) Link {
	var l Link
	r.fields(n, path, func(f *tree.Field, path string) {
		if r.loose && !slices.Contains([]string{"url", "title", "icon", "type"}, f.Key) {
			return
		}
		text := r.text(f.Value, path)
		if text == "" && f.Key != "url" {
			// A catalog rejects the entity for an empty value, and here an empty string would
			// look like a missing one. Check checks the URL.
			r.fail(f.Value.At(), path, "is empty", "remove it, or give it a value")
		}
		switch f.Key {
		case "url":
			l.URL = text
		case "title":
			l.Title = text
		case "icon":
			l.Icon = text
		case "type":
			l.Type = text
		default:
			r.fail(f.Pos, path, "is not a field of a link", "remove it; a link has url, title, icon and type")
		}
	})
	return l
}
