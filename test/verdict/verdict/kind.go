package verdict

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	crvalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Kind is one version of a kind of custom resources, as an API server serves it.
type Kind struct {
	name, apiVersion string
	namespaced       bool
	structural       *schema.Structural
	schema           crvalidation.SchemaValidator
	rules            *cel.Validator
}

// Kinds returns the kinds that crd defines, by the names of their versions.
func Kinds(crd *extv1.CustomResourceDefinition) (map[string]*Kind, error) {
	kinds := map[string]*Kind{}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		k, err := newKind(crd, v)
		if err != nil {
			return nil, fmt.Errorf("cannot serve version %q of %q: %w", v.Name, crd.Name, err)
		}
		kinds[v.Name] = k
	}
	return kinds, nil
}

func newKind(crd *extv1.CustomResourceDefinition, v *extv1.CustomResourceDefinitionVersion) (*Kind, error) {
	var props apiextensions.JSONSchemaProps
	if err := extv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &props, nil); err != nil {
		return nil, err
	}
	structural, err := schema.NewStructural(&props)
	if err != nil {
		return nil, err
	}
	// A server prunes defaults once, so that it need not prune each object
	// twice.
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, err
	}
	validator, _, err := crvalidation.NewSchemaValidator(&props)
	if err != nil {
		return nil, err
	}
	return &Kind{
		name: crd.Spec.Names.Kind, apiVersion: crd.Spec.Group + "/" + v.Name,
		namespaced: crd.Spec.Scope == extv1.NamespaceScoped,
		structural: structural, schema: validator,
		rules: cel.NewValidator(structural, true, celconfig.PerCallLimit),
	}, nil
}

// Admit processes object like an API server when it is created: it drops fields
// that the schema does not have, adds defaults, and returns why the object is
// refused.
func (k *Kind) Admit(ctx context.Context, object map[string]any) []string {
	meta, found, err := objectmeta.GetObjectMeta(object, false)
	if err != nil {
		return []string{err.Error()}
	}
	k.Prune(object)
	if err := objectmeta.Coerce(nil, object, k.structural, false, false); err != nil {
		return []string{err.Error()}
	}
	if found {
		if err := objectmeta.SetObjectMeta(object, meta); err != nil {
			return []string{err.Error()}
		}
	}
	k.Default(object)
	// The status is ignored when an object is created.
	delete(object, "status")

	var errs field.ErrorList
	if object["kind"] != k.name {
		errs = append(errs, field.Invalid(field.NewPath("kind"), object["kind"], "must be "+k.name))
	}
	if object["apiVersion"] != k.apiVersion {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), object["apiVersion"], "must be "+k.apiVersion))
	}
	if meta == nil || meta.Name == "" && meta.GenerateName == "" {
		errs = append(errs, field.Required(field.NewPath("metadata", "name"), "name or generateName is required"))
	} else {
		if k.namespaced && meta.Namespace == "" {
			meta.Namespace = "default"
		}
		errs = append(errs, metavalidation.ValidateObjectMeta(meta, k.namespaced, metavalidation.NameIsDNSSubdomain, field.NewPath("metadata"))...)
	}
	errs = append(errs, crvalidation.ValidateCustomResource(nil, object, k.schema)...)
	errs = append(errs, objectmeta.Validate(ctx, nil, object, k.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.structural, object)...)
	if k.rules != nil && len(errs) == 0 {
		fromRules, _ := k.rules.Validate(ctx, nil, k.structural, object, nil, celconfig.RuntimeCELCostBudget)
		errs = append(errs, fromRules...)
	}
	return messages(errs)
}

// Prune drops the fields of object that the schema does not have.
func (k *Kind) Prune(object map[string]any) {
	pruning.Prune(object, k.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, k.structural)
}

// Default adds the defaults of the schema to object.
func (k *Kind) Default(object map[string]any) { defaulting.Default(object, k.structural) }

func messages(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return all
}
