package sink

import "testing"

func TestParseFormat(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   Format
		ext    string
		err    string
	}{
		"YAML":    {reason: "yaml is a format.", in: "yaml", want: YAML, ext: ".yaml"},
		"JSON":    {reason: "json is a format.", in: "json", want: JSON, ext: ".json"},
		"Unknown": {reason: "The error lists the formats.", in: "xml", ext: ".yaml", err: `cannot use format "xml": must be yaml or json`},
		"Empty":   {reason: "There is no default format.", in: "", ext: ".yaml", err: `cannot use format "": must be yaml or json`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseFormat(tc.in)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if got != tc.want || got.Ext() != tc.ext || text != tc.err {
				t.Errorf("%s\nParseFormat(%q) = %v (%s), %q; want %v (%s), %q", tc.reason, tc.in, got, got.Ext(), text, tc.want, tc.ext, tc.err)
			}
		})
	}
}
