package diff

import (
	"fmt"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/crdify/pkg/config"
	"sigs.k8s.io/crdify/pkg/validations"
	"sigs.k8s.io/crdify/pkg/validations/property"
)

// The names of crdify's rules.
const (
	crdifyDefault     = "default"
	crdifyDescription = "description"
	crdifyEnum        = "enum"
	crdifyRequired    = "required"
	crdifyType        = "type"
)

// comparators are crdify's rules for a schema without the schemas inside it.
var comparators = newComparators()

func newComparators() []validations.Comparator[extv1.JSONSchemaProps] {
	r := validations.NewRegistry()
	for _, register := range []func(validations.Registry){
		property.RegisterDefault, property.RegisterDescription, property.RegisterEnum, property.RegisterRequired, property.RegisterType,
		property.RegisterMaximum, property.RegisterMaxItems, property.RegisterMaxLength, property.RegisterMaxProperties,
		property.RegisterMinimum, property.RegisterMinItems, property.RegisterMinLength, property.RegisterMinProperties,
	} {
		register(r)
	}
	all, err := validations.LoadValidationsFromRegistry(r)
	if err == nil {
		// A new enum value refuses no object.
		all, err = validations.ConfigureValidations(all, r, config.Config{Validations: []config.ValidationConfig{{
			Name: crdifyEnum, Enforcement: config.EnforcementPolicyError,
			Configuration: map[string]any{"additionPolicy": string(property.AdditionPolicyAllow)},
		}}})
	}
	if err != nil {
		// The registry has no input: it works always, or never.
		panic(fmt.Sprintf("cannot load the rules of crdify: %v", err))
	}
	var out []validations.Comparator[extv1.JSONSchemaProps]
	for _, v := range all {
		if c, ok := v.(validations.Comparator[extv1.JSONSchemaProps]); ok {
			out = append(out, c)
		}
	}
	return out
}

// judge returns the rules of crdify that a change of a schema breaks, and removes what
// they are about from both schemas.
func judge(older, newer *extv1.JSONSchemaProps) map[string]bool {
	broken := map[string]bool{}
	for _, c := range comparators {
		if r := c.Compare(older, newer); len(r.Errors) > 0 {
			broken[r.Name] = true
		}
	}
	return broken
}
