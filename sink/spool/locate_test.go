package spool

import (
	"fmt"
	"testing"

	"example.dev/ingestor/document/tree"
)

func TestLocate(t *testing.T) {
	docs, errs := tree.DecodeBytes([]byte("metadata:\n  name: a\n  tags:\n    - x\n    - y\n  labels:\n    a/b.c: d\nspec:\n  steps:\n    - id: s\n"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	cases := map[string]struct {
		reason string
		want   string
	}{
		"":                              {"the document", "1:1"},
		"metadata.name":                 {"a field, where its key is", "2:3"},
		"metadata.tags[1]":              {"an item", "5:7"},
		"metadata.tags[2]":              {"one that is not there: its list", "3:3"},
		`metadata.labels["a/b.c"]`:      {"a key with anything in it", "7:5"},
		"metadata.annotations":          {"a field that is missing: what it would be in", "1:1"},
		"spec.steps[0].action":          {"the same, deep down", "10:7"},
		"spec.steps[0].id.more":         {"a text has no fields", "10:7"},
		`metadata.labels["unfinished`:   {"half a path leads half-way", "6:3"},
		"metadata.tags[x]":              {"so does one of nonsense", "3:3"},
		"nobody.knows[7].this[\"way\"]": {"or one that leads nowhere", "1:1"},
	}
	for path, tc := range cases {
		t.Run(path, func(t *testing.T) {
			got := locate(docs[0], path)
			if text := fmt.Sprintf("%d:%d", got.Line, got.Column); text != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, text, tc.want)
			}
		})
	}
}
