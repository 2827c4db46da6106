package source

import (
	"testing"
)

func TestPattern(t *testing.T) {
	cases := map[string]struct {
		reason  string
		pattern string
		yes, no []string
		folder  string
		within  []string
		without []string
	}{
		"Star":       {"a star stays in its folder", "xrds/*.yaml", []string{"xrds/a.yaml", "./xrds/b.yaml"}, []string{"xrds/a.yml", "xrds/c/a.yaml", "a.yaml", "xrds/.a.yaml"}, "xrds", []string{".", "xrds"}, []string{"other", "xrds/c"}},
		"Deep":       {"two stars go through folders, or none", "xrds/**/*.yaml", []string{"xrds/a.yaml", "xrds/b/c/a.yaml"}, []string{"xrds/.git/a.yaml", "b/a.yaml"}, "xrds", []string{"xrds", "xrds/b", "xrds/b/c"}, []string{"b"}},
		"Everything": {"two stars at the end are all there is", "xrds/**", []string{"xrds/a", "xrds/b/c"}, []string{"xrds", "xrds/.a"}, "xrds", []string{"xrds/b"}, nil},
		"Middle":     {"a folder in between", "teams/*/xrds/[a-c]?.json", []string{"teams/x/xrds/b1.json"}, []string{"teams/x/y/xrds/b1.json", "teams/x/xrds/d1.json", "teams/x/xrds/b.json"}, "teams", []string{"teams/x", "teams/x/xrds"}, []string{"teams/x/other"}},
		"Top":        {"from the top", "/a/*.yaml", []string{"/a/b.yaml"}, []string{"a/b.yaml"}, "/a", nil, []string{"/b"}},
		"Root":       {"from the very top", "/*.yaml", []string{"/b.yaml"}, []string{"b.yaml"}, "/", nil, nil},
		"Up":         {"from above", "../x/*.yaml", []string{"../x/a.yaml"}, []string{"x/a.yaml"}, "../x", nil, nil},
		"Dots":       {"a dot chooses what begins with one", ".x/.*", []string{".x/.a"}, []string{".x/a"}, ".x", nil, nil},
		"Twice":      {"two stars twice are no more than once", "**/**/**/**/**/a", []string{"a", "b/a", "b/c/a"}, []string{"ab"}, ".", nil, nil},
		"Plain":      {"a path without a pattern is itself", "a/b.yaml", []string{"a/b.yaml"}, []string{"a/c.yaml"}, "a", nil, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := ParsePattern(tc.pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range tc.yes {
				if !p.Match(path) {
					t.Errorf("%s: %q does not choose %q", tc.reason, tc.pattern, path)
				}
			}
			for _, path := range tc.no {
				if p.Match(path) {
					t.Errorf("%s: %q chooses %q", tc.reason, tc.pattern, path)
				}
			}
			if got := p.Folder(); got != tc.folder {
				t.Errorf("%s: %q is below %q, want %q", tc.reason, tc.pattern, got, tc.folder)
			}
			for _, dir := range tc.within {
				if !p.Within(dir) {
					t.Errorf("%s: %q may choose something in %q", tc.reason, tc.pattern, dir)
				}
			}
			for _, dir := range tc.without {
				if p.Within(dir) {
					t.Errorf("%s: %q chooses nothing in %q", tc.reason, tc.pattern, dir)
				}
			}
		})
	}
	for _, bad := range []string{"a/[b", `a/b\`} {
		if _, err := ParsePattern(bad); err == nil {
			t.Errorf("%q is no pattern", bad)
		}
	}
}

func TestPatternAnyName(t *testing.T) {
	for text, want := range map[string]bool{"a/*": true, "a/**": true, "a/*.yaml": false, "a/*.y*ml": true, "a/b?": true, "a/*.ndjson": false} {
		p, err := ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.AnyName(); got != want {
			t.Errorf("%q: AnyName is %v, want %v", text, got, want)
		}
	}
}
