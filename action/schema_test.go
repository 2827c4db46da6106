package action

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
)

func TestSchema(t *testing.T) {
	cases := map[string]struct {
		reason string
		fields []Field
		want   string
	}{
		"Nothing":  {"An object without fields has an empty schema.", nil, `{"type":"object","properties":{},"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}`},
		"Anything": {"A field can have any type.", []Field{{Name: "a"}}, `{"type":"object","properties":{"a":{}},"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}`},
		"Fields": {"Types, further keywords and required fields are written.",
			[]Field{{Name: "b", Type: "array", Description: "Names", Required: true, Schema: tree.Obj(tree.F("minItems", tree.Number(1)))}, {Name: "a", Type: "boolean"}},
			`{"type":"object","properties":{"b":{"type":"array","minItems":1,"description":"Names"},"a":{"type":"boolean"}},"required":["b"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, string(tree.AppendJSON(nil, Schema(tc.fields...), ""))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
