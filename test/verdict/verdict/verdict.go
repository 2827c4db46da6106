// Package verdict decides whether a cluster accepts a definition. It runs the
// code of a cluster: that of the API server, with Crossplane's
// CustomResourceDefinition, for the definition itself; that of Crossplane for
// the resources made of it; and that of the API server again for those.
package verdict

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xpv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Judge has Crossplane's kind of definitions. It can be used concurrently.
type Judge struct {
	versions map[string]*Kind
}

// New returns a judge.
func New(ctx context.Context) (*Judge, error) {
	text, err := readKind(ctx)
	if err != nil {
		return nil, err
	}
	var crd extv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return nil, fmt.Errorf("cannot read Crossplane's kind of definitions: %w", err)
	}
	versions, err := Kinds(&crd)
	if err != nil {
		return nil, err
	}
	return &Judge{versions: versions}, nil
}

// Verdict is the result for a definition.
type Verdict struct {
	// Stage is where it was refused; empty if it was not.
	Stage string
	// Reasons are why it was refused.
	Reasons []string
	// Errors are the reasons of StageResource.
	Errors field.ErrorList
	// Made are the resources that Crossplane makes of it, up to the one that
	// was refused.
	Made []*extv1.CustomResourceDefinition
}

// Stages of a verdict.
const (
	// StageObject means that the API server refused the definition itself.
	StageObject = "object"
	// StageCrossplane means that Crossplane refused it.
	StageCrossplane = "crossplane"
	// StageResource means that the API server refused a resource made of it.
	StageResource = "resource"
)

// Definition judges a definition, which it changes like an API server.
func (j *Judge) Definition(ctx context.Context, object map[string]any) Verdict {
	version, _ := object["apiVersion"].(string)
	_, version, _ = strings.Cut(version, "/")
	kind := j.versions[version]
	if kind == nil {
		return Verdict{Stage: StageObject, Reasons: []string{fmt.Sprintf("no kind in version %q", version)}}
	}
	if reasons := kind.Admit(ctx, object); len(reasons) > 0 {
		return Verdict{Stage: StageObject, Reasons: reasons}
	}
	text, err := json.Marshal(object)
	if err != nil {
		return Verdict{Stage: StageObject, Reasons: []string{err.Error()}}
	}
	var definition xpv1.CompositeResourceDefinition
	if err := json.Unmarshal(text, &definition); err != nil {
		return Verdict{Stage: StageCrossplane, Reasons: []string{err.Error()}}
	}
	// A server gives every object a uid.
	definition.UID = "00000000-0000-0000-0000-000000000001"
	return resources(ctx, &definition)
}

// resources judges the resources that Crossplane makes of a definition.
func resources(ctx context.Context, d *xpv1.CompositeResourceDefinition) Verdict {
	makers := []func(*xpv1.CompositeResourceDefinition) (*extv1.CustomResourceDefinition, error){xcrd.ForCompositeResource}
	if d.Spec.ClaimNames != nil {
		makers = append(makers, xcrd.ForCompositeResourceClaim)
	}
	var v Verdict
	for _, f := range makers {
		crd, err := f(d)
		if err != nil {
			return Verdict{Stage: StageCrossplane, Reasons: []string{err.Error()}, Made: v.Made}
		}
		v.Made = append(v.Made, crd)
		refused, err := refusals(ctx, crd)
		if err != nil {
			refused = field.ErrorList{field.InternalError(nil, err)}
		}
		if len(refused) > 0 {
			v.Stage, v.Reasons, v.Errors = StageResource, messages(refused), refused
			return v
		}
	}
	return v
}

// refusals returns why an API server refuses a CustomResourceDefinition.
func refusals(ctx context.Context, crd *extv1.CustomResourceDefinition) (field.ErrorList, error) {
	// A request has text, not structures.
	text, err := json.Marshal(crd)
	if err != nil {
		return nil, err
	}
	var sent extv1.CustomResourceDefinition
	if err := json.Unmarshal(text, &sent); err != nil {
		return nil, err
	}
	extv1.SetObjectDefaults_CustomResourceDefinition(&sent)
	var internal apiextensions.CustomResourceDefinition
	if err := extv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&sent, &internal, nil); err != nil {
		return nil, err
	}
	internal.Status = apiextensions.CustomResourceDefinitionStatus{}
	for _, v := range internal.Spec.Versions {
		if v.Storage {
			internal.Status.StoredVersions = []string{v.Name}
			break
		}
	}
	return validation.ValidateCustomResourceDefinition(ctx, &internal), nil
}
