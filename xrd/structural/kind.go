package structural

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// Kind is a kind that a definition defines, in one version. It treats objects as an API
// server of Kubernetes 1.37 does that serves it. It is safe for concurrent use.
type Kind struct {
	// APIVersion and Name are the ones of its objects.
	APIVersion, Name string
	// Namespaced reports whether its objects are in namespaces.
	Namespaced bool

	structural *schema.Structural
	schema     validation.SchemaValidator
	flood      flood
	// rules is nil if the schema has none.
	rules *cel.Validator
}

// NewKind returns the kind of the composites of a version of d, or of its claims. The
// error says why an API server would not serve it. Validation rules that do not compile
// fail for each object; Checker finds them.
func NewKind(d *xrd.Definition, versionName string, claim bool) (*Kind, error) {
	v, err := version(d, versionName)
	if err != nil {
		return nil, err
	}
	if claim && !d.HasClaim() {
		return nil, fmt.Errorf("%s defines no claims", d.Label())
	}
	k := &Kind{APIVersion: d.Group + "/" + v.Name, Name: d.Names.Kind, Namespaced: d.Scope == xrd.ScopeNamespaced}
	index := 0
	if claim {
		k.Name, k.Namespaced, index = d.Claim.Kind, true, 1
	}
	own, err := ownSchema(v)
	if err == nil {
		err = k.compile(resources(d, own)[index])
	}
	if err != nil {
		return nil, fmt.Errorf("cannot use the schema of version %q of %s: %w", v.Name, d.Label(), err)
	}
	return k, nil
}

func (k *Kind) compile(props *extv1.JSONSchemaProps) error {
	var internal apiextensions.JSONSchemaProps
	if err := extv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, &internal, nil); err != nil {
		return err
	}
	var err error
	if k.structural, err = schema.NewStructural(&internal); err != nil {
		return err
	}
	if err = defaulting.PruneDefaults(k.structural); err != nil {
		return err
	}
	if k.schema, _, err = validation.NewSchemaValidator(&internal); err != nil {
		return err
	}
	k.flood = newFlood(&internal)
	k.rules = cel.NewValidator(k.structural, true, celconfig.PerCallLimit)
	return nil
}

// Verdict is what an API server says about an object.
type Verdict struct {
	// Problems are why it refuses the object.
	Problems []Problem
	// RulesSkipped reports whether validation rules were not evaluated because of other
	// problems. The API server then adds UncheckedRules to the problems.
	RulesSkipped bool
	// Unknown are the paths of fields that the schema lacks. The API server drops them,
	// unless the request asks for strict validation, as those of kubectl do.
	Unknown []string
}

// Problem is why an API server refuses an object.
type Problem struct {
	// Field is the path of the field, such as spec.sizes[0].name. It is empty if the
	// problem concerns the whole object.
	Field string
	// Path is the same as steps: keys, and indexes of lists.
	Path []string
	// Message is the API server's text about the field: the type of error, the value, and
	// the detail.
	Message string
	// Detail is the message of a validation rule, or of the schema; it may be empty.
	Detail string
	// Missing reports whether the field is required and has no value.
	Missing bool
	// Rule reports whether a validation rule is the reason: Message and Detail are the text
	// of its author, which may contain values of the object.
	Rule bool
}

