package config

import (
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/text"
)

// object is a map that is being read. Each method with a key reads that key, and
// thereby defines that it exists.
type object struct {
	r *reader
	// node is nil if the map is absent.
	node *tree.Node
	at   place
	// path is the path of the map as it is written, doc in the contract's vocabulary; when
	// keys are listed, without the indices of entries.
	path, doc string
	// known are the keys that are read, idle those that are accepted and ignored.
	known, idle []string
	// other is the alternative spelling that was used for a key.
	other map[string]string
	// lenient reports that a value that cannot be resolved is not an error.
	lenient bool
	// unchecked disables the check for unknown keys.
	unchecked bool
	// out is the effective configuration, including defaults.
	out *tree.Node
}

// given reports whether the map is present.
func (o *object) given() bool { return o.node != nil || o.r.describing }

// spelling returns the spelling that is used for a key.
func (o *object) spelling(key string) string {
	if s, ok := o.other[key]; ok {
		return s
	}
	return key
}

// field returns the entry of a key, nil if there is none or it is null.
func (o *object) field(key string) *tree.Field {
	f := o.node.Field(o.spelling(key))
	if f == nil || f.Value.IsNull() {
		return nil
	}
	return f
}

// has reports whether a key is given, validly or not.
func (o *object) has(key string) bool { return o.field(key) != nil }

// keyAt returns the position of a key, or that of the map if the key is absent.
func (o *object) keyAt(key string) place {
	if f := o.field(key); f != nil {
		return o.r.keyPlace(f)
	}
	return o.at
}

// valueAt returns the position of the value of a key, which must be given.
func (o *object) valueAt(key string) place { return o.r.placeOf(o.field(key).Value) }

// pathTo returns the path of a key.
func (o *object) pathTo(key string) string { return join(o.path, o.spelling(key)) }

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// get returns the value of a key.
func (o *object) get(key string) value { return o.value(key, false) }

// value is get for a key that may hold a secret.
func (o *object) value(key string, secret bool) value {
	o.known = append(o.known, key)
	f := o.field(key)
	if f == nil {
		return value{at: o.at, path: o.pathTo(key), secret: secret}
	}
	o.r.written[join(o.doc, key)] = written{o.r.placeOf(f.Value), o.pathTo(key)}
	return o.r.resolve(f.Value, o.pathTo(key), secret, o.lenient)
}

// also defines another spelling of a key.
func (o *object) also(key, other string) {
	if o.r.describing {
		o.r.keys = append(o.r.keys, Key{Path: join(o.doc, other), Type: "as `" + key + "`"})
	}
	o.known = append(o.known, other)
	f := o.field(other)
	switch {
	case f == nil:
		return
	case o.has(key):
		o.clash(key, other)
		return
	}
	if o.other == nil {
		o.other = map[string]string{}
	}
	o.other[key] = other
}

// clash reports that two keys are given of which only one is allowed.
func (o *object) clash(key, other string) {
	a, b := o.field(key), o.field(other)
	// Report the later of the two.
	if before(o.r.keyPlace(b), o.r.keyPlace(a)) {
		a, b = b, a
	}
	o.r.report(RuleTogether, o.r.keyPlace(b), join(o.path, b.Key), "keep one of the two",
		"%s cannot be used with %s at %s", join(o.path, b.Key), a.Key, o.r.keyPlace(a))
}

// before reports whether a precedes b in the same file.
func before(a, b place) bool {
	if a.file != b.file {
		return false
	}
	return a.pos.Line < b.pos.Line || a.pos.Line == b.pos.Line && a.pos.Column < b.pos.Column
}

// oneOf reports all but the first of the keys that are given. It returns the first one,
// "" if none is given.
func (o *object) oneOf(keys ...string) string {
	first := ""
	for _, key := range keys {
		switch {
		case !o.has(key):
		case first == "":
			first = key
		default:
			o.clash(first, key)
		}
	}
	return first
}

// require reports a key that is missing from a map that is present.
func (o *object) require(key, hint string) {
	if o.r.describing {
		o.r.required[o.doc] = append(o.r.required[o.doc], key)
		return
	}
	if o.given() && !o.has(key) {
		o.r.report(RuleMissing, o.at, o.pathTo(key), hint, "%s has no %s", o.path, key)
	}
}

// done records the effective value of a key.
func (o *object) done(key, kind string, holds *tree.Node) {
	o.note(key, kind, holds)
	if holds != nil {
		o.out.Set(key, holds)
	}
}

// note adds a key to the list of keys.
func (o *object) note(key, kind string, def *tree.Node) {
	if !o.r.describing {
		return
	}
	k := Key{Path: join(o.doc, key), Type: kind}
	if def != nil {
		k.Default = string(tree.AppendJSON(nil, def, ""))
		if def.Kind == tree.String {
			k.Default = def.Text
		}
	}
	o.r.keys = append(o.r.keys, k)
}

