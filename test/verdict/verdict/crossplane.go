package verdict

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The module with the CustomResourceDefinitions of Crossplane. Only its files
// are needed, so it is not in go.mod, and its checksum is here.
const (
	crossplaneModule = "github.com/crossplane/crossplane/v2@v2.4.0"
	crossplaneSum    = "h1:atHTxD+8jOOiM1Xf6UMlyZqPYMedRVDSGU10Znt4KR8="
)

// readKind reads Crossplane's CustomResourceDefinition of definitions. It is in
// the module cache; the go command downloads it if it is missing.
func readKind(ctx context.Context) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", crossplaneModule)
	// The command runs outside a module, so that no go.sum is changed.
	cmd.Dir = os.TempDir()
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	var module struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &module); jsonErr == nil && module.Error != "" {
		return nil, fmt.Errorf("cannot download %s: %s", crossplaneModule, module.Error)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot download %s: %w; is the go command there?", crossplaneModule, err)
	}
	if module.Sum != crossplaneSum {
		return nil, fmt.Errorf("cannot trust %s: its checksum is %s, not %s", crossplaneModule, module.Sum, crossplaneSum)
	}
	path := filepath.Join(module.Dir, "cluster", "crds", "apiextensions.crossplane.io_compositeresourcedefinitions.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read Crossplane's kind of definitions: %w", err)
	}
	return text, nil
}
