package web_test

import (
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestPictures checks that the screenshots in the handbook and the README exist,
// are small, and are taken by the browser tests, so that `make tour` can update
// them. Unused screenshots are an error.
func TestPictures(t *testing.T) {
	const (
		top = "../.."
		// largest is the maximum size of a screenshot in bytes.
		largest = 120 << 10
	)
	taken := map[string]bool{}
	show := regexp.MustCompile(`\bshow\(\w+, ["']([^"']+)["']`)
	for _, m := range append(matches(t, show, filepath.Join(sources, "e2e", "*.ts")), matches(t, show, filepath.Join(top, "backstage", "test", "*.mjs"))...) {
		if taken[m+"-1440-light.png"] {
			t.Errorf("two browser tests take the screenshot %s: one would overwrite the other", m)
		}
		taken[m+"-1440-light.png"], taken[m+"-1440-dark.png"] = true, true
	}
	shown := map[string]bool{}
	for _, pattern := range []string{"README.md", "docs/*.md"} {
		for _, m := range matches(t, regexp.MustCompile(`pictures/([^)"\s]+)`), filepath.Join(top, pattern)) {
			shown[m] = true
		}
	}
	if len(shown) == 0 {
		t.Error("no page shows a screenshot")
	}
	dir := filepath.Join(top, "docs", "pictures")
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		if !taken[name] {
			t.Errorf("%s is shown, but no browser test takes it", name)
		}
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil {
			t.Errorf("%s is shown, but missing: run make tour", name)
			continue
		}
		if info.Size() > largest {
			t.Errorf("%s has %d bytes, want at most %d", name, info.Size(), largest)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := png.DecodeConfig(f); err != nil || c.Width != 1440 || c.Height != 900 {
			t.Errorf("%s is %d by %d, %v, want 1440 by 900", name, c.Width, c.Height, err)
		}
		_ = f.Close()
	}
	there, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		if !shown[filepath.Base(path)] {
			t.Errorf("%s is not used: remove it", path)
		}
	}
}

// matches returns all matches of the expression's first group in files.
func matches(t *testing.T, expression *regexp.Regexp, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range expression.FindAllStringSubmatch(string(text), -1) {
			all = append(all, m[1])
		}
	}
	return all
}
