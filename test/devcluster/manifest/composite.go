package manifest

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// IsDefinition reports whether an object defines composite resources, in the
// vocabulary of Crossplane or of the specification.
func IsDefinition(o Object) bool {
	group, _, _ := strings.Cut(o.GetAPIVersion(), "/")
	return o.GetKind() == "CompositeResourceDefinition" && (group == crossplaneGroup || group == composerGroup)
}

// IsCRD reports whether an object is a CustomResourceDefinition.
func IsCRD(o Object) bool {
	return o.GetKind() == crdKind && strings.HasPrefix(o.GetAPIVersion(), "apiextensions.k8s.io/")
}

const crdKind = "CustomResourceDefinition"

// Categories of composites and claims, by which kubectl lists all of them.
const (
	compositeCategory = "composite"
	claimCategory     = "claim"
)

// IsComposite reports whether a CustomResourceDefinition is of composites or
// claims.
func IsComposite(crd *unstructured.Unstructured) bool {
	all, _, _ := unstructured.NestedStringSlice(crd.Object, "spec", "names", "categories")
	return slices.Contains(all, compositeCategory) || slices.Contains(all, claimCategory)
}

// Composites returns a CustomResourceDefinition for the composites of a
// definition and, if it has claims, one for those. Their schemas are the
// definition's, open for the fields that Crossplane adds.
func Composites(def Object) ([]Object, error) {
	spec, _, _ := unstructured.NestedMap(def.Object, "spec")
	names, _ := spec["names"].(map[string]any)
	composite, err := customResource(def, spec, names, scope(def, spec), compositeCategory)
	if err != nil {
		return nil, err
	}
	claims, _ := spec["claimNames"].(map[string]any)
	if claims == nil {
		return []Object{composite}, nil
	}
	claim, err := customResource(def, spec, claims, "Namespaced", claimCategory)
	if err != nil {
		return nil, err
	}
	return []Object{composite, claim}, nil
}

// scope returns the scope of composites. In v1 they are cluster-scoped; since
// v2 they are namespaced by default.
func scope(def Object, spec map[string]any) string {
	s, _ := spec["scope"].(string)
	if s == "" && strings.HasSuffix(def.GetAPIVersion(), "/v2") {
		s = "Namespaced"
	}
	if s == "Namespaced" {
		return s
	}
	return "Cluster"
}

// customResource returns the CustomResourceDefinition of one kind.
func customResource(def Object, spec, names map[string]any, scope, category string) (Object, error) {
	group, _ := spec["group"].(string)
	plural, _ := names["plural"].(string)
	if group == "" || plural == "" {
		return Object{}, fmt.Errorf("cannot define a kind for %v: it has no group or no plural name", def)
	}
	versions, err := versions(def, spec)
	if err != nil {
		return Object{}, err
	}
	names = runtime.DeepCopyJSON(names)
	categories, _ := names["categories"].([]any)
	if !slices.Contains(categories, any(category)) {
		names["categories"] = append(categories, category)
	}
	return Object{&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       crdKind,
		"metadata":   map[string]any{"name": plural + "." + group},
		"spec": map[string]any{
			"group":    group,
			"names":    names,
			"scope":    scope,
			"versions": versions,
		},
	}}, def.Origin}, nil
}

// versions returns the versions of a kind. The referenceable one, or else the
// first, is the storage version.
func versions(def Object, spec map[string]any) ([]any, error) {
	all, _ := spec["versions"].([]any)
	if len(all) == 0 {
		return nil, fmt.Errorf("cannot make a kind of %v: it has no versions", def)
	}
	made := make([]any, len(all))
	stored := 0
	for i, v := range all {
		version, _ := v.(map[string]any)
		if version["referenceable"] == true {
			stored = i
		}
		open, err := schema(version)
		if err != nil {
			return nil, fmt.Errorf("cannot make a kind of %v: %w", def, err)
		}
		m := map[string]any{
			"name": version["name"], "served": version["served"] == true, "storage": false,
			"schema":       map[string]any{"openAPIV3Schema": open},
			"subresources": map[string]any{"status": map[string]any{}},
		}
		if columns, ok := version["additionalPrinterColumns"].([]any); ok {
			m["additionalPrinterColumns"] = runtime.DeepCopyJSONValue(columns)
		}
		made[i] = m
	}
	made[stored].(map[string]any)["storage"] = true
	return made, nil
}

// schema returns the schema of a version, open for additional fields in spec
// and status. Like Crossplane, it drops keywords that Kubernetes does not know.
func schema(version map[string]any) (map[string]any, error) {
	given, _, err := unstructured.NestedMap(version, "schema", "openAPIV3Schema")
	if err != nil {
		return nil, err
	}
	var props apiextensionsv1.JSONSchemaProps
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(given, &props); err != nil {
		return nil, fmt.Errorf("its schema is not one: %w", err)
	}
	props.Type = "object"
	if props.Properties == nil {
		props.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
	}
	for _, name := range []string{"spec", "status"} {
		open := props.Properties[name]
		open.Type = "object"
		open.XPreserveUnknownFields = new(true)
		props.Properties[name] = open
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(&props)
}
