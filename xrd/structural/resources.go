package structural

import (
	"cmp"
	"maps"
	"strconv"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"example.dev/ingestor/xrd"
)

// properties maps field names to their schemas.
type properties = map[string]extv1.JSONSchemaProps

// resources returns the schemas of the resources that Crossplane makes from a schema of
// d: the composite's and, if there is one, the claim's.
func resources(d *xrd.Definition, own *extv1.JSONSchemaProps) []*extv1.JSONSchemaProps {
	all := []*extv1.JSONSchemaProps{resource(own, compositeSpec(d), compositeStatus(d.Scope))}
	if d.HasClaim() {
		all = append(all, resource(own, claimSpec(d), compositeStatus(xrd.ScopeLegacyCluster)))
	}
	return all
}

// resource copies the parts of a schema that Crossplane copies, and adds Crossplane's
// own fields.
func resource(own *extv1.JSONSchemaProps, spec, status properties) *extv1.JSONSchemaProps {
	name := str()
	most := int64(63)
	if own := own.Properties["metadata"].Properties["name"].MaxLength; own != nil && *own < most {
		most = *own
	}
	name.MaxLength = &most
	s, t := own.Properties["spec"], own.Properties["status"]
	root := obj(properties{
		"apiVersion": str(), "kind": str(), "metadata": obj(properties{"name": name}),
		"spec": section(&s, spec), "status": section(&t, status),
	}, "spec")
	root.XValidations = own.XValidations
	if preserve := s.XPreserveUnknownFields; preserve != nil {
		p := root.Properties["spec"]
		p.XPreserveUnknownFields = preserve
		root.Properties["spec"] = p
	}
	return &root
}

func section(own *extv1.JSONSchemaProps, machinery properties) extv1.JSONSchemaProps {
	all := properties{}
	maps.Copy(all, own.Properties)
	maps.Copy(all, machinery)
	s := obj(all, own.Required...)
	s.XValidations, s.OneOf = own.XValidations, own.OneOf
	return s
}

// compositeSpec returns the fields that Crossplane adds to the spec of composites.
func compositeSpec(d *xrd.Definition) properties {
	ref := properties{"apiVersion": str(), "kind": str(), "name": str()}
	if d.Scope != xrd.ScopeNamespaced {
		ref["namespace"] = str()
	}
	item := obj(ref, "apiVersion", "kind")
	refs := extv1.JSONSchemaProps{Type: "array", Items: &extv1.JSONSchemaPropsOrArray{Schema: &item}, XListType: new("atomic")}
	all := composition()
	all["compositionUpdatePolicy"] = updatePolicies(cmp.Or(d.DefaultUpdatePolicy, "Automatic"))
	all["resourceRefs"] = refs
	if d.Modern() {
		return properties{"crossplane": obj(all)}
	}
	all["claimRef"] = obj(properties{"apiVersion": str(), "kind": str(), "namespace": str(), "name": str()}, "apiVersion", "kind", "namespace", "name")
	all["writeConnectionSecretToRef"] = obj(properties{"name": str(), "namespace": str()}, "name", "namespace")
	return all
}

// claimSpec returns the fields that Crossplane adds to the spec of claims.
func claimSpec(d *xrd.Definition) properties {
	all := composition()
	all["compositionUpdatePolicy"] = updatePolicies("")
	all["compositeDeletePolicy"] = policies(cmp.Or(d.DefaultDeletePolicy, "Background"), "Background", "Foreground")
	all["resourceRef"] = obj(properties{"apiVersion": str(), "kind": str(), "name": str()}, "apiVersion", "kind", "name")
	all["writeConnectionSecretToRef"] = obj(properties{"name": str()}, "name")
	return all
}

// composition returns the fields that select the Composition.
func composition() properties {
	values := str()
	labels := extv1.JSONSchemaProps{Type: "object", AdditionalProperties: &extv1.JSONSchemaPropsOrBool{Allows: true, Schema: &values}}
	return properties{
		"compositionRef":              obj(properties{"name": str()}, "name"),
		"compositionSelector":         obj(properties{"matchLabels": labels}, "matchLabels"),
		"compositionRevisionRef":      obj(properties{"name": str()}, "name"),
		"compositionRevisionSelector": obj(properties{"matchLabels": labels}, "matchLabels"),
	}
}

// compositeStatus returns the fields that Crossplane adds to the status of composites
// and claims.
func compositeStatus(scope xrd.Scope) properties {
	moment := extv1.JSONSchemaProps{Type: "string", Format: "date-time"}
	condition := obj(properties{
		"lastTransitionTime": moment, "message": str(), "reason": str(), "status": str(), "type": str(),
		"observedGeneration": {Type: "integer", Format: "int64"},
	}, "lastTransitionTime", "reason", "status", "type")
	all := properties{"conditions": {
		Type: "array", Items: &extv1.JSONSchemaPropsOrArray{Schema: &condition}, XListType: new("map"), XListMapKeys: []string{"type"},
	}}
	if scope == xrd.ScopeLegacyCluster {
		item := str()
		all["connectionDetails"] = obj(properties{"lastPublishedTime": moment})
		all["claimConditionTypes"] = extv1.JSONSchemaProps{Type: "array", Items: &extv1.JSONSchemaPropsOrArray{Schema: &item}, XListType: new("set")}
	}
	return all
}

func obj(p properties, required ...string) extv1.JSONSchemaProps {
	return extv1.JSONSchemaProps{Type: "object", Properties: p, Required: required}
}

func updatePolicies(fallback string) extv1.JSONSchemaProps {
	return policies(fallback, "Automatic", "Manual")
}

// policies returns the schema of a policy; fallback is its default, empty if there is
// none.
func policies(fallback string, names ...string) extv1.JSONSchemaProps {
	s := str()
	for _, name := range names {
		s.Enum = append(s.Enum, extv1.JSON{Raw: []byte(strconv.Quote(name))})
	}
	if fallback != "" {
		s.Default = &extv1.JSON{Raw: []byte(strconv.Quote(fallback))}
	}
	return s
}

func str() extv1.JSONSchemaProps { return extv1.JSONSchemaProps{Type: "string"} }
