package manifest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The module with the CustomResourceDefinitions of Crossplane. It is not in
// go.mod, because as a dependency it would select other versions of the API
// server's modules; so its checksum is here.
const (
	crossplaneModule = "github.com/crossplane/crossplane/v2@v2.4.0"
	crossplaneSum    = "h1:atHTxD+8jOOiM1Xf6UMlyZqPYMedRVDSGU10Znt4KR8="
)

// The API groups of definitions and compositions: Crossplane's, and that of the
// specification.
const (
	crossplaneGroup = "apiextensions.crossplane.io"
	composerGroup   = "apiextensions.composer.io"
)

// CrossplaneDir returns the folder with the CustomResourceDefinitions of
// Crossplane. It is in the module cache; the go command downloads it if it is
// missing.
func CrossplaneDir(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", crossplaneModule)
	// The command runs outside a module, so that no go.sum is changed.
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	var module struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &module); jsonErr == nil && module.Error != "" {
		return "", fmt.Errorf("cannot download %s: %s", crossplaneModule, module.Error)
	}
	if err != nil {
		return "", fmt.Errorf("cannot download %s: %w; is the go command there?", crossplaneModule, err)
	}
	if module.Sum != crossplaneSum {
		return "", fmt.Errorf("cannot trust %s: its checksum is %s, not %s", crossplaneModule, module.Sum, crossplaneSum)
	}
	return filepath.Join(module.Dir, "cluster", "crds"), nil
}

// Words selects the API groups of definitions and compositions.
type Words string

// Values of Words.
const (
	Crossplane Words = "crossplane"
	Composer   Words = "composer"
	Both       Words = "both"
	None       Words = "none"
)

// groups returns the API groups of w.
func (w Words) groups() ([]string, error) {
	switch w {
	case Crossplane:
		return []string{crossplaneGroup}, nil
	case Composer:
		return []string{composerGroup}, nil
	case Both:
		return []string{crossplaneGroup, composerGroup}, nil
	case None:
		return nil, nil
	}
	return nil, fmt.Errorf("cannot choose kinds: %q is not one of %s, %s, %s, %s", w, Crossplane, Composer, Both, None)
}

// CRDs returns the CustomResourceDefinitions of definitions and compositions,
// in the groups of words. They also accept v1 compositions with resources, as
// clusters do that still have them.
func CRDs(ctx context.Context, words Words) ([]Object, error) {
	groups, err := words.groups()
	if err != nil || len(groups) == 0 {
		return nil, err
	}
	dir, err := CrossplaneDir(ctx)
	if err != nil {
		return nil, err
	}
	var all []Object
	for _, plural := range []string{"compositeresourcedefinitions", "compositions"} {
		path := filepath.Join(dir, crossplaneGroup+"_"+plural+".yaml")
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read Crossplane's kinds: %w", err)
		}
		for _, group := range groups {
			found, err := inGroup(text, group, path)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

// inGroup parses Crossplane's definitions under the name of another group. The
// schemas stay the same.
func inGroup(text []byte, group, origin string) ([]Object, error) {
	found, err := decode(bytes.NewReader(bytes.ReplaceAll(text, []byte(crossplaneGroup), []byte(group))), origin)
	for _, crd := range found {
		admitResources(crd)
	}
	return found, err
}

// admitResources allows compositions to list resources in place of a pipeline:
// it removes the rules on spec.mode and opens spec.
func admitResources(crd Object) {
	if kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind"); kind != "Composition" {
		return
	}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		spec, ok, _ := unstructured.NestedFieldNoCopy(v.(map[string]any), "schema", "openAPIV3Schema", "properties", "spec")
		if spec, isMap := spec.(map[string]any); ok && isMap {
			spec["x-kubernetes-preserve-unknown-fields"] = true
			delete(spec, "x-kubernetes-validations")
			_ = unstructured.SetNestedMap(spec, map[string]any{"type": "string"}, "properties", "mode")
		}
	}
	_ = unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions")
}