// Default drops the fields of an object that the schema lacks, and sets defaults. It
// returns the paths of the dropped fields.
func (k *Kind) Default(object map[string]any) (unknown []string, err error) {
	meta, found, err := objectmeta.GetObjectMeta(object, false)
	if err != nil {
		return nil, err
	}
	unknown = pruning.PruneWithOptions(object, k.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(object, k.structural)
	if err := objectmeta.Coerce(nil, object, k.structural, false, false); err != nil {
		return unknown, err
	}
	if found {
		if err := objectmeta.SetObjectMeta(object, meta); err != nil {
			return unknown, err
		}
	}
	defaulting.Default(object, k.structural)
	return unknown, nil
}

// Validate returns what an API server says when an object is created, or, if old is not
// nil, when it replaces old. Neither object is changed.
func (k *Kind) Validate(ctx context.Context, object, old map[string]any) Verdict {
	object = runtime.DeepCopyJSON(object)
	unknown, err := k.Default(object)
	v := Verdict{Unknown: unknown}
	if err != nil {
		v.Problems = []Problem{{Message: err.Error(), Detail: err.Error()}}
		return v
	}
	delete(object, "status")
	var errs, rules field.ErrorList
	if old == nil {
		errs, rules = k.create(ctx, object)
	} else {
		old = runtime.DeepCopyJSON(old)
		// A stored object that cannot be read is compared as it is.
		_, _ = k.Default(old)
		if status, ok := old["status"]; ok {
			// Only requests to the subresource change the status.
			object["status"] = status
		}
		errs, rules = k.update(ctx, object, old)
	}
	for i, e := range slices.Concat(errs, rules) {
		name := e.Field
		if name == "<nil>" {
			name = ""
		}
		if e.Detail == UncheckedRules {
			v.RulesSkipped = true
			continue
		}
		v.Problems = append(v.Problems, Problem{Field: name, Path: splitPath(object, name), Message: e.ErrorBody(), Detail: e.Detail, Missing: e.Type == field.ErrorTypeRequired, Rule: i >= len(errs)})
	}
	return v
}

// create validates an object as a request does that creates it. It returns the errors of
// rules apart.
func (k *Kind) create(ctx context.Context, object map[string]any) (errs, rules field.ErrorList) {
	if errs = k.typeMeta(object); len(errs) > 0 {
		return errs, nil
	}
	found, flooded := k.flood.errors(ctx, object, nil)
	if tooMany(found) {
		return found, nil
	}
	if !flooded {
		found = validation.ValidateCustomResource(nil, object, k.schema)
	}
	errs = append(errs, k.objectMeta(object)...)
	errs = append(errs, found...)
	errs = append(errs, objectmeta.Validate(ctx, nil, object, k.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.structural, object)...)
	return errs, k.rulesOf(ctx, errs, object, nil)
}

// update validates an object as a request does that updates old. Fields that were
// invalid and do not change are accepted.
func (k *Kind) update(ctx context.Context, object, old map[string]any) (errs, rules field.ErrorList) {
	if errs = k.typeMeta(object); len(errs) > 0 {
		return errs, nil
	}
	correlated := common.NewCorrelatedObject(object, old, &model.Structural{Structural: k.structural})
	found, flooded := k.flood.errors(ctx, object, correlated)
	if tooMany(found) {
		return found, nil
	}
	if !flooded {
		found = validation.ValidateCustomResourceUpdate(nil, object, old, k.schema, validation.WithRatcheting(correlated))
	}
	errs = append(errs, found...)
	errs = append(errs, objectmeta.Validate(ctx, nil, object, k.structural, false)...)
	if len(listtype.ValidateListSetsAndMaps(nil, k.structural, old)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.structural, object)...)
	}
	return errs, k.rulesOf(ctx, errs, object, old, cel.WithRatcheting(correlated))
}

// UncheckedRules is what an API server says instead of the results of rules if they cannot
// be evaluated.
const UncheckedRules = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"

// rulesOf evaluates the validation rules, unless an earlier error says that the object
// does not have the types that the rules expect.
func (k *Kind) rulesOf(ctx context.Context, earlier field.ErrorList, object, old map[string]any, opts ...cel.Option) field.ErrorList {
	if k.rules == nil {
		return nil
	}
	if slices.ContainsFunc(earlier, func(e *field.Error) bool {
		return e.Type == field.ErrorTypeNotSupported || e.Type == field.ErrorTypeRequired || e.Type == field.ErrorTypeTooLong || e.Type == field.ErrorTypeTooMany || e.Type == field.ErrorTypeTypeInvalid
	}) {
		return field.ErrorList{field.Invalid(nil, nil, UncheckedRules)}
	}
	var before any
	if old != nil {
		before = old
	}
	errs, _ := k.rules.Validate(ctx, nil, k.structural, object, before, celconfig.RuntimeCELCostBudget, opts...)
	return errs
}

// typeMeta checks the kind of an object.
func (k *Kind) typeMeta(object map[string]any) (errs field.ErrorList) {
	if object["kind"] != k.Name {
		errs = append(errs, field.Invalid(field.NewPath("kind"), object["kind"], "must be "+k.Name))
	}
	if object["apiVersion"] != k.APIVersion {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), object["apiVersion"], "must be "+k.APIVersion))
	}
	return errs
}

// objectMeta checks the metadata of an object. As a request does, it ignores the
// namespace of a kind without namespaces, and adds a missing one.
func (k *Kind) objectMeta(object map[string]any) field.ErrorList {
	meta, found, err := objectmeta.GetObjectMeta(object, false)
	path := field.NewPath("metadata")
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(path, object["metadata"], err.Error())}
	case !found || meta.Name == "" && meta.GenerateName == "":
		return field.ErrorList{field.Required(path.Child("name"), "name or generateName is required")}
	case !k.Namespaced:
		meta.Namespace = ""
	case meta.Namespace == "":
		meta.Namespace = "default"
	}
	return apivalidation.ValidateObjectMeta(meta, k.Namespaced, apivalidation.NameIsDNSSubdomain, path)
}

// String returns the problem as the API server writes it.
func (p Problem) String() string {
	if p.Field == "" {
		return p.Message
	}
	return p.Field + ": " + p.Message
}

// Text returns the message without the value: the detail if there is one.
func (p Problem) Text() string {
	if p.Missing && p.Detail == "" {
		return "is required"
	}
	if detail := strings.TrimSpace(p.Detail); detail != "" {
		return detail
	}
	return p.Message
}

// Object converts a document to an object as an API server reads it: whole numbers are
// integers.
func Object(n *tree.Node) (map[string]any, error) {
	var object map[string]any
	if err := utiljson.Unmarshal(tree.AppendJSON(nil, n, ""), &object); err != nil {
		return nil, fmt.Errorf("cannot read the object: %w", err)
	}
	return object, nil
}
