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
		"Star":       {"A star matches within one folder.", "xrds/*.yaml", []string{"xrds/a.yaml", "./xrds/b.yaml"}, []string{"xrds/a.yml", "xrds/c/a.yaml", "a.yaml", "xrds/.a.yaml"}, "xrds", []string{".", "xrds"}, []string{"other", "xrds/c"}},
		"Deep":       {"Two stars match any number of folders, including none.", "xrds/**/*.yaml", []string{"xrds/a.yaml", "xrds/b/c/a.yaml"}, []string{"xrds/.git/a.yaml", "b/a.yaml"}, "xrds", []string{"xrds", "xrds/b", "xrds/b/c"}, []string{"b"}},
		"Everything": {"Two stars at the end match everything below.", "xrds/**", []string{"xrds/a", "xrds/b/c"}, []string{"xrds", "xrds/.a"}, "xrds", []string{"xrds/b"}, nil},
		"Middle":     {"A star can stand for a folder.", "teams/*/xrds/[a-c]?.json", []string{"teams/x/xrds/b1.json"}, []string{"teams/x/y/xrds/b1.json", "teams/x/xrds/d1.json", "teams/x/xrds/b.json"}, "teams", []string{"teams/x", "teams/x/xrds"}, []string{"teams/x/other"}},
		"Top":        {"A pattern can be absolute.", "/a/*.yaml", []string{"/a/b.yaml"}, []string{"a/b.yaml"}, "/a", nil, []string{"/b"}},
		"Root":       {"A pattern can begin at the root.", "/*.yaml", []string{"/b.yaml"}, []string{"b.yaml"}, "/", nil, nil},
		"Up":         {"A pattern can begin with the parent folder.", "../x/*.yaml", []string{"../x/a.yaml"}, []string{"x/a.yaml"}, "../x", nil, nil},
		"Dots":       {"A leading dot matches hidden files.", ".x/.*", []string{".x/.a"}, []string{".x/a"}, ".x", nil, nil},
		"Twice":      {"Repeated stars match the same as two.", "**/**/**/**/**/a", []string{"a", "b/a", "b/c/a"}, []string{"ab"}, ".", nil, nil},
		"Plain":      {"A path without a pattern matches itself.", "a/b.yaml", []string{"a/b.yaml"}, []string{"a/c.yaml"}, "a", nil, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := ParsePattern(tc.pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range tc.yes {
				if !p.Match(path) {
					t.Errorf("%s\n%q does not match %q", tc.reason, tc.pattern, path)
				}
			}
			for _, path := range tc.no {
				if p.Match(path) {
					t.Errorf("%s\n%q matches %q", tc.reason, tc.pattern, path)
				}
			}
			if got := p.Folder(); got != tc.folder {
				t.Errorf("%s\nfolder of %q is %q, want %q", tc.reason, tc.pattern, got, tc.folder)
			}
			for _, dir := range tc.within {
				if !p.Within(dir) {
					t.Errorf("%s\n%q excludes folder %q", tc.reason, tc.pattern, dir)
				}
			}
			for _, dir := range tc.without {
				if p.Within(dir) {
					t.Errorf("%s\n%q does not exclude folder %q", tc.reason, tc.pattern, dir)
				}
			}
		})
	}
	for _, bad := range []string{"a/[b", `a/b\`} {
		if _, err := ParsePattern(bad); err == nil {
			t.Errorf("pattern %q was accepted", bad)
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
