package words_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

var update = flag.Bool("update", false, "rewrite api/annotations.schema.json")

// TestSchemaFile compares the schema file with the code.
func TestSchemaFile(t *testing.T) {
	path := filepath.Join("..", "api", "annotations.schema.json")
	want := append(tree.AppendJSON(nil, words.Schema(), "  "), '\n')
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("api/annotations.schema.json differs from the code; run the test with -update (-code +file):\n%s", cmp.Diff(string(want), string(got)))
	}
}

// compiled returns the compiled schema file.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "api", "annotations.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchema validates objects as an editor does.
func TestSchema(t *testing.T) {
	schema := compiled(t)
	tests := map[string]struct {
		reason, object string
		// want is a part of the error, or empty.
		want string
	}{
		"XRD": {
			reason: "Labels and annotations of an XRD are accepted, and others too.",
			object: `{kind: CompositeResourceDefinition, metadata: {labels: {openportal.dev/ingest: "true", team: a}, annotations: {backstage.io/owner: "group:a", x/y: z}}}`,
		},
		"Neutral": {
			reason: "The neutral spelling is known too.",
			object: `{kind: CompositeResourceDefinition, metadata: {labels: {example.dev/ingest: "yes"}}}`,
			want:   "must be one of",
		},
		"Unquoted": {
			reason: "An unquoted true is a boolean, which Kubernetes rejects.",
			object: `{kind: CompositeResourceDefinition, metadata: {labels: {openportal.dev/ingest: true}}}`,
			want:   "/metadata/labels/openportal.dev~1ingest",
		},
		"UnquotedOther": {
			reason: "The same holds for labels that are not known.",
			object: `{kind: CompositeResourceDefinition, metadata: {labels: {size: 3}}}`,
			want:   "want string",
		},
		"Value": {
			reason: "The label counts only if it is true.",
			object: `{kind: CompositeResourceDefinition, metadata: {labels: {terasky.backstage.io/generate-form: "True"}}}`,
			want:   "must be one of",
		},
		"Annotation": {
			reason: "Annotations are strings.",
			object: `{kind: CompositeResourceDefinition, metadata: {annotations: {backstage.io/template-tags: [a, b]}}}`,
			want:   "want string",
		},
		"Workload": {
			reason: "The id of a Component is a string.",
			object: `{kind: Deployment, metadata: {labels: {backstage.io/kubernetes-id: 7}}}`,
			want:   "want string",
		},
		"Composition": {
			reason: "A Composition can have an owner.",
			object: `{kind: Composition, metadata: {annotations: {backstage.io/owner: true}}}`,
			want:   "want string",
		},
		"OtherKind": {
			reason: "Other kinds are not checked.",
			object: `{kind: Service, metadata: {labels: {size: 3}}}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var value any
			if err := yaml.Unmarshal([]byte(tc.object), &value); err != nil {
				t.Fatal(err)
			}
			err := schema.Validate(value)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\ngot %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}
