package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// tellServing annotates entities with the conditions of the definition in each
// cluster. The definition's Resource gets Established and Offered in any case. The
// Resource, the APIs, and the Templates that create or update get AnnotationUnserved
// while a cluster does not serve the definition, which locks their forms there.
// Templates that delete are never locked.
func (t *transformation) tellServing() {
	unserved := t.def.Unserved()
	for _, u := range unserved {
		// The scan that found the kind unserved already reported it.
		if u.Reason != xrd.ReasonNotServed {
			t.out.Findings = append(t.out.Findings, unservedFinding(t.def, u))
		}
	}
	if len(t.def.Serving) == 0 {
		return
	}
	var text string
	if len(unserved) > 0 {
		text = string(tree.AppendJSON(nil, unservedNode(unserved), ""))
	}
	for _, e := range t.out.Entities {
		isDefinition := e.Kind == entity.KindResource && words.In(words.Type, e.Spec.Get("type").Str()) == words.TypeXRD
		if !isDefinition && (text == "" || !creates(e)) {
			continue
		}
		// The annotations may be shared with another entity.
		a := maps.Clone(e.Metadata.Annotations)
		if a == nil {
			a = map[string]string{}
		}
		if isDefinition {
			writeConditions(a, worst(t.def.Serving))
		}
		if text != "" {
			a[words.AnnotationUnserved] = text
		}
		e.Metadata.Annotations = a
	}
}

// creates reports whether an entity is for creating or updating resources.
func creates(e *entity.Entity) bool {
	switch e.Kind {
	case entity.KindAPI:
		return true
	case entity.KindTemplate:
		return words.KeysIn(e.Metadata.Annotations)[words.AnnotationTemplatePurpose] != words.PurposeDelete
	}
	return false
}

// worst returns each condition once, preferring the first cluster where it is not
// True.
func worst(all []xrd.Serving) []xrd.Condition {
	var out []xrd.Condition
	for _, s := range all {
		for _, c := range s.Conditions {
			i := slices.IndexFunc(out, func(o xrd.Condition) bool { return o.Type == c.Type })
			switch {
			case i < 0:
				out = append(out, c)
			case out[i].Status == xrd.StatusTrue:
				out[i] = c
			}
		}
	}
	return out
}

// unservedNode is the value of AnnotationUnserved.
func unservedNode(all []xrd.Unserved) *tree.Node {
	list := tree.Arr()
	for _, u := range all {
		list.Items = append(list.Items, tree.Obj(
			tree.F("cluster", tree.Str(u.Cluster)),
			tree.F("condition", tree.Str(u.Type)),
			tree.F("status", tree.Str(u.Status)),
			tree.F("reason", tree.OptStr(u.Reason)),
			tree.F("message", tree.OptStr(u.Message)),
		))
	}
	return list
}

// Unserved parses AnnotationUnserved of a Template, in either vocabulary. It returns
// nil if the annotation is missing or cannot be parsed.
func Unserved(annotations map[string]string) []xrd.Unserved {
	text := words.KeysIn(annotations)[words.AnnotationUnserved]
	if text == "" {
		return nil
	}
	list, err := wire.Decoder{}.Decode([]byte(text))
	if err != nil {
		return nil
	}
	var out []xrd.Unserved
	for _, n := range list.List() {
		u := xrd.Unserved{Cluster: n.Get("cluster").Str(), Condition: xrd.Condition{
			Type: n.Get("condition").Str(), Status: n.Get("status").Str(), Reason: n.Get("reason").Str(), Message: n.Get("message").Str(),
		}}
		if u.Type != "" && u.Status != "" {
			out = append(out, u)
		}
	}
	return out
}

// unservedFinding returns the finding for an unserved definition.
func unservedFinding(d *xrd.Definition, u xrd.Unserved) finding.Finding {
	return finding.Finding{
		Rule: xrd.RuleUnserved, Severity: finding.Warning, Object: d.Label(), File: d.Origin.File, Pos: d.Node.At(),
		Message: fmt.Sprintf("cluster %q does not serve the definition: %s", cmp.Or(u.Cluster, "unnamed"), u),
		Hint:    "run kubectl describe xrd " + d.Name + " and check its events; its forms are locked in that cluster until the condition is True",
	}
}