// bounds records the bounds of the last key.
func (o *object) bounds(least, most int64) {
	if o.r.describing {
		k := &o.r.keys[len(o.r.keys)-1]
		k.Least, k.Most = &least, &most
	}
}

// object reads the map under a key.
func (o *object) object(key string, read func(*object)) {
	v := o.get(key)
	o.note(key, "map", nil)
	if v.node != nil && v.node.Kind != tree.Map {
		o.r.wrongType(v, "a map", "write its keys below it, indented")
		v.node = nil
	}
	child := o.child(v)
	child.doc = join(o.doc, key)
	read(child)
	child.finish()
	if len(child.out.Fields) > 0 {
		o.out.Set(key, child.out)
	}
}

// child returns the map v as an object.
func (o *object) child(v value) *object {
	return &object{r: o.r, node: v.node, at: v.at, path: v.path, lenient: o.lenient, out: tree.Obj()}
}

// list reads each entry of the list of maps under a key.
func (o *object) list(key string, read func(*object)) {
	v := o.get(key)
	o.note(key, "list", nil)
	if o.r.describing {
		read(&object{r: o.r, doc: join(o.doc, key) + "[]", out: tree.Obj()})
		return
	}
	if v.node == nil {
		return
	}
	if v.node.Kind != tree.List {
		o.r.wrongType(v, "a list", "write each entry on its own line after a dash")
		return
	}
	out := tree.Arr()
	for i, it := range v.node.Items {
		item := o.r.resolve(it, fmt.Sprintf("%s[%d]", v.path, i), false, o.lenient)
		if item.node == nil || item.node.Kind != tree.Map {
			if item.node != nil || it.IsNull() {
				o.r.wrongType(item, "a map", "write its keys after the dash")
			}
			continue
		}
		child := o.child(item)
		child.doc = fmt.Sprintf("%s[%d]", join(o.doc, key), i)
		read(child)
		child.finish()
		out.Items = append(out.Items, child.out)
	}
	o.out.Set(key, out)
}

// passOver accepts keys that a portal uses for its pages.
func (o *object) passOver(keys ...string) {
	o.accept(RulePassedOver, "", "%s is for the portal's pages and is ignored here", keys)
}

// noEffect accepts keys of Backstage's plugins whose function is not implemented here.
func (o *object) noEffect(keys ...string) {
	o.accept(RuleNoEffect, "remove it, unless a portal that shares the file uses it", "%s has no effect here", keys)
}

func (o *object) accept(rule, hint, format string, keys []string) {
	o.idle = append(o.idle, keys...)
	for _, key := range keys {
		o.note(key, typeIdle, nil)
		if o.has(key) {
			o.r.report(rule, o.keyAt(key), o.pathTo(key), hint, format, o.pathTo(key))
		}
	}
}

// typeIdle is the type of keys that are accepted and not read.
const typeIdle = "any; not used"

// finish reports unknown keys.
func (o *object) finish() {
	if o.node == nil || o.unchecked {
		return
	}
	for i := range o.node.Fields {
		f := &o.node.Fields[i]
		if slices.Contains(o.known, f.Key) || slices.Contains(o.idle, f.Key) {
			continue
		}
		hint := ""
		if !o.r.full() {
			hint = o.allowed(f.Key)
		}
		o.r.report(RuleUnknown, o.r.keyPlace(f), join(o.path, f.Key), hint, "%s has no key %q", o.path, shorten(f.Key))
	}
}

// allowed returns a hint with the known keys, and the one that may be meant.
func (o *object) allowed(key string) string {
	all := "known keys: " + enumerate(o.known, "and")
	if near := nearest(key, o.known); near != "" {
		return fmt.Sprintf("did you mean %s? %s", near, all)
	}
	return all
}

// slips reports top-level keys that are probably typos of ours. Other keys belong to
// other programs.
func (o *object) slips() {
	if o.node == nil {
		return
	}
	for i := range o.node.Fields {
		f := &o.node.Fields[i]
		if slices.Contains(o.known, f.Key) || o.r.full() {
			continue
		}
		if near := nearest(f.Key, o.known); near != "" && isSlip(f.Key, near) {
			o.r.report(RuleUnknown, o.r.keyPlace(f), f.Key, "did you mean "+near+"?", "%q is not a known section", shorten(f.Key))
		}
	}
}

// isSlip reports whether a key that is near a section is likely to be a typo of it.
// Other programs have sections too, and short words are near to many.
func isSlip(key, section string) bool {
	const short, long = 4, 8
	switch {
	case strings.EqualFold(key, section):
		return true
	case len(section) < short, section == "words":
		return false
	case len(section) < long:
		return text.Distance(key, section) == 1
	}
	return true
}

// enumerate joins words as in a sentence.
func enumerate(all []string, last string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " " + last + " " + all[len(all)-1]
}
