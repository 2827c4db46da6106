package publish

import (
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
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
		"New":      {"a new one", "", false, newKustomization + "resources:\n  - m/x.yaml\n", ""},
		"Comments": {"nothing but comments", "# ours", false, "# ours\n" + newKustomization + "resources:\n  - m/x.yaml\n", ""},
		"Absent":   {"no list yet", head + "namespace: x", false, head + "namespace: x\nresources:\n  - m/x.yaml\n", ""},
		"Empty":    {"an empty list", head + "resources: [] # none\nx: 1\n", false, head + "resources: # none\n  - m/x.yaml\nx: 1\n", ""},
		"Null":     {"a list that is none", head + "resources:\nx: 1\n", false, head + "resources:\n  - m/x.yaml\nx: 1\n", ""},
		"First":    {"in order, before the first and its comment", "resources:\n# z\n- z.yaml\n", false, "resources:\n- m/x.yaml\n# z\n- z.yaml\n", ""},
		"Middle":   {"in order, between", "resources:\n    - a.yaml # a\n    # z\n    - z.yaml\n", false, "resources:\n    - a.yaml # a\n    - m/x.yaml\n    # z\n    - z.yaml\n", ""},
		"Last":     {"without a last line break", "resources:\n- a.yaml", false, "resources:\n- a.yaml\n- m/x.yaml\n", ""},
		"Order":    {"others have their own order", "resources:\n- z.yaml\n- a.yaml\nx: 1\n", false, "resources:\n- z.yaml\n- a.yaml\n- m/x.yaml\nx: 1\n", ""},
		"Quoted":   {"quotes", "resources:\n- \"a.yaml\"\n- 'z.yaml'\n", false, "resources:\n- \"a.yaml\"\n- m/x.yaml\n- 'z.yaml'\n", ""},
		"Windows":  {"line breaks of another system", "resources:\r\n- a.yaml\r\n", false, "resources:\r\n- a.yaml\r\n- m/x.yaml\r\n", ""},
		"There":    {"it is listed", "resources:\n- ./m/x.yaml\n", false, "resources:\n- ./m/x.yaml\n", ""},
		"Remove":   {"the one line", "resources:\n- a.yaml\n- m/x.yaml # ours\n- z.yaml\n", true, "resources:\n- a.yaml\n- z.yaml\n", ""},
		"Only":     {"the only one", head + "resources: # all\n- m/x.yaml\nx: 1\n", true, head + "resources: [] # all\nx: 1\n", ""},
		"NotThere": {"it is not listed", "resources:\n- a.yaml\n", true, "resources:\n- a.yaml\n", ""},
		"None":     {"there is no kustomization", "", true, "", ""},
		"Flow":     {"a list in one line", "resources: [a.yaml]\n", false, "", "cannot be changed without"},
		"FlowMap":  {"all in one line", "{kind: Kustomization}\n", false, "", "cannot be changed without"},
		"Anchor":   {"a list that is used twice", "a: &l\n- a.yaml\nresources: *l\n", false, "", "cannot be changed without"},
		"Two":      {"two documents", "a: 1\n---\nb: 1\n", false, "", "it is no kustomization"},
		"Text":     {"a text", "hello\n", false, "", "it is no kustomization"},
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

// FuzzEnlist lists something in whatever there is, and takes it out again.
func FuzzEnlist(f *testing.F) {
	for _, text := range []string{"", "resources:\n- a.yaml\n# x\n- z.yaml", "a: &l [x]\nresources: *l\n", "resources: []\r\n", "resources:\n- |\n  a\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		with, err := enlist(text, "m/x.yaml", false)
		if err != nil {
			return
		}
		docs, errs := tree.DecodeBytes(with)
		if len(errs) > 0 || len(docs) != 1 || !slices.ContainsFunc(docs[0].Get("resources").Strings(), func(s string) bool { return path.Clean(s) == "m/x.yaml" }) {
			t.Errorf("it is not listed: %q", with)
		}
		if _, err := enlist(with, "m/x.yaml", true); err != nil && !errors.Is(err, errForm) {
			t.Errorf("%q: %v", with, err)
		}
	})
}
