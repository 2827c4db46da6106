package engine_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

func TestNames(t *testing.T) {
	cases := map[string]struct {
		reason  string
		profile engine.Profile
		names   []string
		// want are the base names in the order of names; # stands for the hash.
		want []string
		// clashes are the definitions whose name was changed.
		clashes []string
	}{
		"no clash":       {"Different short names are kept.", engine.CLI, []string{"b.io", "a.io"}, []string{"b", "a"}, nil},
		"clash":          {"Of two equal short names the later one in name order gets its full name.", engine.CLI, []string{"dbs.b.io", "dbs.a.io"}, []string{"dbs.b.io", "dbs"}, []string{"dbs.b.io"}},
		"three":          {"Of three equal short names the later ones get their full names.", engine.CLI, []string{"dbs.c.io", "dbs.a.io", "dbs.b.io"}, []string{"dbs.c.io", "dbs", "dbs.b.io"}, []string{"dbs.b.io", "dbs.c.io"}},
		"case":           {"Short names that differ only in case are equal.", engine.CLI, []string{"dbs.a.io", "DBs.b.io"}, []string{"dbs.a.io", "DBs"}, []string{"dbs.a.io"}},
		"case, full":     {"Full names that differ only in case get a hash.", engine.ComposerIngestor, []string{"dbs.a.io", "DBs.a.io"}, []string{"dbs.a.io-#", "DBs.a.io"}, []string{"dbs.a.io"}},
		"case, both":     {"A name gets a hash if its short and its full name are taken.", engine.CLI, []string{"DBS.a.io", "DBs.a.io", "dbs.a.io"}, []string{"DBS", "DBs.a.io", "dbs.a.io-#"}, []string{"DBs.a.io", "dbs.a.io"}},
		"full names":     {"Full names do not clash.", engine.ComposerIngestor, []string{"dbs.b.io", "dbs.a.io"}, []string{"dbs.b.io", "dbs.a.io"}, nil},
		"slugs":          {"Slugs can clash.", engine.Concept, []string{"a.b-c", "a-b.c"}, []string{"a.b-c", "a-b-c"}, []string{"a.b-c"}},
		"without a dot":  {"A name without a dot can be taken.", engine.CLI, []string{"dbs", "dbs.a.io", "DBs"}, []string{"dbs-#", "dbs.a.io", "DBs"}, []string{"dbs", "dbs.a.io"}},
		"nothing before": {"A name without a short name is named by the engine.", engine.CLI, []string{".a.io", "b.io"}, []string{"", "b"}, nil},
	}
	hash := regexp.MustCompile(`-[0-9a-f]{8}$`)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defs := make([]*xrd.Definition, len(tc.names))
			byName := map[string]*xrd.Definition{}
			for i, n := range tc.names {
				defs[i] = define(t, words.Portal, named(n))
				byName[n] = defs[i]
			}
			bases, findings := engine.New(tc.profile, engine.Options{}, engine.Hooks{}).Names(defs)
			got := make([]string, len(defs))
			for i, d := range defs {
				got[i] = hash.ReplaceAllString(bases[d], "-#")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
			var clashes []string
			for _, f := range findings {
				if want := fmt.Sprintf("so this one is named %q", bases[byName[f.Object]]); !strings.HasPrefix(f.Message, "short name ") || !strings.HasSuffix(f.Message, want) {
					t.Errorf("%s\nmessage of the finding is %q, want %q", tc.reason, f.Message, want)
				}
				clashes = append(clashes, f.Object)
				if f.Rule != engine.RuleClash || f.Severity.String() != "warning" || !strings.HasPrefix(f.Where(), "sample.yaml:") || f.Hint == "" {
					t.Errorf("%s\nfinding %+v", tc.reason, f)
				}
			}
			if diff := cmp.Diff(tc.clashes, clashes); diff != "" {
				t.Errorf("%s\nclashes (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// oddNames are names that a definition can have in a file, if not in a cluster.
var oddNames = []string{
	"", ".", "..", ".a", "a.", "-", "-.-", "a b.io", "A.io", "a.io", "a.IO", "a", "A", "a-b.io", "a_b.io", "a.b.io", "a-xrd", "a-api", "a.io-v1",
	"größe.io", "数据库.io", "../../etc/passwd", "a/b.io", "a:b.io", "${{ secrets.x }}", "a\nb.io", "\x1b[31m.io", "%41.io", "\u212a.io", "k.io",
	strings.Repeat("n", 63) + ".io", strings.Repeat("n", 300), strings.Repeat("n", 299) + "x", strings.Repeat("ab.", 100), "unnamed", "unnamed.io",
}

// drawRun draws definitions with different odd names; those without a name
// differ in content.
func drawRun(r *rapid.T, t *testing.T) []*xrd.Definition {
	name := rapid.OneOf(rapid.SampledFrom(oddNames), rapid.StringMatching(`[aA-]{1,3}(\.[aA]{1,2})?`), rapid.StringN(0, 80, 200))
	names := rapid.SliceOfNDistinct(name, 1, 12, func(s string) string { return strings.ToValidUTF8(s, "?") }).Draw(r, "names")
	defs := make([]*xrd.Definition, len(names))
	for i, n := range names {
		edits := []edit{named(strings.ToValidUTF8(n, "?"))}
		if rapid.Bool().Draw(r, "bare") {
			// Nothing is left to make a name from.
			edits = append(edits, without("spec", "group"), annotated("number", fmt.Sprint(i)))
		}
		defs[i] = define(t, words.Portal, edits...)
	}
	return defs
}

// TestNamesAnyRun draws runs of odd names: base names do not depend on the
// order of the definitions, are unique in a catalog, and are valid.
func TestNamesAnyRun(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		defs := drawRun(r, t)
		e := engine.New(rapid.SampledFrom(engine.Profiles).Draw(r, "profile"), engine.Options{}, engine.Hooks{})
		names, findings := e.Names(defs)
		again, findingsAgain := e.Names(rapid.Permutation(defs).Draw(r, "order"))
		for _, d := range defs {
			if names[d] != again[d] {
				r.Fatalf("%q is called %q, and %q in another order", d.Name, names[d], again[d])
			}
		}
		if diff := cmp.Diff(findings, findingsAgain); diff != "" {
			r.Fatalf("findings depend on the order (-one +other):\n%s", diff)
		}
		holder := map[string]string{}
		var all []*entity.Entity
		for _, d := range defs {
			low := strings.ToLower(names[d])
			if other, taken := holder[low]; taken && low != "" {
				r.Fatalf("%q and %q are both called %q", other, d.Name, names[d])
			}
			holder[low] = d.Name
			res, err := e.Transform(engine.Input{Definition: d, Base: names[d]})
			if err != nil {
				r.Fatalf("%v", err)
			}
			all = append(all, res.Entities...)
		}
		valid(r, all)
		for _, d := range defs {
			if !slices.ContainsFunc(all, func(e *entity.Entity) bool {
				return e.Kind == entity.KindResource && e.Metadata.Title == d.Name
			}) {
				r.Fatalf("definition %q has no Resource", d.Name)
			}
		}
	})
}

// TestOddNames transforms each odd name alone, with Compositions and composites
// of odd names.
func TestOddNames(t *testing.T) {
	around := engine.Input{Definition: define(t, words.Portal)}
	for _, other := range oddNames {
		if strings.ToLower(other) == other {
			give(t, words.Portal, &around, xrd.Origin{File: "c.yaml"}, composition(other))
		}
		give(t, words.Portal, &around, xrd.Origin{File: "xr.yaml"}, composite(other, other))
	}
	for _, p := range engine.Profiles {
		for _, n := range oddNames {
			input := around
			input.Definition = define(t, words.Portal, named(n))
			// The test fails if a catalog refuses one of them.
			res := transform(t, p, engine.Options{}, input)
			repaired := 0
			for _, f := range res.Findings {
				if f.Rule == engine.RuleName {
					repaired++
				}
			}
			if repaired == 0 {
				t.Errorf("%s: no finding about repaired names", p.Name)
			}
			resolved(t, res.Entities)
		}
	}
}

// TestLongNames checks shortened names: as much of the name as fits, the same
// hash on all its entities, and the complete suffix.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("n", 300)
	res := transform(t, engine.ComposerIngestor, engine.Options{}, engine.Input{Definition: define(t, words.Portal, named(long))})
	template, api, resource := res.Entities[0].Metadata.Name, res.Entities[1].Metadata.Name, res.Entities[2].Metadata.Name
	hash := template[len(template)-9:]
	if !strings.HasPrefix(template, "nnnn") || len(template) != 63 || !strings.HasSuffix(api, hash+"-api") || !strings.HasSuffix(resource, hash+"-xrd") {
		t.Errorf("got %q, %q and %q", template, api, resource)
	}
	if diff := cmp.Diff([]string{"ENG001", "ENG001", "ENG001"}, rules(res.Findings)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if got := res.Entities[0].Metadata.Annotations["composer.io/xrd-name"]; got != long {
		t.Errorf("name of the definition is %q", got)
	}
	resolved(t, res.Entities)
}

// TestUnnamed checks definitions without the parts of a name.
func TestUnnamed(t *testing.T) {
	noName := without("metadata", "name")
	cases := map[string]struct {
		reason string
		edits  []edit
		want   string
		forms  bool
	}{
		"no name":     {"The name is made from plural and group.", []edit{noName}, `^databases$`, true},
		"no metadata": {"The metadata can be missing.", []edit{without("metadata")}, `^databases$`, true},
		"no plural":   {"Without a plural the name is a hash of the content.", []edit{noName, without("spec", "names", "plural")}, `^unnamed-[0-9a-f]{8}$`, true},
		"no group":    {"Without a group the name is a hash, and there is no form.", []edit{noName, without("spec", "group")}, `^unnamed-[0-9a-f]{8}$`, false},
		"nothing":     {"A definition can be empty.", []edit{noName, without("spec")}, `^unnamed-[0-9a-f]{8}$`, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := define(t, words.Portal, tc.edits...)
			res := transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: d})
			base, ok := strings.CutSuffix(first(t, res.Entities, entity.KindResource).Metadata.Name, "-xrd")
			if !ok || !regexp.MustCompile(tc.want).MatchString(base) {
				t.Errorf("%s\nbase name %q, want %s", tc.reason, base, tc.want)
			}
			if forms := res.Entities[0].Kind == entity.KindTemplate; forms != tc.forms {
				t.Errorf("%s\ngot %q", tc.reason, list(res.Entities))
			}
			for _, e := range res.Entities {
				if got, there := e.Metadata.Annotations["composer.io/xrd-name"]; there != (d.Name != "") || got != d.Name {
					t.Errorf("%s\n%s has the definition name %q", tc.reason, e.Kind, got)
				}
			}
			other := transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: define(t, words.Portal, append(tc.edits, annotated("a", "b"))...)})
			if same := other.Entities[0].Metadata.Name == res.Entities[0].Metadata.Name; same != !strings.Contains(tc.want, "unnamed") {
				t.Errorf("%s\nanother definition without a name is also called %q", tc.reason, other.Entities[0].Metadata.Name)
			}
		})
	}
}

// TestUnnamedCopies checks that copies of a definition without a name get
// different base names, in order of their files.
func TestUnnamedCopies(t *testing.T) {
	bare := func(file string) *xrd.Definition {
		d := define(t, words.Portal, named(""), without("spec", "group"))
		d.Origin.File = file
		return d
	}
	first, second, third := bare("a.yaml"), bare("b.yaml"), bare("c.yaml")
	names, _ := engine.New(engine.ComposerIngestor, engine.Options{}, engine.Hooks{}).Names([]*xrd.Definition{third, first, second})
	if names[first] != "" || !strings.HasSuffix(names[second], "-2") || !strings.HasSuffix(names[third], "-3") {
		t.Errorf("base names are %q, %q and %q", names[first], names[second], names[third])
	}
}
