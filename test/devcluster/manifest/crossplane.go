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

// The module whose files define Crossplane's kinds. It is not in go.mod,
// because as a dependency it would choose other versions of what the API
// server is built from; so its checksum stands here.
const (
	crossplaneModule = "github.com/crossplane/crossplane/v2@v2.4.0"
	crossplaneSum    = "h1:atHTxD+8jOOiM1Xf6UMlyZqPYMedRVDSGU10Znt4KR8="
)

// The API groups of definitions and compositions: Crossplane's, and the one in
// the specification's words.
const (
	crossplaneGroup = "apiextensions.crossplane.io"
	composerGroup   = "apiextensions.composer.io"
)

// CrossplaneDir returns the folder with the definitions of all of Crossplane's
// kinds. It lies in the module cache; the go command puts it there if need be.
func CrossplaneDir(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", crossplaneModule)
	// Outside a module, so that nobody's go.sum is changed.
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

// Words are the groups that definitions and compositions are offered in.
type Words string

// The choices.
const (
	Crossplane Words = "crossplane"
	Composer   Words = "composer"
	Both       Words = "both"
	None       Words = "none"
)

// groups returns the API groups that w names.
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

// CRDs returns the definitions of the two kinds that are ingested, definitions
// and compositions, in the groups that words name. They take compositions of
// the first generation too, as clusters do that still hold them.
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

// inGroup reads Crossplane's definitions under the name of another group. The
// shapes stay the same.
func inGroup(text []byte, group, origin string) ([]Object, error) {
	found, err := decode(bytes.NewReader(bytes.ReplaceAll(text, []byte(crossplaneGroup), []byte(group))), origin)
	for _, crd := range found {
		admitResources(crd)
	}
	return found, err
}

// admitResources lets compositions list resources in the place of a pipeline:
// what is known of spec.mode in the second generation is taken back, and spec
// is opened.
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
