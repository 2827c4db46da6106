package extending

import (
	"os"
	"strings"
	"testing"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/xrd"
)

// TestExtension checks that the example does what its comments promise.
func TestExtension(t *testing.T) {
	f, err := os.Open("../bucket.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var set xrd.Set
	if err := set.Read(f, xrd.Origin{File: "bucket.yaml"}); err != nil {
		t.Fatal(err)
	}
	_, transformer := Extension.Engine(engine.CLI, engine.Options{})
	result, err := transformer.Transform(engine.Input{Definition: set.Definitions[0], Compositions: set.Compositions})
	if err != nil {
		t.Fatal(err)
	}
	out := string(entity.YAMLDocuments(result.Entities))
	for _, want := range []string{
		"owner: team-storage.example.org",                                 // PreProcess
		"url: https://runbooks.example.org/buckets-api",                   // PostProcess
		"example.org/runbook: https://runbooks.example.org/buckets-api\n", // PostProcess
		"costCentre:\n          title: Cost centre",                       // the wrapper
		"apiVersion: scaffolder.backstage.io/v1beta3",                     // translation still comes last
		"kind: Resource\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("output lacks %q:\n%s", want, out)
		}
	}
}
