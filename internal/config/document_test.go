package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/config/rule"
)

// loadAll loads the files in the order of their names.
func loadAll(files disk, env vars) (*Config, []finding.Finding) {
	var paths []string
	for i := range 9 {
		if name := fmt.Sprintf("%d.yaml", i); files[name] != "" {
			paths = append(paths, name)
		}
	}
	return Load(paths, Options{Lookup: env.lookup, ReadFile: files.read})
}

func TestMerge(t *testing.T) {
	type result struct {
		Owner     string
		Groups    []string
		TTL       time.Duration
		Max       int
		Frequency time.Duration
		Clusters  string
	}
	base := result{Owner: "platform-team", TTL: 300 * time.Second, Max: 100, Frequency: 5 * time.Minute}
	with := func(change func(*result)) result {
		r := base
		change(&r)
		return r
	}
	cases := map[string]struct {
		reason string
		files  disk
		env    vars
		want   result
	}{
		"Deep": {
			reason: "Maps are merged at every depth.",
			files:  disk{"1.yaml": "composerIngestor: { caching: { ttl: 1, maxSize: 2 } }", "2.yaml": "composerIngestor: { caching: { ttl: 3 } }"},
			want:   with(func(r *result) { r.TTL, r.Max = 3*time.Second, 2 }),
		},
		"Order": {
			reason: "The last of three files wins.",
			files:  disk{"1.yaml": "composerIngestor: { defaultOwner: a }", "2.yaml": "composerIngestor: { defaultOwner: b }", "3.yaml": "composerIngestor: { defaultOwner: c }"},
			want:   with(func(r *result) { r.Owner = "c" }),
		},
		"Lists": {
			reason: "Lists are replaced, not joined.",
			files: disk{
				"1.yaml": "composerIngestor: { xrdFilters: { groups: [a, b] }, clusters: [ { name: one, url: 'https://1' }, { name: two, url: 'https://2' } ] }",
				"2.yaml": "composerIngestor: { xrdFilters: { groups: [c] }, clusters: [ { name: three, url: 'https://3' } ] }",
			},
			want: with(func(r *result) { r.Groups, r.Clusters = []string{"c"}, "three" }),
		},
		"Null": {
			reason: "Null restores the default.",
			files:  disk{"1.yaml": "composerIngestor: { defaultOwner: a, caching: { ttl: 1 } }", "2.yaml": "composerIngestor: { defaultOwner: null, caching: }"},
			want:   base,
		},
		"NullAndAgain": {
			reason: "Values after null are not merged with those before it.",
			files: disk{
				"1.yaml": "composerIngestor: { caching: { ttl: 1, maxSize: 2 } }", "2.yaml": "composerIngestor: { caching: ~ }",
				"3.yaml": "composerIngestor: { caching: { maxSize: 3 } }",
			},
			want: with(func(r *result) { r.Max = 3 }),
		},
		"MapOverText": {
			reason: "A value of another type replaces the former one.",
			files: disk{"1.yaml": "composerIngestor: { schedule: { frequency: 7m } }",
				"2.yaml": "composerIngestor: { schedule: { frequency: { hours: 1 } } }", "3.yaml": "composerIngestor: { schedule: { frequency: 9m } }"},
			want: with(func(r *result) { r.Frequency = 9 * time.Minute }),
		},
		"Durations": {
			reason: "Units of a duration are merged like any map.",
			files: disk{"1.yaml": "composerIngestor: { schedule: { frequency: { hours: 1 } } }",
				"2.yaml": "composerIngestor: { schedule: { frequency: { minutes: 1 } } }"},
			want: with(func(r *result) { r.Frequency = time.Hour + time.Minute }),
		},
		"Includes": {
			reason: "One include replaces another.",
			files:  disk{"1.yaml": "composerIngestor: { defaultOwner: { $env: A } }", "2.yaml": "composerIngestor: { defaultOwner: { $file: owner } }", "owner": "b\n"},
			want:   with(func(r *result) { r.Owner = "b" }),
		},
		"MapOverInclude": {
			reason: "A map replaces an include, and is not merged with it.",
			files: disk{"1.yaml": "composerIngestor: { schedule: { frequency: { $env: A } } }",
				"2.yaml": "composerIngestor: { schedule: { frequency: { hours: 1 } } }"},
			env:  vars{"A": "7m"},
			want: with(func(r *result) { r.Frequency = time.Hour }),
		},
		"IncludeOverMap": {
			reason: "An include replaces a map, and is not merged with it.",
			files: disk{"1.yaml": "composerIngestor: { schedule: { frequency: { hours: 1 } } }",
				"2.yaml": "composerIngestor: { schedule: { frequency: { $env: A } } }"},
			env:  vars{"A": "7m"},
			want: with(func(r *result) { r.Frequency = 7 * time.Minute }),
		},
		"Empty": {
			reason: "An empty file changes nothing.",
			files:  disk{"1.yaml": "composerIngestor: { defaultOwner: a }", "2.yaml": "# nothing yet\n"},
			want:   with(func(r *result) { r.Owner = "a" }),
		},
		"Anchors": {
			reason: "Anchors and merge keys can be used.",
			files: disk{"1.yaml": "x: &x { ttl: 1, maxSize: 2 }\ncomposerIngestor:\n  caching:\n    <<: *x\n    ttl: 5\n",
				"2.yaml": "composerIngestor: { caching: { maxSize: 7 } }"},
			want: with(func(r *result) { r.TTL, r.Max = 5*time.Second, 7 }),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, fs := loadAll(tc.files, tc.env)
			if found := lines(fs); len(found) > 0 {
				t.Fatalf("%s\nfindings are %q, want none", tc.reason, found)
			}
			got := result{
				Owner: c.Composer.DefaultOwner, Groups: c.Composer.Filter.Groups, TTL: c.Composer.Caching.TTL,
				Max: c.Composer.Caching.MaxSize, Frequency: c.Composer.Schedule.Frequency,
			}
			var names []string
			for _, cluster := range c.Clusters() {
				names = append(names, cluster.Name)
			}
			got.Clusters = strings.Join(names, " ")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestMergePlaces checks that each finding is in the file in which the value was
// written.
func TestMergePlaces(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  disk
		want   []string
	}{
		"Keys": {
			reason: "Keys of one map can come from two files.",
			files: disk{"1.yaml": "composerIngestor:\n  caching:\n    tll: 1\n    maxSize: 0\n",
				"2.yaml": "\n\ncomposerIngestor: { caching: { ttl: x, size: 1 } }\n"},
			want: []string{
				`1.yaml:3:5: CONF003 composerIngestor.caching has no key "tll" | did you mean ttl? known keys: enabled, ttl and maxSize`,
				"1.yaml:4:14: CONF005 composerIngestor.caching.maxSize: want a number from 1 to 1000000, found 0",
				`2.yaml:3:37: CONF004 composerIngestor.caching.ttl: want a number of seconds from 1 to 31622400, found "x" | write the number alone`,
				`2.yaml:3:40: CONF003 composerIngestor.caching has no key "size" | known keys: enabled, ttl and maxSize`,
			},
		},
		"Vocabularies": {
			reason: "Two spellings in two files are a conflict.",
			files:  disk{"1.yaml": "app: {}\ncrossplaneIngestor: {}\n", "2.yaml": "composerIngestor: {}\n"},
			want:   []string{"1.yaml:2:1: CONF007 crossplaneIngestor cannot be used with composerIngestor at 2.yaml:1:1 | keep one of the two"},
		},
		"Names": {
			reason: "Clusters of two sections can come from two files.",
			files: disk{"1.yaml": "composerIngestor:\n  clusters: [ { name: a, url: 'https://1' } ]\n",
				"2.yaml": "kubernetes:\n  serviceLocatorMethod: { type: multiTenant }\n  clusterLocatorMethods: [ { type: config, clusters: [ { name: a, url: 'https://2' } ] } ]\n"},
			want: []string{"2.yaml:3:64: CONF010 kubernetes.clusterLocatorMethods[0].clusters[0].name: the cluster of that name at 1.yaml:2:23 has a different address | use the same address for both, or different names"},
		},
		"Missing": {
			reason: "A missing key is reported where its map is written.",
			files:  disk{"1.yaml": "kubernetes: {}\n", "2.yaml": "kubernetes:\n  clusterLocatorMethods: []\n"},
			want:   []string{"2.yaml:2:3: CONF006 kubernetes has clusterLocatorMethods but no serviceLocatorMethod.type | write serviceLocatorMethod: { type: multiTenant }"},
		},
		"Unreadable": {
			reason: "All files that cannot be read are reported, without consequential findings.",
			files:  disk{"1.yaml": "a: b: c\n", "2.yaml": "composerIngestor: { nonsense: 1 }\n", "3.yaml": "[]\n"},
			want: []string{
				`1.yaml:1:1: CONF002 mapping values are not allowed in this context | quote a value that contains ": ", and check the indentation`,
				"3.yaml:1:1: CONF002 a configuration file must hold a map, found a list | write keys with values, such as composerIngestor:",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, fs := loadAll(tc.files, nil)
			if diff := cmp.Diff(tc.want, lines(fs)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDisk loads real files.
func TestDisk(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("token", "abc\r\n")
	good := write("good.yaml", "composerIngestor: { clusters: [ { name: a, url: 'https://x', token: { $file: token }, caFile: ca.pem } ] }\n")
	c, fs := Load([]string{good}, Options{})
	if len(fs) > 0 || c.Clusters()[0].Token.Reveal() != "abc" || c.Clusters()[0].CAFile != filepath.Join(dir, "ca.pem") {
		t.Errorf("findings are %q, clusters are %+v", lines(fs), c.Clusters())
	}

	write("large", strings.Repeat("x", 1<<20+1))
	bad := write("bad.yaml", "composerIngestor: { defaultOwner: { $file: large }, defaultSystem: { $file: . } }\n")
	_, fs = Load([]string{bad}, Options{})
	want := []string{
		bad + `:1:35: CONF009 composerIngestor.defaultOwner: cannot read the file "large": file is larger than 1 MiB | specify a file that contains only the value`,
		bad + `:1:68: CONF009 composerIngestor.defaultSystem: cannot read the file ".": is a directory | specify a file that contains only the value`,
	}
	if diff := cmp.Diff(want, lines(fs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	huge := write("huge.yaml", strings.Repeat("# comment\n", 16<<20/10+1))
	nowhere := filepath.Join(dir, "nowhere.yaml")
	_, fs = Load([]string{nowhere, dir, huge}, Options{})
	want = []string{
		dir + ": CONF001 cannot read the configuration file: is a directory | specify a YAML or JSON file",
		huge + ":1:1: CONF002 document is larger than 16 MiB | split it into several documents",
		nowhere + ": CONF001 cannot read the configuration file: file not found | check the spelling",
	}
	if diff := cmp.Diff(want, lines(fs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBound checks that the number of findings is limited.
func TestBound(t *testing.T) {
	var b strings.Builder
	b.WriteString("composerIngestor:\n")
	const most = 1000
	for i := range most + 7 {
		fmt.Fprintf(&b, "  k%d: 1\n", i)
	}
	_, fs := load(b.String(), nil)
	if len(fs) != most+1 || fs[most].Rule != rule.TooMany || fs[most].Message != "7 more findings" {
		t.Errorf("%d findings, the last is %+v", len(fs), fs[len(fs)-1])
	}
}
