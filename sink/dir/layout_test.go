package dir

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/sink"
)

func TestPerEntity(t *testing.T) {
	cases := map[string]struct {
		reason string
		refs   []string
		want   map[string]string
	}{
		"Namespaces": {
			reason: "An entity of the default namespace keeps its plain name, regardless of its position.",
			refs:   []string{"API:team/a", "API:a", "API:Other/a", "API:team/b"},
			want: map[string]string{
				"API:team/a": "API/team.a.yaml", "API:a": "API/a.yaml", "API:Other/a": "API/Other.a.yaml", "API:team/b": "API/b.yaml",
			},
		},
		"Kinds": {
			reason: "The same name in two kinds is not a collision.",
			refs:   []string{"API:team/a", "Template:a"},
			want:   map[string]string{"API:team/a": "API/a.yaml", "Template:a": "Template/a.yaml"},
		},
		"DefaultSpelt": {
			reason: "No namespace and the default namespace are the same.",
			refs:   []string{"API:default/a", "API:b"},
			want:   map[string]string{"API:default/a": "API/a.yaml", "API:b": "API/b.yaml"},
		},
		"Case": {
			reason: "Names that differ only in case get a suffix; the first keeps its name.",
			refs:   []string{"API:Foo", "API:foo", "API:FOO"},
			want:   map[string]string{"API:Foo": "API/Foo.yaml", "API:foo": "API/foo-e2c4281f.yaml", "API:FOO": "API/FOO-214779bd.yaml"},
		},
		"CaseOfKind": {
			reason: "Kinds that differ only in case get a suffix.",
			refs:   []string{"API:foo", "Api:foo"},
			want:   map[string]string{"API:foo": "API/foo.yaml", "Api:foo": "Api/foo-43c7a7ab.yaml"},
		},
		"MadeUpName": {
			reason: "A name with a suffix does not replace a plain name.",
			refs:   []string{"API:team/a", "API:a", "API:team.a"},
			want:   map[string]string{"API:team/a": "API/team.a-aeae37a1.yaml", "API:a": "API/a.yaml", "API:team.a": "API/team.a.yaml"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			es := ents(tc.refs...)
			got := map[string]string{}
			for _, f := range perEntity(es, ".yaml") {
				got[tc.refs[slices.Index(es, f.entities[0])]] = f.name
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSafeName(t *testing.T) {
	long := strings.Repeat("a", 300)
	cases := map[string]struct {
		reason string
		in     string
		want   string
	}{
		"Name":        {"Names that the catalog allows are unchanged.", "databases.platform_io-v1", "databases.platform_io-v1"},
		"Upper":       {"Upper case is kept.", "Template", "Template"},
		"Longest":     {"A long namespace with a long name is unchanged.", strings.Repeat("n", 63) + "." + strings.Repeat("a", 63), strings.Repeat("n", 63) + "." + strings.Repeat("a", 63)},
		"Dots":        {"A parent directory is replaced.", "..", "unnamed-5ec1f7e7"},
		"Path":        {"Slashes are replaced.", "../../x", "_.._x-9cdf6a50"},
		"Backslash":   {"Backslashes are replaced.", `..\x`, "_x-ff867350"},
		"Hidden":      {"A leading dot is removed.", ".git", "git-4d0a4dff"},
		"Option":      {"A leading dash is removed.", "-rf", "rf-686c39ac"},
		"Long":        {"A long name is shortened.", long, strings.Repeat("a", 140) + "-9835fa6b"},
		"Unicode":     {"Characters with several Unicode spellings are replaced.", "café", "caf_-850f7dc4"},
		"Zero":        {"A NUL byte is replaced.", "a\x00b", "a_b-59b271ae"},
		"Invalid":     {"Invalid UTF-8 is replaced.", "a\xffb", "a_b-01ce0241"},
		"Device":      {"A Windows device name gets a suffix.", "CON", "CON-a3dbc4b6"},
		"DeviceDot":   {"A Windows device name with an extension is changed.", "nul.x", "nul_x-4f25bf65"},
		"Port":        {"A Windows port name gets a suffix.", "Com1", "Com1-5bb25012"},
		"NoDevice":    {"A name that only begins like a device is unchanged.", "console", "console"},
		"NoPort":      {"A name with a longer number than a port is unchanged.", "com10", "com10"},
		"Empty":       {"An empty name is replaced.", "", "unnamed-e3b0c442"},
		"TrailingDot": {"A trailing dot, which Windows drops, is removed.", "a.", "a-5ab640fa"},
		"Space":       {"Spaces are replaced.", "a b", "a_b-c8687a08"},
		"Stream":      {"The separator of Windows file streams is replaced.", "a:b", "a_b-6783a31e"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := safeName(tc.in); got != tc.want {
				t.Errorf("%s\nsafeName(%q) = %q, want %q", tc.reason, tc.in, got, tc.want)
			}
		})
	}
}

var portable = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_-])?$`)

// TestSafeNameAlways checks the guarantees of safe names for arbitrary input.
func TestSafeNameAlways(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z./\\-]{0,20}`), rapid.StringN(0, 400, -1)).Draw(t, "name")
		got := safeName(in)
		if !portable.MatchString(got) || len(got) > 200 || isDevice(got) || path.Base(got) != got {
			t.Errorf("safeName(%q) = %q", in, got)
		}
		if again := safeName(got); again != got && len(got) <= longest {
			t.Errorf("safeName(%q) = %q, then %q", in, got, again)
		}
	})
}

