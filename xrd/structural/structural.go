// Package structural checks the schemas of definitions with the API server's own code,
// for what only that code can determine: whether validation rules compile and are cheap
// enough, and whether defaults are valid. It derives the resources that Crossplane makes
// from a definition, and checks their schemas. A Kind validates objects of those
// resources, and sets their defaults.
//
// Package xrd/lint does the other checks, and calls a Checker if a schema is otherwise
// valid.
package structural

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
)

// Checker checks schemas as the API server of Kubernetes 1.37 does. Its zero value is
// ready to use, and it is safe for concurrent use.
type Checker struct{}

var _ lint.Schemas = Checker{}

// Check returns what an API server rejects in the resources that Crossplane makes from a
// version of d. It checks rules and defaults only.
func (Checker) Check(d *xrd.Definition, v *xrd.Version) []lint.SchemaFault {
	if !needed(v.Schema) {
		return nil
	}
	own, err := ownSchema(v)
	if err != nil {
		return []lint.SchemaFault{{Rule: lint.RuleKeywordType, Message: "Crossplane cannot read the schema: " + err.Error()}}
	}
	var all []lint.SchemaFault
	for _, made := range resources(d, own) {
		// What is wrong with the composite is mostly wrong with the claim too.
		known := all
		for _, f := range check(made) {
			if !slices.ContainsFunc(known, func(o lint.SchemaFault) bool { return slices.Equal(o.Path, f.Path) }) {
				all = append(all, f)
			}
		}
	}
	return all
}

// needed reports whether a schema contains anything that package lint cannot check
// alone.
func needed(n *tree.Node) bool {
	return n.Get(validations).Len() > 0 || n.Has("default") && intricate(n) || within(n, needed)
}

// intricate reports whether lint leaves part of a schema unchecked when it checks a
// default.
func intricate(n *tree.Node) bool {
	return slices.ContainsFunc(unchecked, n.Has) || within(n, intricate)
}

var unchecked = []string{
	"format", "multipleOf", "minimum", "maximum", "not", "oneOf", "anyOf", "allOf",
	"x-kubernetes-embedded-resource", "x-kubernetes-list-type",
}

// within reports whether f is true of a schema directly inside n.
func within(n *tree.Node, f func(*tree.Node) bool) bool {
	if p := n.Get("properties"); p.IsMap() {
		for i := range p.Fields {
			if f(p.Fields[i].Value) {
				return true
			}
		}
	}
	items, more := n.Get("items"), n.Get("additionalProperties")
	return items.IsMap() && f(items) || more.IsMap() && f(more)
}

// check checks the schema of one resource.
func check(props *extv1.JSONSchemaProps) []lint.SchemaFault {
	var internal apiextensions.JSONSchemaProps
	if err := extv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, &internal, nil); err != nil {
		return []lint.SchemaFault{{Rule: lint.RuleKeywordType, Message: "Kubernetes cannot read the schema: " + err.Error()}}
	}
	c := newCompiler()
	one := uint64(1)
	c.walk(&internal, nil, true, &one, "")
	c.total()
	if len(c.faults) > 0 {
		// Defaults are validated against the rules, which must compile for that.
		return c.faults
	}
	return defaults(&internal)
}

// defaults returns what is rejected in the defaults of a schema.
func defaults(props *apiextensions.JSONSchemaProps) []lint.SchemaFault {
	s, err := schema.NewStructural(props)
	if err != nil {
		return []lint.SchemaFault{{Rule: lint.RuleNoType, Message: "the schema is not structural: " + err.Error()}}
	}
	errs, err := defaulting.ValidateDefaults(context.Background(), field.NewPath(base), s, true, true)
	if err != nil {
		return []lint.SchemaFault{{Rule: lint.RuleDefault, Message: "Kubernetes cannot check the defaults: " + err.Error()}}
	}
	var all []lint.SchemaFault
	for _, e := range errs {
		detail := strings.ReplaceAll(e.Detail, "\n", " ")
		if detail == "" {
			detail = strings.ToLower(string(e.Type))
		}
		all = append(all, lint.SchemaFault{
			Rule: lint.RuleDefault, Path: steps(e.Field), Message: fmt.Sprintf("Kubernetes rejects the default: %s", detail),
			Hint: "fix the default or the schema",
		})
	}
	return all
}

// base is the first element of the paths in the API server's errors.
const base = "schema"

// steps splits a path of the API server, such as schema.properties[spec].default.
func steps(path string) []string {
	var all []string
	rest := strings.TrimPrefix(path, base)
	for rest != "" {
		switch rest[0] {
		case '[':
			key, after, _ := strings.Cut(rest[1:], "]")
			all, rest = append(all, key), after
		case '.':
			rest = rest[1:]
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			all, rest = append(all, rest[:end]), rest[end:]
		default:
			return all
		}
	}
	return all
}
