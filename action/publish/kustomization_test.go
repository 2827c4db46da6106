package publish

import (
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
)

func TestEnlist(t *testing.T) {
	const head = "kind: Kustomization\n"
	cases := map[string]struct {
		reason string
		text   string
		remove bool
		want   string
		err    string
	}{
		"New":      {"A missing kustomization is created.", "", false, newKustomization + "resources:\n  - m/x.yaml\n", ""},
		"Comments": {"A kustomization with only comments is completed.", "# ours", false, "# ours\n" + newKustomization + "resources:\n  - m/x.yaml\n", ""},
		"Absent":   {"A missing list is added.", head + "namespace: x", false, head + "namespace: x\nresources:\n  - m/x.yaml\n", ""},
		"Empty":    {"An empty list is replaced.", head + "resources: [] # none\nx: 1\n", false, head + "resources: # none\n  - m/x.yaml\nx: 1\n", ""},
		"Null":     {"A null list is replaced.", head + "resources:\nx: 1\n", false, head + "resources:\n  - m/x.yaml\nx: 1\n", ""},
		"First":    {"A sorted list stays sorted: the entry goes before the first one and its comment.", "resources:\n# z\n- z.yaml\n", false, "resources:\n- m/x.yaml\n# z\n- z.yaml\n", ""},
		"Middle":   {"A sorted list stays sorted: the entry goes between others.", "resources:\n    - a.yaml # a\n    # z\n    - z.yaml\n", false, "resources:\n    - a.yaml # a\n    - m/x.yaml\n    # z\n    - z.yaml\n", ""},
		"Last":     {"A missing newline at the end is added.", "resources:\n- a.yaml", false, "resources:\n- a.yaml\n- m/x.yaml\n", ""},
		"Order":    {"In an unsorted list the entry is appended.", "resources:\n- z.yaml\n- a.yaml\nx: 1\n", false, "resources:\n- z.yaml\n- a.yaml\n- m/x.yaml\nx: 1\n", ""},
		"Quoted":   {"quotes", "resources:\n- \"a.yaml\"\n- 'z.yaml'\n", false, "resources:\n- \"a.yaml\"\n- m/x.yaml\n- 'z.yaml'\n", ""},
		"Windows":  {"Windows line breaks are kept.", "resources:\r\n- a.yaml\r\n", false, "resources:\r\n- a.yaml\r\n- m/x.yaml\r\n", ""},
		"There":    {"An existing entry is not added again.", "resources:\n- ./m/x.yaml\n", false, "resources:\n- ./m/x.yaml\n", ""},
		"Remove":   {"Only the line of the entry is removed.", "resources:\n- a.yaml\n- m/x.yaml # ours\n- z.yaml\n", true, "resources:\n- a.yaml\n- z.yaml\n", ""},
		"Only":     {"Removing the only entry leaves an empty list.", head + "resources: # all\n- m/x.yaml\nx: 1\n", true, head + "resources: [] # all\nx: 1\n", ""},
		"NotThere": {"Removing a missing entry changes nothing.", "resources:\n- a.yaml\n", true, "resources:\n- a.yaml\n", ""},
		"None":     {"A missing kustomization is not created to remove an entry.", "", true, "", ""},
		"Flow":     {"A list in flow style is refused.", "resources: [a.yaml]\n", false, "", "cannot be edited without"},
		"FlowMap":  {"A document in flow style is refused.", "{kind: Kustomization}\n", false, "", "cannot be edited without"},
		"Anchor":   {"A list with an anchor is refused.", "a: &l\n- a.yaml\nresources: *l\n", false, "", "cannot be edited without"},
		"Two":      {"Several documents are refused.", "a: 1\n---\nb: 1\n", false, "", "not a kustomization"},
		"Text":     {"a text", "hello\n", false, "", "not a kustomization"},
		"Broken":   {"no YAML", "resources: [\n", false, "", "line"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := enlist([]byte(tc.text), "m/x.yaml", tc.remove)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("%s\n%v, want %q\n%s", tc.reason, err, tc.err, got)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if err != nil {
				return
			}
			if again, err := enlist(got, "m/x.yaml", tc.remove); err != nil || string(again) != string(got) {
				t.Errorf("%s\nagain: %v\n%s", tc.reason, err, again)
			}
		})
	}
}

// FuzzEnlist adds an entry to an arbitrary file, and removes it again.
func FuzzEnlist(f *testing.F) {
	for _, text := range []string{"", "resources:\n- a.yaml\n# x\n- z.yaml", "a: &l [x]\nresources: *l\n", "resources: []\r\n", "resources:\n- |\n  a\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		with, err := enlist(text, "m/x.yaml", false)
		if err != nil {
			return
		}
		docs, errs := parser.DecodeBytes(with)
		if len(errs) > 0 || len(docs) != 1 || !slices.ContainsFunc(docs[0].Get("resources").Strings(), func(s string) bool { return path.Clean(s) == "m/x.yaml" }) {
			t.Errorf("entry is missing: %q", with)
		}
		if _, err := enlist(with, "m/x.yaml", true); err != nil && !errors.Is(err, errForm) {
			t.Errorf("%q: %v", with, err)
		}
	})
}