// TestPerEntityAlways checks that every entity has its own file.
func TestPerEntityAlways(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "A", "b", "a.b", "", "default", "../a", "é", "CON", "con"})
	rapid.Check(t, func(t *rapid.T) {
		es := rapid.SliceOf(rapid.Custom(func(t *rapid.T) *entity.Entity {
			return &entity.Entity{Kind: part.Draw(t, "kind"), Metadata: entity.Metadata{Namespace: part.Draw(t, "namespace"), Name: part.Draw(t, "name")}}
		})).Draw(t, "entities")
		seen := map[string]bool{}
		for _, f := range perEntity(es, ".yaml") {
			key := strings.ToLower(f.name)
			if seen[key] || len(f.entities) != 1 {
				t.Fatalf("file name %q is used twice", f.name)
			}
			seen[key] = true
		}
		if len(seen) != len(es) {
			t.Errorf("%d files for %d entities", len(seen), len(es))
		}
	})
}

// TestFiles compares the results of Files and Names with what a Sink writes.
func TestFiles(t *testing.T) {
	es := []*entity.Entity{
		{Kind: "API", Metadata: entity.Metadata{Name: "b", Namespace: "other"}},
		{Kind: "API", Metadata: entity.Metadata{Name: "b"}},
		{Kind: "System", Metadata: entity.Metadata{Name: "../a"}},
	}
	for _, opts := range []Options{{}, {Layout: PerEntity}, {Layout: PerEntity, Format: sink.JSON}, {Layout: SingleFile}} {
		root := filepath.Join(t.TempDir(), "out")
		at := root
		if opts.Layout == SingleFile {
			at = filepath.Join(root, "catalog.yaml")
		}
		if err := New(at, opts).Write(t.Context(), es); err != nil {
			t.Fatal(err)
		}
		written := map[string][]byte{}
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			written[filepath.ToSlash(rel)], err = os.ReadFile(p)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(written, Files(es, opts)); diff != "" {
			t.Errorf("%+v: Files (-written +got):\n%s", opts, diff)
		}
		if opts.Layout != PerEntity {
			continue
		}
		for i, name := range Names(es, opts.Format) {
			if got := string(written[name]); !strings.Contains(got, es[i].Metadata.Name) || !strings.Contains(got, es[i].Metadata.Namespace) {
				t.Errorf("%+v: entity %d is not in %q:\n%s", opts, i, name, got)
			}
		}
	}
	if got := Files(nil, Options{Layout: SingleFile}); got != nil {
		t.Errorf("files without entities: %v", got)
	}
}
