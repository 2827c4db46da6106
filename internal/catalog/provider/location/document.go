package location

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/text"
	"example.dev/ingestor/words"
)

// Name returns the name of the Location entity that represents a location, as Backstage
// generates it.
func Name(typ, target string) string {
	sum := sha1.Sum([]byte(typ + ":" + target))
	return "generated-" + hex.EncodeToString(sum[:])
}

// Ref returns the canonical reference of the Location entity that represents a
// location.
func Ref(typ, target string) string {
	return entity.Ref{Kind: entity.KindLocation, Name: Name(typ, target)}.String()
}

// own returns the Location entity that represents t.
func own(t Target) *tree.Node {
	n := tree.Obj(
		tree.F("apiVersion", tree.Str(words.Upstream.APIVersionOut(words.EntityVersion))),
		tree.F("kind", tree.Str(entity.KindLocation)),
		tree.F("metadata", tree.Obj(
			tree.F("name", tree.Str(Name(t.Type, t.Target))),
			tree.F("namespace", tree.Str(entity.DefaultNamespace)),
		)),
		tree.F("spec", tree.Obj(
			tree.F("type", tree.Str(t.Type)),
			tree.F("target", tree.Str(t.Target)),
		)),
	)
	Annotate(n, t.String(), t.String())
	return n
}

// Annotate annotates an entity with its origin, in its own vocabulary: the address it
// was read from, and that of the location that led there, both as type:target. Existing
// values are replaced; a link to its source stays.
func Annotate(n *tree.Node, at, origin string) {
	annotations := annotationsOf(n)
	if annotations == nil {
		return
	}
	speaks := words.Of(n.Get("apiVersion").Str())
	put := func(key, value string) {
		for _, s := range words.Spellings(words.Key, key) {
			annotations.Delete(s)
		}
		annotations.Set(speaks.Out(words.Key, key), tree.Str(value))
	}
	put(words.AnnotationManagedBy, at)
	put(words.AnnotationManagedByOrigin, origin)
	url, isURL := strings.CutPrefix(at, TypeURL+":")
	said := slices.ContainsFunc(words.Spellings(words.Key, words.AnnotationViewURL), annotations.Has)
	if isURL && !said {
		put(words.AnnotationViewURL, url)
	}
}

// Claim annotates an entity with its manager, in its own vocabulary, unless it has the
// annotation already.
func Claim(n *tree.Node, manager string) {
	annotations := annotationsOf(n)
	if annotations == nil {
		return
	}
	speaks := words.Of(n.Get("apiVersion").Str())
	for _, key := range []string{words.AnnotationManagedBy, words.AnnotationManagedByOrigin} {
		if !slices.ContainsFunc(words.Spellings(words.Key, key), annotations.Has) {
			annotations.Set(speaks.Out(words.Key, key), tree.Str(manager))
		}
	}
}

// annotationsOf returns the annotations of an entity for modification, created if there
// are none. YAML aliases may share them with other parts of the entity, so they and
// their metadata are copied first. It returns nil if there can be none; then the entity
// will be refused.
func annotationsOf(n *tree.Node) *tree.Node {
	metadata := ownMap(n, "metadata")
	if metadata == nil {
		return nil
	}
	return ownMap(metadata, "annotations")
}

// ownMap replaces the map under a key by a copy that nothing else shares, and returns
// it; nil if the value is not a map.
func ownMap(n *tree.Node, key string) *tree.Node {
	if !n.IsMap() {
		return nil
	}
	own := tree.Obj()
	if was := n.Get(key); was.IsMap() {
		*own = *was
		own.Fields = slices.Clone(was.Fields)
	} else if !was.IsNull() {
		return nil
	}
	n.Set(key, own)
	return own
}

// ProblemsOf returns why a catalog would refuse an entity. The messages have the
// wording of Backstage.
func ProblemsOf(n *tree.Node) []Problem {
	if !n.IsMap() {
		return []Problem{*problemf(nameInput, "an entity must be a map, found %s", kindOf(n))}
	}
	var out []Problem
	for _, f := range entity.CheckDocument(n) {
		if f.Severity != finding.Error {
			continue
		}
		cause := text.Shorten(f.Message, maxMessage)
		if f.Path != "" {
			cause = fmt.Sprintf("%q is not valid; %s", clip(f.Path), cause)
		}
		if f.Hint != "" {
			cause += "; " + text.Shorten(f.Hint, maxMessage)
		}
		p := problemf(nameInput, "Policy check failed for %s; caused by Error: %s", clip(entity.RefOf(n).String()), cause)
		p.Cause, p.pos = cause, f.Pos
		if exact := place(n, f.Path).At(); exact.Line != 0 {
			p.pos = exact
		}
		out = append(out, *p)
	}
	return out
}

// place returns the value at a path such as metadata.links[0].url, or the last existing
// value on the way there.
func place(n *tree.Node, path string) *tree.Node {
	for path != "" {
		var next *tree.Node
		switch key, rest, quoted := cutKey(path); {
		case quoted || n.IsMap():
			next, path = n.Get(key), rest
		default:
			i, err := strconv.Atoi(key)
			if err == nil && i >= 0 && i < len(n.List()) {
				next = n.Items[i]
			}
			path = rest
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// cutKey splits the first key or index off a path.
func cutKey(path string) (key, rest string, quoted bool) {
	if inside, ok := strings.CutPrefix(path, "["); ok {
		if text, err := strconv.QuotedPrefix(inside); err == nil {
			key, _ = strconv.Unquote(text)
			return key, strings.TrimPrefix(strings.TrimPrefix(inside[len(text):], "]"), "."), true
		}
		key, rest, _ = strings.Cut(inside, "]")
		return key, strings.TrimPrefix(rest, "."), false
	}
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		return path, "", false
	}
	return path[:end], strings.TrimPrefix(path[end:], "."), false
}

// Size returns the minimum size of a document in bytes with its aliases expanded.
// Without aliases, it is not larger than its text.
func Size(n *tree.Node) int64 {
	size := int64(1 + len(n.Text))
	for i := range n.Fields {
		size += int64(len(n.Fields[i].Key)) + Size(n.Fields[i].Value)
	}
	for _, item := range n.Items {
		size += Size(item)
	}
	return size
}

func kindOf(n *tree.Node) string {
	if n == nil {
		return "nothing"
	}
	return n.Kind.String()
}

// allows reports whether the rules allow a kind of entity.
func allows(rules []config.CatalogRule, kind string) bool {
	return slices.ContainsFunc(rules, func(r config.CatalogRule) bool {
		return slices.ContainsFunc(r.Allow, func(k string) bool { return strings.EqualFold(k, kind) })
	})
}

// Status returns the status of a Location with problems, nil if there are none.
func Status(problems []Problem) *tree.Node {
	items := tree.Arr()
	for i := range problems {
		p := &problems[i]
		items.Items = append(items.Items, tree.Obj(
			tree.F("type", tree.Str(words.Upstream.Out(words.Key, "portal.io/catalog-processing"))),
			tree.F("level", tree.Str("error")),
			tree.F("message", tree.Str(p.Error())),
			tree.F("error", tree.Obj(
				tree.F("name", tree.Str(p.Name)),
				tree.F("message", tree.Str(p.Text())),
			)),
		))
	}
	if len(items.Items) == 0 {
		return nil
	}
	return tree.Obj(tree.F("items", items))
}
