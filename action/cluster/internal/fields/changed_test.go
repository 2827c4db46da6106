package fields

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/wire"
)

func TestChanged(t *testing.T) {
	tests := map[string]struct {
		reason, before, after string
		want                  []string
	}{
		"Same":    {reason: "Nothing has changed.", before: `{"spec":{"a":1}}`, after: `{"spec":{"a":1}}`},
		"Fields":  {reason: "Changed, removed and added fields are named.", before: `{"spec":{"a":1,"b":{"c":1}}}`, after: `{"spec":{"a":2,"b":{},"d":[1]}}`, want: []string{"spec.a", "spec.b.c", "spec.d"}},
		"List":    {reason: "A list is one field.", before: `{"spec":{"a":[1]}}`, after: `{"spec":{"a":[1,2]}}`, want: []string{"spec.a"}},
		"Server":  {reason: "The server's own fields do not count.", before: `{"metadata":{"resourceVersion":"1"},"status":{"a":1}}`, after: `{"metadata":{"resourceVersion":"2"},"status":{"a":2}}`},
		"Label":   {reason: "Labels are requested too.", before: `{"metadata":{"labels":{"example.org/a":"x"}}}`, after: `{"metadata":{"labels":{"example.org/a":"y"}}}`, want: []string{"metadata.labels.example.org/a"}},
		"Space":   {reason: "Paths have no spaces.", before: `{"spec":{"a b":1}}`, after: `{"spec":{"a b":2}}`, want: []string{"spec.a_b"}},
		"Long":    {reason: "Long names are truncated.", before: `{}`, after: `{"` + strings.Repeat("x", 300) + `":1}`, want: []string{strings.Repeat("x", 200) + "…"}},
		"Created": {reason: "A new object has no previous state.", after: `{"spec":{"a":1}}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			after, err := wire.Decoder{}.Decode([]byte(tc.after))
			if err != nil {
				t.Fatal(err)
			}
			before, err := wire.Decoder{}.Decode([]byte(tc.before))
			if tc.before == "" {
				before, err = nil, nil
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, Changed(before, after)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
