package spool

import (
	"fmt"
	"testing"

	"example.dev/ingestor/document/parser"
)

func TestLocate(t *testing.T) {
	docs, errs := parser.DecodeBytes([]byte("metadata:\n  name: a\n  tags:\n    - x\n    - y\n  labels:\n    a/b.c: d\nspec:\n  steps:\n    - id: s\n"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	cases := map[string]struct {
		reason string
		want   string
	}{
		"":                              {"The position of the document is its beginning.", "1:1"},
		"metadata.name":                 {"The position of a field is its key.", "2:3"},
		"metadata.tags[1]":              {"The position of an item is the item.", "5:7"},
		"metadata.tags[2]":              {"The position of a missing item is its list.", "3:3"},
		`metadata.labels["a/b.c"]`:      {"A quoted key is supported.", "7:5"},
		"metadata.annotations":          {"The position of a missing field is its parent.", "1:1"},
		"spec.steps[0].action":          {"The position of a missing nested field is its parent.", "10:7"},
		"spec.steps[0].id.more":         {"A string has no fields.", "10:7"},
		`metadata.labels["unfinished`:   {"An incomplete path gives the last known position.", "6:3"},
		"metadata.tags[x]":              {"An invalid index gives the position of the list.", "3:3"},
		"path.unknown[7].this[\"way\"]": {"An unknown path gives the beginning of the document.", "1:1"},
	}
	for path, tc := range cases {
		t.Run(path, func(t *testing.T) {
			got := locate(docs[0], path)
			if text := fmt.Sprintf("%d:%d", got.Line, got.Column); text != tc.want {
				t.Errorf("%s\ngot %s, want %s", tc.reason, text, tc.want)
			}
		})
	}
}
