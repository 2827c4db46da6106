package finding

import (
	"testing"

	"example.dev/ingestor/document/tree"
)

func TestFailure(t *testing.T) {
	cases := map[string]struct {
		reason string
		doc    *tree.Node
		want   string
		ok     bool
	}{
		"Own":     {"A failure that was written can be read back.", Failure("2 of 3 files: \"a\" is gone"), "2 of 3 files: \"a\" is gone", true},
		"Silent":  {"a failure without a word is one all the same", tree.Obj(tree.F("error", tree.Obj())), "", true},
		"Entity":  {"an entity may have any field besides", tree.Obj(tree.F("kind", tree.Str("API")), tree.F("error", tree.Obj())), "", false},
		"Text":    {"some other program's word", tree.Obj(tree.F("error", tree.Str("no"))), "", false},
		"Nothing": {"no document", nil, "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got, ok := FailureOf(tc.doc); got != tc.want || ok != tc.ok {
				t.Errorf("%s: got %q, %v; want %q, %v", tc.reason, got, ok, tc.want, tc.ok)
			}
		})
	}
}
