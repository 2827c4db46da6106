package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// mostTries bounds how often an update begins anew because the object was
// written in between, which its controller does now and then.
const mostTries = 10

// whole returns a document as it is to be checked: an update with what is there
// already, because it need not say all that is required.
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

// missing is an update of what is not there.
func (a *applying) missing(d *document) error {
	return failure(a.on, d.doing(), Missing, "check its name, namespace and cluster, or create it first", "there is none to update")
}

// put applies a document. An update is of the object as it was looked at: if it
// was written since, it is looked at again.
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
			return nil, failure(a.on, d.doing(), Missing, "create it again, if it should be there", "it was deleted at this moment")
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

// same reports whether an object says the same as another, apart from what the
// server keeps about it. A step that is run again finds what it did before.
func same(one, other *tree.Node) bool {
	if one == nil || other == nil {
		return one == other
	}
	return said(one).Equal(said(other))
}

// said returns what somebody says of an object, without what the server and the
// portal keep about it.
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

// compare shows whoever tries it out how an object would differ. What others have
// made is not shown: who may try something out need not be somebody who may read
// it.
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

// body returns what is sent of a document. Of an object that the portal has
// applied, an update keeps what the manifest leaves out, unless somebody has
// looked at all of it. It is refused if the object was written in between, which
// does not matter to a trial.
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

// emptied returns what is sent without the maps that are empty in it and not in
// the object: a server makes null of a map of which it takes everything away, and
// then refuses that. What is not sent it takes away all the same.
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

// errWritten is what an update comes to whose object was written meanwhile.
var errWritten = errors.New("it was changed by somebody else at the same moment")

// owned returns the part of an object that the portal has applied, as the server
// remembers it.
func owned(n *tree.Node) *tree.Node {
	for _, m := range n.Get("metadata", "managedFields").List() {
		if m.Get("manager").Str() == Manager && m.Get("operation").Str() == "Apply" && m.Get("subresource").Str() == "" {
			return part(n, m.Get("fieldsV1"))
		}
	}
	return nil
}

// part returns the part of a value that a set of fields names. In a set, f: is a
// field, k: an item of a list by its keys, v: one by its value, and the dot the
// value itself. A set without anything in it is the whole of the value.
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

// names reports whether an entry of a set of fields is about an item of a list.
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

// withKeys adds to a part of an item the keys that the item is known by.
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
	docs, errs := tree.DecodeBytes([]byte(text))
	if len(errs) > 0 || len(docs) != 1 {
		return nil, false
	}
	return docs[0], true
}
