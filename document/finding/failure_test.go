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
		"Silent":  {"A failure record without a message is still a failure.", tree.Obj(tree.F("error", tree.Obj())), "", true},
		"Entity":  {"An entity may have a field named error.", tree.Obj(tree.F("kind", tree.Str("API")), tree.F("error", tree.Obj())), "", false},
		"Text":    {"An error field that is a string is not a failure record.", tree.Obj(tree.F("error", tree.Str("no"))), "", false},
		"Nothing": {"A nil document is not a failure record.", nil, "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got, ok := FailureOf(tc.doc); got != tc.want || ok != tc.ok {
				t.Errorf("%s\ngot %q, %v; want %q, %v", tc.reason, got, ok, tc.want, tc.ok)
			}
		})
	}
}
