package form

import (
	"slices"
	"testing"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// filled returns what a browser makes of an untouched schema: defaults, and
// every object that is required or contains a default. Lists are absent until
// the user adds an item.
func filled(s *tree.Node) *tree.Node {
	if d := s.Get("default"); d != nil {
		return d
	}
	props := s.Get("properties")
	if !props.IsMap() {
		return nil
	}
	required := s.Get("required").Strings()
	out := tree.Obj()
	for _, p := range props.Fields {
		v := filled(p.Value)
		switch {
		case v == nil:
		case v.IsMap() && len(v.Fields) == 0 && !p.Value.Has("default") && !slices.Contains(required, p.Key):
		default:
			out.Set(p.Key, v)
		}
	}
	return out
}

// refused returns the optional objects that a browser creates by itself and
// that then prevent the submit.
func refused(s *tree.Node, path string) (bad []string) {
	props := s.Get("properties")
	if !props.IsMap() {
		return nil
	}
	required := s.Get("required").Strings()
	for _, p := range props.Fields {
		at := path + "." + p.Key
		bad = append(bad, refused(p.Value, at)...)
		if slices.Contains(required, p.Key) || p.Value.Has("default") {
			continue
		}
		if v := filled(p.Value); v.Len() > 0 && lacks(p.Value, v) {
			bad = append(bad, at)
		}
	}
	return bad
}

// lacks reports whether v, or an object in it, lacks a required field.
func lacks(s, v *tree.Node) bool {
	for _, r := range s.Get("required").Strings() {
		if !v.Has(r) && s.Get("properties", r).Get("type").Str() != "array" {
			return true
		}
	}
	for _, f := range v.Fields {
		if inner := s.Get("properties", f.Key); inner.IsMap() && f.Value.IsMap() && lacks(inner, f.Value) {
			return true
		}
	}
	return false
}

// TestUntouched checks for every form of the corpus that an untouched optional
// object never prevents the form from being submitted.
func TestUntouched(t *testing.T) {
	forms, fields := 0, 0
	for _, d := range readSet(t, corpus(t), "xrds/*/*").Definitions {
		for _, v := range d.Versions {
			forms++
			for _, page := range Compile(d, v, Options{Namespace: "default"}).Pages.Items {
				fields += page.Get("properties").Len()
				for _, at := range refused(page, "") {
					t.Errorf("%s, version %s: untouched %s prevents the submit", d.Origin.File, v.Name, at)
				}
			}
		}
	}
	if forms == 0 {
		t.Error("corpus has no definitions")
	}
	t.Logf("%d forms, %d fields on their pages", forms, fields)
}

// TestUntouchedModel checks that the model finds such objects.
func TestUntouchedModel(t *testing.T) {
	docs, errs := parser.DecodeBytes([]byte(`{properties: {backup: {type: object, required: [enabled, keep],
		properties: {enabled: {type: boolean, default: false}, keep: {type: integer}}}}}`))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if got := refused(docs[0], ""); !slices.Equal(got, []string{".backup"}) {
		t.Errorf("refused: %v, want .backup", got)
	}
}
