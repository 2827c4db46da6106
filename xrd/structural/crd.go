package structural

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// CRDs returns the CustomResourceDefinitions that Crossplane makes from d: the one of
// composites, and the one of claims if there are any. They have names, versions and
// schemas, but no columns or labels.
func CRDs(d *xrd.Definition) ([]*extv1.CustomResourceDefinition, error) {
	composites, claims := newCRD(d, d.Names, d.Scope == xrd.ScopeNamespaced), newCRD(d, d.Claim, true)
	for _, v := range d.Versions {
		own, err := ownSchema(v)
		if err != nil {
			return nil, fmt.Errorf("cannot read the schema of version %q of %s: %w", v.Name, d.Label(), err)
		}
		made := resources(d, own)
		composites.Spec.Versions = append(composites.Spec.Versions, newVersion(v, made[0]))
		if d.HasClaim() {
			claims.Spec.Versions = append(claims.Spec.Versions, newVersion(v, made[1]))
		}
	}
	if !d.HasClaim() {
		return []*extv1.CustomResourceDefinition{composites}, nil
	}
	return []*extv1.CustomResourceDefinition{composites, claims}, nil
}

func newCRD(d *xrd.Definition, names xrd.Names, namespaced bool) *extv1.CustomResourceDefinition {
	scope := extv1.ClusterScoped
	if namespaced {
		scope = extv1.NamespaceScoped
	}
	return &extv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: names.Plural + "." + d.Group},
		Spec: extv1.CustomResourceDefinitionSpec{
			Group: d.Group, Scope: scope,
			Names: extv1.CustomResourceDefinitionNames{
				Kind: names.Kind, Plural: names.Plural,
				Singular: cmp.Or(names.Singular, strings.ToLower(names.Kind)), ListKind: names.Kind + "List",
			},
		},
	}
}

func newVersion(v *xrd.Version, made *extv1.JSONSchemaProps) extv1.CustomResourceDefinitionVersion {
	return extv1.CustomResourceDefinitionVersion{
		Name: v.Name, Served: v.Served, Storage: v.Referenceable,
		Schema:       &extv1.CustomResourceValidation{OpenAPIV3Schema: made},
		Subresources: &extv1.CustomResourceSubresources{Status: &extv1.CustomResourceSubresourceStatus{}},
	}
}

// ownSchema returns the schema of a version as Crossplane reads it.
func ownSchema(v *xrd.Version) (*extv1.JSONSchemaProps, error) {
	var own extv1.JSONSchemaProps
	if v.Schema == nil {
		return &own, nil
	}
	err := json.Unmarshal(tree.AppendJSON(nil, v.Schema, ""), &own)
	return &own, err
}

// version returns the version of d with a name.
func version(d *xrd.Definition, name string) (*xrd.Version, error) {
	i := slices.IndexFunc(d.Versions, func(v *xrd.Version) bool { return v.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%s has no version %q", d.Label(), name)
	}
	return d.Versions[i], nil
}
