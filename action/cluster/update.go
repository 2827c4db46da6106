package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// mostTries is how often an update is tried if the object is written concurrently,
// which its controller does now and then.
const mostTries = 10

// whole returns a document for validation. An update is merged into the live
// object, because it need not contain all required fields.
func (a *applying) whole(d *document) (*document, error) {
	if !a.update {
		return d, nil
	}
	n := a.before[d]
	if n == nil {
		return nil, a.missing(d)
	}
	out := *d
	out.node = tree.Overlay(n, d.node)
	return &out, nil
}

// missing returns an error for an update of an object that does not exist.
func (a *applying) missing(d *document) error {
	return failure(a.on, d.doing(), Missing, "check its name, namespace and cluster, or create it first", "not found")
}

// put applies a document. An update applies to the revision that was read; if the
// object was written since, put reads it again and retries.
func (a *applying) put(ctx context.Context, d *document, before *tree.Node) (*tree.Node, error) {
	for try := 1; ; try++ {
		after, err := a.patch(ctx, d, before, false)
		if !a.update || !errors.Is(err, errWritten) || try == mostTries {
			return after, err
		}
		now, err := live(ctx, a.on, d)
		switch {
		case err != nil:
			return nil, a.explain(ctx, d, err)
		case now == nil:
			return nil, failure(a.on, d.doing(), Missing, "create it again if needed", "object was deleted in the meantime")
		}
		if a.observed != "" {
			if err := a.conflict(d, xrd.Observed(before), now); err != nil {
				return nil, err
			}
		}
		before = now
	}
}

// conflict returns an error if the requested fields of an object differ from the
// observed state. Fields that Crossplane fills in are ignored, and an empty
// observed state conflicts with nothing.
func (a *applying) conflict(d *document, observed string, now *tree.Node) error {
	if observed == "" || now == nil {
		return nil
	}
	changed, err := xrd.Changed(observed, now)
	if err != nil {
		return wrong("open the form again", "cannot use observed: %w", err)
	}
	if len(changed) == 0 {
		return nil
	}
	const most = 5
	names := changed
	if len(changed) > most {
		names = append(slices.Clone(changed[:most]), fmt.Sprintf("%d more", len(changed)-most))
	}
	return failure(a.on, d.doing(), Conflict, "open the form again to see the current values",
		"the object was changed after the form was filled: %s", andList(names))
}

// same reports whether two objects are equal apart from fields that the server
// maintains. A step that runs again thus recognises its own earlier write.
func same(one, other *tree.Node) bool {
	if one == nil || other == nil {
		return one == other
	}
	return said(one).Equal(said(other))
}

// said returns the requested fields of an object, without fields that the server
// and the portal maintain.
func said(n *tree.Node) *tree.Node {
	out := tree.Obj()
	for _, f := range n.Fields {
		switch f.Key {
		case "status":
		case "metadata":
			meta := tree.Obj(tree.F("name", f.Value.Get("name")))
			copyMetadata(meta, f.Value)
			unstamp(meta)
			out.Set(f.Key, meta)
		default:
			out.Set(f.Key, f.Value)
		}
	}
	return out
}

// compare reports how an object would differ in a dry run. The text of objects
// that the portal did not apply is hidden, because the user of a dry run may not
// have permission to read them.
func (a *applying) compare(d *document, before, after *tree.Node) {
	if a.change == nil || before != nil && after != nil && same(before, after) {
		return
	}
	ch := action.Change{Where: "cluster " + a.on.Name(), Name: d.String()}
	if before != nil {
		if yes, _ := ours(before); !yes {
			ch.Hidden = action.HiddenForeign
		}
		ch.Before = tree.AppendYAML(nil, said(before))
	}
	if after != nil {
		ch.After = tree.AppendYAML(nil, said(after))
	}
	a.change(ch)
}

