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
)

// loadAll reads the files in the order of their names.
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
			reason: "maps are merged at every depth",
			files:  disk{"1.yaml": "composerIngestor: { caching: { ttl: 1, maxSize: 2 } }", "2.yaml": "composerIngestor: { caching: { ttl: 3 } }"},
			want:   with(func(r *result) { r.TTL, r.Max = 3*time.Second, 2 }),
		},
		"Order": {
			reason: "the last of three wins",
			files:  disk{"1.yaml": "composerIngestor: { defaultOwner: a }", "2.yaml": "composerIngestor: { defaultOwner: b }", "3.yaml": "composerIngestor: { defaultOwner: c }"},
			want:   with(func(r *result) { r.Owner = "c" }),
		},
		"Lists": {
			reason: "lists are replaced, not joined",
			files: disk{
				"1.yaml": "composerIngestor: { xrdFilters: { groups: [a, b] }, clusters: [ { name: one, url: 'https://1' }, { name: two, url: 'https://2' } ] }",
				"2.yaml": "composerIngestor: { xrdFilters: { groups: [c] }, clusters: [ { name: three, url: 'https://3' } ] }",
			},
			want: with(func(r *result) { r.Groups, r.Clusters = []string{"c"}, "three" }),
		},
		"Null": {
			reason: "null goes back to the default",
			files:  disk{"1.yaml": "composerIngestor: { defaultOwner: a, caching: { ttl: 1 } }", "2.yaml": "composerIngestor: { defaultOwner: null, caching: }"},
			want:   base,
		},
		"NullAndAgain": {
			reason: "what is set after null begins anew",
			files: disk{
				"1.yaml": "composerIngestor: { caching: { ttl: 1, maxSize: 2 } }", "2.yaml": "composerIngestor: { caching: ~ }",
				"3.yaml": "composerIngestor: { caching: { maxSize: 3 } }",
			},
			want: with(func(r *result) { r.Max = 3 }),
		},
		"MapOverText": {
			reason: "another kind of value replaces",
			files: disk{"1.yaml": "composerIngestor: { schedule: { frequency: 7m } }",
				"2.yaml": "composerIngestor: { schedule: { frequency: { hours: 1 } } }", "3.yaml": "composerIngestor: { schedule: { frequency: 9m } }"},
			want: with(func(r *result) { r.Frequency = 9 * time.Minute }),
		},
		"Durations": {
			reason: "units are merged like any map",
			files: disk{"1.yaml": "composerIngestor: { schedule: { frequency: { hours: 1 } } }",
				"2.yaml": "composerIngestor: { schedule: { frequency: { minutes: 1 } } }"},
			want: with(func(r *result) { r.Frequency = time.Hour + time.Minute }),
		},
		"Includes": {
			reason: "one include replaces another",
			files:  disk{"1.yaml": "composerIngestor: { defaultOwner: { $env: A } }", "2.yaml": "composerIngestor: { defaultOwner: { $file: owner } }", "owner": "b\n"},
			want:   with(func(r *result) { r.Owner = "b" }),
		},
		"Empty": {
			reason: "an empty file changes nothing",
			files:  disk{"1.yaml": "composerIngestor: { defaultOwner: a }", "2.yaml": "# nothing yet\n"},
			want:   with(func(r *result) { r.Owner = "a" }),
		},
		"Anchors": {
			reason: "a value may be written once and used often",
			files: disk{"1.yaml": "x: &x { ttl: 1, maxSize: 2 }\ncomposerIngestor:\n  caching:\n    <<: *x\n    ttl: 5\n",
				"2.yaml": "composerIngestor: { caching: { maxSize: 7 } }"},
			want: with(func(r *result) { r.TTL, r.Max = 5*time.Second, 7 }),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, fs := loadAll(tc.files, tc.env)
			if found := lines(fs); len(found) > 0 {
				t.Fatalf("%s\nfound %q", tc.reason, found)
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

// TestMergePlaces wants each mistake where it was written, whichever file that
// is.
func TestMergePlaces(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  disk
		want   []string
	}{
		"Keys": {
			reason: "keys of one map from two files",
			files: disk{"1.yaml": "composerIngestor:\n  caching:\n    tll: 1\n    maxSize: 0\n",
				"2.yaml": "\n\ncomposerIngestor: { caching: { ttl: x, size: 1 } }\n"},
			want: []string{
				`1.yaml:3:5: CONF003 composerIngestor.caching has no key "tll" | did you mean ttl? it has enabled, ttl and maxSize`,
				"1.yaml:4:14: CONF005 composerIngestor.caching.maxSize: want a number from 1 to 1000000, found 0",
				`2.yaml:3:37: CONF004 composerIngestor.caching.ttl: want a number of seconds from 1 to 31622400, found "x" | write the number alone`,
				`2.yaml:3:40: CONF003 composerIngestor.caching has no key "size" | it has enabled, ttl and maxSize`,
			},
		},
		"Vocabularies": {
			reason: "the two spellings in two files",
			files:  disk{"1.yaml": "app: {}\ncrossplaneIngestor: {}\n", "2.yaml": "composerIngestor: {}\n"},
			want:   []string{"1.yaml:2:1: CONF007 crossplaneIngestor cannot be used together with composerIngestor at 2.yaml:1:1 | keep one of the two"},
		},
		"Names": {
			reason: "clusters of two sections in two files",
			files: disk{"1.yaml": "composerIngestor:\n  clusters: [ { name: a, url: 'https://1' } ]\n",
				"2.yaml": "kubernetes:\n  serviceLocatorMethod: { type: multiTenant }\n  clusterLocatorMethods: [ { type: config, clusters: [ { name: a, url: 'https://2' } ] } ]\n"},
			want: []string{"2.yaml:3:64: CONF010 kubernetes.clusterLocatorMethods[0].clusters[0].name: the cluster of that name at 1.yaml:2:23 has another address | give both the same address, or different names"},
		},
		"Missing": {
			reason: "a map that is written in the second file lacks something",
			files:  disk{"1.yaml": "kubernetes: {}\n", "2.yaml": "kubernetes:\n  clusterLocatorMethods: []\n"},
			want:   []string{"2.yaml:2:3: CONF006 kubernetes has clusterLocatorMethods but no serviceLocatorMethod.type | write serviceLocatorMethod: { type: multiTenant }"},
		},
		"Unreadable": {
			reason: "all files that cannot be read, and nothing that follows from it",
			files:  disk{"1.yaml": "a: b: c\n", "2.yaml": "composerIngestor: { nonsense: 1 }\n", "3.yaml": "[]\n"},
			want: []string{
				`1.yaml:1:1: CONF002 mapping values are not allowed in this context | quote a value that contains ": ", and check the indentation`,
				"3.yaml:1:1: CONF002 a configuration file holds a map, not a list | write keys with values, such as composerIngestor:",
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

// TestDisk reads real files.
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
		t.Errorf("found %q, clusters %+v", lines(fs), c.Clusters())
	}

	write("large", strings.Repeat("x", maxInclude+1))
	bad := write("bad.yaml", "composerIngestor: { defaultOwner: { $file: large }, defaultSystem: { $file: . } }\n")
	_, fs = Load([]string{bad}, Options{})
	want := []string{
		bad + `:1:35: CONF009 composerIngestor.defaultOwner: cannot read the file "large": it is larger than 1 MiB | name a file that holds the value alone`,
		bad + `:1:68: CONF009 composerIngestor.defaultSystem: cannot read the file ".": is a directory | name a file that holds the value alone`,
	}
	if diff := cmp.Diff(want, lines(fs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	huge := write("huge.yaml", strings.Repeat("# comment\n", maxFile/10+1))
	nowhere := filepath.Join(dir, "nowhere.yaml")
	_, fs = Load([]string{nowhere, dir, huge}, Options{})
	want = []string{
		dir + ": CONF001 cannot read the configuration file: is a directory | name a file of YAML or JSON",
		huge + ":1:1: CONF002 document is larger than 16 MiB | split it into several documents",
		nowhere + ": CONF001 cannot read the configuration file: there is no such file | check the spelling",
	}
	if diff := cmp.Diff(want, lines(fs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBound wants a number of mistakes that somebody can read.
func TestBound(t *testing.T) {
	var b strings.Builder
	b.WriteString("composerIngestor:\n")
	for i := range maxFindings + 7 {
		fmt.Fprintf(&b, "  k%d: 1\n", i)
	}
	_, fs := load(b.String(), nil)
	if len(fs) != maxFindings+1 || fs[maxFindings].Rule != RuleTooMany || fs[maxFindings].Message != "there are 7 more findings" {
		t.Errorf("%d findings, the last is %+v", len(fs), fs[len(fs)-1])
	}
}
