package location

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// TestAliases reads documents with YAML aliases, and checks that annotations
// added to one part do not appear in another.
func TestAliases(t *testing.T) {
	const text = `
apiVersion: backstage.io/v1alpha1
kind: System
metadata:
  name: a
  labels: &shared { tier: backend }
  annotations: *shared
spec: { owner: b }`
	labels := map[string]string{"tier": "backend"}
	cases := map[string]struct {
		reason string
		write  func(*tree.Node)
		want   map[string]string
	}{
		"Annotate": {
			reason: "The locations of the entity are added.",
			write:  func(n *tree.Node) { Annotate(n, "file:/a", "file:/b") },
			want:   map[string]string{"tier": "backend", "backstage.io/managed-by-location": "file:/a", "backstage.io/managed-by-origin-location": "file:/b"},
		},
		"Claim": {
			reason: "The manager of the entity is added.",
			write:  func(n *tree.Node) { Claim(n, "provider:ci") },
			want:   map[string]string{"tier": "backend", "backstage.io/managed-by-location": "provider:ci", "backstage.io/managed-by-origin-location": "provider:ci"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			docs, errs := parser.DecodeBytes([]byte(text))
			if len(docs) != 1 || len(errs) > 0 {
				t.Fatalf("text has %d documents, %v", len(docs), errs)
			}
			tc.write(docs[0])
			metadata := docs[0].Get("metadata")
			if diff := cmp.Diff(labels, metadata.Get("labels").StringMap()); diff != "" {
				t.Errorf("%s: labels (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, metadata.Get("annotations").StringMap()); diff != "" {
				t.Errorf("%s: annotations (-want +got):\n%s", tc.reason, diff)
			}
			if problems := ProblemsOf(docs[0]); len(problems) > 0 {
				t.Errorf("%s: entity has the problems %v", tc.reason, problems)
			}
		})
	}
}