// body returns the content to send for a document. For an update of an object that
// the portal applied, fields that the manifest omits are kept, unless observed is
// set, which means that the user has seen the whole object. Except in a dry run,
// the resourceVersion makes the server refuse the update if the object was written
// in between.
func (a *applying) body(d *document, before *tree.Node, dry bool) *tree.Node {
	if !a.update || before == nil {
		return d.node
	}
	out := d.node
	if a.observed == "" {
		out = tree.Overlay(owned(before), out)
	}
	if dry {
		return out
	}
	meta := tree.Obj(append([]tree.Field(nil), out.Get("metadata").Fields...)...)
	meta.Set("resourceVersion", before.Get("metadata", "resourceVersion"))
	out = tree.Obj(append([]tree.Field(nil), out.Fields...)...)
	out.Set("metadata", meta)
	return out
}

// emptied returns sent without maps that are empty in it but not in the live
// object: a server turns a map into null if all its entries are removed, and then
// rejects the null. Fields that are not sent are removed anyway.
func emptied(sent, before *tree.Node) *tree.Node {
	if !sent.IsMap() || !before.IsMap() {
		return sent
	}
	out := sent
	for _, f := range sent.Fields {
		was := before.Get(f.Key)
		gone := f.Value.IsMap() && f.Value.Len() == 0 && was.IsMap() && was.Len() > 0
		now := f.Value
		if !gone {
			now = emptied(f.Value, was)
		}
		if !gone && now == f.Value {
			continue
		}
		if out == sent {
			out = tree.Obj(append([]tree.Field(nil), sent.Fields...)...)
		}
		if gone {
			out.Delete(f.Key)
		} else {
			out.Set(f.Key, now)
		}
	}
	return out
}

// errWritten is the error of an update whose object was written concurrently.
var errWritten = errors.New("object was changed by another client at the same time")

// owned returns the part of an object that the portal has applied, according to
// managedFields.
func owned(n *tree.Node) *tree.Node {
	for _, m := range n.Get("metadata", "managedFields").List() {
		if m.Get("manager").Str() == Manager && m.Get("operation").Str() == "Apply" && m.Get("subresource").Str() == "" {
			return part(n, m.Get("fieldsV1"))
		}
	}
	return nil
}

// part returns the part of a value that a fieldsV1 set names. In a set, f: is a
// field, k: a list item by its keys, v: a list item by its value, and the dot the
// value itself. An empty set selects the whole value.
func part(n, fields *tree.Node) *tree.Node {
	if n == nil || !fields.IsMap() || len(fields.Fields) == 0 {
		return n
	}
	switch {
	case n.IsMap():
		out := tree.Obj()
		for _, f := range fields.Fields {
			key, ok := strings.CutPrefix(f.Key, "f:")
			if !ok {
				continue
			}
			if v := part(n.Get(key), f.Value); v != nil {
				out.Set(key, v)
			}
		}
		return out
	case n.IsList():
		out := tree.Arr()
		for _, item := range n.Items {
			for _, f := range fields.Fields {
				if names(f.Key, item) {
					out.Items = append(out.Items, withKeys(part(item, f.Value), f.Key))
					break
				}
			}
		}
		return out
	}
	return n
}

// names reports whether an entry of a fieldsV1 set refers to an item of a list.
func names(entry string, item *tree.Node) bool {
	kind, text, _ := strings.Cut(entry, ":")
	if kind != "k" && kind != "v" {
		return false
	}
	want, ok := parsedJSON(text)
	if !ok || kind == "v" {
		return ok && want.Equal(item)
	}
	for _, f := range want.Fields {
		if !f.Value.Equal(item.Get(f.Key)) {
			return false
		}
	}
	return true
}

// withKeys adds the keys of an entry to a part of an item.
func withKeys(item *tree.Node, entry string) *tree.Node {
	text, ok := strings.CutPrefix(entry, "k:")
	if !ok {
		return item
	}
	if keys, ok := parsedJSON(text); ok {
		return tree.Overlay(item, keys)
	}
	return item
}

func parsedJSON(text string) (*tree.Node, bool) {
	if !json.Valid([]byte(text)) {
		return nil, false
	}
	docs, errs := parser.DecodeBytes([]byte(text))
	if len(errs) > 0 || len(docs) != 1 {
		return nil, false
	}
	return docs[0], true
}
