package form

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLocate finds fields in a form. Fields come from URLs, and from messages of clusters.
func TestLocate(t *testing.T) {
	spec := compileSpec(t, modern, `{type: object, properties: {size: {type: integer}, network: {type: object, properties: {region: {type: string}}}, any: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`, Options{})
	cases := map[string]struct {
		reason, field string
		want          []string
	}{
		"Field":    {"A field of the form.", "spec.size", []string{"size"}},
		"Nested":   {"A field of an object.", "spec.network.region", []string{"network", "region"}},
		"Part":     {"A part of a field that the form has as a whole.", "spec.any.a.b", []string{"any", "a", "b"}},
		"Unknown":  {"A field that the form does not have.", "spec.other", nil},
		"None":     {"No field.", "", nil},
		"Dots":     {"A path without names.", strings.Repeat(".", 60_000), nil},
		"Deep":     {"A path that no object has.", "spec" + strings.Repeat(".size", 10_000), nil},
		"Prefix":   {"A path that begins inside of the spec.", "size", nil},
		"Injected": {"An expression is a name.", "spec.${{ parameters.size }}", nil},
		"NotText":  {"A name that is not text.", "spec.\x00\xff", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Locate(updating(spec.Manifest), strings.Split(tc.field, "."))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
