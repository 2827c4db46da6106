package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"example.dev/ingestor/internal/text"
)

func (w *walk) enum(o, n *extv1.JSONSchemaProps, broken bool, p place) {
	if equality.Semantic.DeepEqual(o.Enum, n.Enum) {
		return
	}
	gone, added := without(o.Enum, n.Enum), without(n.Enum, o.Enum)
	switch {
	case len(o.Enum) == 0 && broken:
		w.tell(RuleEnumAdded, true, p, "enum", Change{Message: "only these values are accepted: " + list(n.Enum), New: list(n.Enum)})
	case len(o.Enum) > 0 && len(n.Enum) == 0:
		w.tell(RuleLoosened, false, p, "enum", Change{Message: "enum removed: any value is accepted", Old: list(o.Enum)})
	case len(gone) > 0 && broken:
		for _, v := range gone {
			w.tell(RuleEnumValue, true, p, "enum", Change{Message: fmt.Sprintf("enum value %s removed", short(v.Raw)), Old: list(o.Enum), New: list(n.Enum)})
		}
	}
	if len(o.Enum) > 0 && len(n.Enum) > 0 {
		for _, v := range added {
			w.tell(RuleLoosened, true, p, "enum", Change{Message: fmt.Sprintf("enum value %s added", short(v.Raw)), Old: list(o.Enum), New: list(n.Enum)})
		}
	}
}

// without returns the values that are not among others.
func without(all, others []extv1.JSON) (out []extv1.JSON) {
	known := make(map[string]bool, len(others))
	for _, o := range others {
		known[canonical(o.Raw)] = true
	}
	for _, v := range all {
		if !known[canonical(v.Raw)] {
			out = append(out, v)
		}
	}
	return out
}

// canonical returns a value so that equal values are equal texts.
func canonical(raw []byte) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(out)
}

// sameJSON reports whether two values are the same, or both absent.
func sameJSON(a, b *extv1.JSON) bool {
	if a == nil || b == nil {
		return a == b
	}
	if bytes.Equal(a.Raw, b.Raw) {
		return true
	}
	var x, y any
	return json.Unmarshal(a.Raw, &x) == nil && json.Unmarshal(b.Raw, &y) == nil && equality.Semantic.DeepEqual(x, y)
}

// list returns values in short form.
func list(values []extv1.JSON) string {
	const most = 20
	var all []string
	for _, v := range values[:min(len(values), most)] {
		all = append(all, short(v.Raw))
	}
	if len(values) > most {
		all = append(all, fmt.Sprintf("and %d more", len(values)-most))
	}
	return strings.Join(all, ", ")
}

// short returns a value in abbreviated form.
func short(raw []byte) string {
	const most = 80
	return text.Shorten(string(raw), most)
}
