package service_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/internal/ingestion/change"
	"example.dev/ingestor/test/apiserver"
)

// TestBreakingChangeGuard compares definitions for a caller who may read only some resources:
// what a schema refuses would tell the values of all others. Values of the rest are in no
// answer either, even if the rule of the caller puts them into its message.
func TestBreakingChangeGuard(t *testing.T) {
	t.Parallel()
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{sized("small, large"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: theirs}\n"}})
	for i, namespace := range []string{"default", "default", "theirs", "theirs", "theirs"} {
		c.Apply(t, strings.NewReplacer("spec: {}", "spec: {size: small}", "namespace: default", "namespace: "+namespace).Replace(composite(fmt.Sprintf("r%d", i), "alphas")))
	}
	s := start(t, setup{sections: sections{
		"composerIngestor": composer(nil, cluster("east", c))["composerIngestor"],
		"permission": sections{"rules": []any{
			sections{"permissions": []string{"cluster.resource.read"}, "namespaces": []string{"theirs"}, "result": "deny"},
		}},
	}})
	s.composites(5)
	cases := map[string]struct {
		reason, definition string
		affected           int
		message            string
	}{
		"Enum": {"Only the resources that the caller may read are counted.", sized("large"), 2, `enum value "small" removed`},
		"Rule": {
			"The text of a rule is not in the answer.",
			strings.Replace(sized("small, large"), "openAPIV3Schema:\n          type: object\n",
				"openAPIV3Schema:\n          type: object\n          x-kubernetes-validations: [{rule: \"!has(self.spec.size)\", fieldPath: .spec.size, messageExpression: \"'size is '+self.spec.size\"}]\n", 1),
			2, "v1: validation rule may refuse objects: !has(self.spec.size)",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got change.Answer
			if status, err := s.ask(http.MethodPost, "/api/composer-ingestor/impact", strings.NewReader(tc.definition), &got); status != http.StatusOK || err != nil {
				t.Fatalf("got %d, %v", status, err)
			}
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if im := got.Impact; im == nil || im.Checked != 2 || im.Affected != tc.affected || !strings.Contains(string(text), strings.ReplaceAll(tc.message, `"`, `\"`)) {
				t.Errorf("%s: answer is %s", tc.reason, text)
			}
			if want := "3 resources of cluster east are not validated: you lack permission cluster.resource.read for them"; !slices.Contains(got.Incomplete, want) {
				t.Errorf("%s: incomplete is %q, want %q", tc.reason, got.Incomplete, want)
			}
			if strings.Contains(string(text), "size is small") {
				t.Errorf("answer has a value of a resource: %s", text)
			}
		})
	}
}
