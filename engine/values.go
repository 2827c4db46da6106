package engine

import (
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
)

// The origins of a value, in order of precedence.
const (
	FromAnnotation = "annotation"
	FromLabel      = "label"
	FromOption     = "option"
	FromDefinition = "definition"
	FromDefault    = "default"
)

// The defaults of the contract.
const (
	defaultOwner     = "platform-team"
	defaultSystem    = "platform"
	defaultLifecycle = "production"
)

// value resolves a value: the annotation overrides the option, the option overrides the
// default. It records the origin of the value.
func (t *transformation) value(field string, annotations map[string]string, key, option, fallback string) string {
	given, from := words.Pick(annotations, key)
	switch {
	case given != "":
		t.source(field, given, FromAnnotation, t.def.Words.Out(words.Key, from))
		return given
	case option != "":
		t.source(field, option, FromOption, field)
		return option
	}
	if fallback != "" {
		t.source(field, fallback, FromDefault, "")
	}
	return fallback
}

func (t *transformation) source(field, value, from, key string) {
	if slices.ContainsFunc(t.out.Sources, func(s Source) bool { return s.Field == field }) {
		return
	}
	t.out.Sources = append(t.out.Sources, Source{Field: field, Value: value, From: from, Key: key})
}

// refValue is value for entity references: an invalid reference is reported and ignored.
func (t *transformation) refValue(field string, annotations map[string]string, key, option, fallback, kind string) string {
	if v, from := words.Pick(annotations, key); v != "" && !t.isRef(v, kind) {
		t.note(RuleRef, placeOf(t.def.Node, from),
			fmt.Sprintf("%s %q is not an entity reference and is ignored", field, v), "write it as name, namespace/name or kind:namespace/name")
		annotations = nil
	}
	if option != "" && !t.isRef(option, kind) {
		t.note(RuleRef, tree.Pos{}, fmt.Sprintf("%s %q, set as an option, is not an entity reference and is ignored", field, option),
			"write it as name, namespace/name or kind:namespace/name")
		option = ""
	}
	return t.value(field, annotations, key, option, fallback)
}

// lifecycle returns the lifecycle of the API entities.
func (t *transformation) lifecycle() string {
	if given := t.def.Annotations[words.AnnotationLifecycle]; given != "" {
		return t.value("lifecycle", t.def.Annotations, words.AnnotationLifecycle, "", "")
	}
	return t.opts.Lifecycle
}

// isRef reports whether s refers to an entity of the kind or, where a Group is expected,
// to a User.
func (t *transformation) isRef(s, kind string) bool { return isRef(s, kind, t.namespace) }

func isRef(s, kind, namespace string) bool {
	r, err := entity.ParseExisting(s, kind, namespace)
	if err != nil {
		return false
	}
	return strings.EqualFold(r.Kind, kind) || kind == "Group" && strings.EqualFold(r.Kind, "User")
}

// isLabel reports whether s is a DNS label.
func isLabel(s string) bool { return isWord(s, true, "-") && len(s) <= 63 && s[len(s)-1] != '-' }

// defaultNamespace returns the default namespace of a form.
func (t *transformation) defaultNamespace() string {
	const key = words.AnnotationDefaultNamespace
	annotations := t.def.Annotations
	if ns := annotations[key]; ns != "" && !isLabel(ns) {
		t.note(RuleDefaultNamespace, annotationPos(t.def.Node, t.def.Words.Out(words.Key, key)),
			fmt.Sprintf("default namespace %q is not a valid namespace name and is ignored", ns), "use lower-case letters, digits and dashes")
		annotations = nil
	}
	option := t.opts.ResourceNamespace
	if option != "" && !isLabel(option) {
		t.note(RuleDefaultNamespace, tree.Pos{}, fmt.Sprintf("default namespace %q, set as an option, is not a valid namespace name and is ignored", option),
			"use lower-case letters, digits and dashes")
		option = ""
	}
	return t.value("default-namespace", annotations, key, option, "default")
}

// annotationPos returns the position of an annotation's value.
func annotationPos(n *tree.Node, key string) tree.Pos {
	return n.Get("metadata", "annotations", key).At()
}

// settleNamespace returns the namespace of the entities.
func (t *transformation) settleNamespace() string {
	if t.opts.Namespace == "" {
		t.source("namespace", entity.DefaultNamespace, FromDefault, "")
		return entity.DefaultNamespace
	}
	ns, changed := entity.Namespace(t.opts.Namespace)
	if changed {
		t.note(RuleNamespace, tree.Pos{}, fmt.Sprintf("namespace %q is not valid in the catalog and becomes %q", t.opts.Namespace, ns), "")
	}
	t.source("namespace", ns, FromOption, "namespace")
	return ns
}
