package index

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"example.dev/ingestor/document/parser"

	gocmp "github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
)

func decode(tb testing.TB, text string) *tree.Node {
	tb.Helper()
	nodes, errs := parser.DecodeBytes([]byte(text))
	if len(errs) > 0 {
		tb.Fatal(errs[0])
	}
	return nodes[0]
}

// indexed returns the index of a document, "key=value" or "key=value (original)".
func indexed(n *tree.Node) []string {
	var all []string
	Walk(n, func(key []byte, value, original string) {
		if value == NoValue {
			value = "<none>"
		}
		if original != "" {
			original = " (" + original + ")"
		}
		all = append(all, string(key)+"="+value+original)
	}, func(key []byte) { all = append(all, string(key)+ListMark) })
	slices.Sort(all)
	return all
}

func TestIndex(t *testing.T) {
	always := []string{"metadata.name=n", "metadata.namespace=default"}
	long := strings.Repeat("é", 200)
	cases := map[string]struct {
		reason string
		doc    string
		want   []string
	}{
		"Scalars": {
			reason: "Scalars are indexed as their text, in lower case.",
			doc:    `{"kind":"Component","metadata":{"name":"n"},"spec":{"s":"Text","t":true,"n":1.50,"e":""}}`,
			want:   []string{"kind=component (Component)", "spec.s=text (Text)", "spec.t=true", "spec.n=1.5", "spec.e="},
		},
		"Keys": {
			reason: "Keys are in lower case and may contain dots.",
			doc:    `{"metadata":{"name":"n","labels":{"Example.dev/Tier":"gold"}}}`,
			want:   []string{"metadata.labels.example.dev/tier=gold"},
		},
		"Lists": {
			reason: "A list has each of its values, and a marker if it contains texts.",
			doc:    `{"metadata":{"name":"n","tags":["Go","db",3]},"spec":{"of":[{"a":"1"},{"a":"2"}]}}`,
			want: []string{
				"metadata.tags=go (Go)", "metadata.tags=db", "metadata.tags=3", "metadata.tags.", "spec.of.a=1", "spec.of.a=2",
			},
		},
		"Namespace": {
			reason: "The namespace of the document is indexed; uid and etag are those of the catalog.",
			doc:    `{"metadata":{"name":"n","namespace":"Prod","uid":"theirs","etag":"theirs","Namespace":"other","UID":"theirs"}}`,
			want:   []string{"metadata.namespace=prod (Prod)"},
		},
		"Without": {
			reason: "Null and text that is too long are indexed without a value; empty maps and lists are not indexed.",
			doc:    `{"metadata":{"name":"n"},"spec":{"null":null,"long":"` + long + `x","fits":"` + long + `","map":{},"list":[]}}`,
			want:   []string{"spec.null=<none>", "spec.long=<none>", "spec.fits=" + long},
		},
		"LongKey": {
			reason: "A key that is too long is not indexed.",
			doc:    `{"metadata":{"name":"n"},"spec":{"` + long + `":"x","list":["` + long + `"]}}`,
			want:   []string{"spec.list=" + long, "spec.list."},
		},
		"Form": {
			reason: "Of a form only its existence is indexed.",
			doc:    `{"metadata":{"name":"n"},"spec":{"parameters":[{"title":"x","required":["a"]}],"parametersToo":"x"}}`,
			want:   []string{"spec.parameters=<none>", "spec.parameterstoo=x"},
		},
		"Status": {
			reason: "Neither the status nor the relations of a document are indexed.",
			doc:    `{"metadata":{"name":"n"},"status":{"items":["x"]},"relations":[{"type":"ownedBy"}]}`,
		},
		"Unstorable": {
			reason: "NUL cannot be stored in PostgreSQL; the highest character marks a missing value, and some characters separate fields: all are removed.",
			doc:    `{"metadata":{"name":"n"},"spec":{"a\u0000b":"c\u0000d","e":"\udbff\udfff","f":"g\u001eh\u001d\u001f"}}`,
			want:   []string{"spec.ab=cd", "spec.e=", "spec.f=gh"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want := slices.Concat(always, tc.want)
			if tc.doc == cases["Namespace"].doc {
				want = slices.DeleteFunc(want, func(s string) bool { return s == "metadata.namespace=default" })
			}
			slices.Sort(want)
			if diff := gocmp.Diff(want, indexed(decode(t, tc.doc))); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIndexed(t *testing.T) {
	for key, want := range map[string]bool{
		"spec.parameters": true, "spec.parameters.title": false, "Spec.Parameters.x": false,
		"spec.parametersToo.x": true, "kind": true, "spec.steps.action": true, "spec.steps.input": true,
		"spec.steps.input.manifest.kind": false, "spec.output.text": false, "spec.outputs.x": true,
	} {
		if got := Indexed(key); got != want {
			t.Errorf("Indexed(%q) = %v, want the opposite", key, got)
		}
	}
}

func TestWords(t *testing.T) {
	cases := map[string]struct {
		reason string
		doc    string
		want   string
	}{
		"Fields": {
			reason: "Words come from the fields that users search, each once.",
			doc: `{"kind":"Template","metadata":{"name":"my-db","title":"My DB","description":"Fast, cheap.",
				"tags":["go"],"labels":{"k":"gold"}},"spec":{"type":"t","owner":"group:default/ops","system":"s","lifecycle":"l","other":"no"}}`,
			want: "cheap db default fast go gold group l my my-db ops s t template",
		},
		"Humps": {
			reason: "The parts of a compound word are words too.",
			doc:    `{"kind":"API","metadata":{"name":"x","title":"HTTPServer postgreSQL v1Beta2"}}`,
			want:   "api beta2 http httpserver postgre postgresql server sql v1 v1beta2 x",
		},
		"Long": {
			reason: "A long word is cut between characters.",
			doc:    `{"metadata":{"name":"x","title":"` + strings.Repeat("é", 50) + `"}}`,
			want:   "x " + strings.Repeat("é", 32),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := gocmp.Diff(strings.Fields(tc.want), Words(decode(t, tc.doc))); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte(`{"kind":"C","metadata":{"name":"n","tags":["A","a"]},"spec":{"x":[1,null,{"y":"z"}]}}`))
	f.Add([]byte("metadata: {name: x}\nspec: {\"\\0\": [\"\\0\", {}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		nodes, _ := parser.DecodeBytes(data)
		for _, n := range nodes {
			if !n.IsMap() {
				continue
			}
			Walk(n, func(key []byte, value, original string) {
				if !utf8.Valid(key) || !utf8.ValidString(value) || !utf8.ValidString(original) {
					t.Fatalf("%q=%q (%q) is not valid UTF-8", key, value, original)
				}
				if TooLong(key) || TooLong(value) || strings.ContainsRune(string(key)+value+original, 0) {
					t.Fatalf("%q=%q cannot be stored", key, value)
				}
				if value != strings.ToLower(value) || string(key) != LowerKey(string(key)) || original == value && original != "" {
					t.Fatalf("%q=%q (%q) is not normalized", key, value, original)
				}
				if value > NoValue || strings.Contains(value, NoValue) && value != NoValue {
					t.Fatalf("%q does not sort before a missing value", value)
				}
			}, func([]byte) {})
			if all := Words(n); !slices.IsSorted(all) || slices.ContainsFunc(all, func(w string) bool {
				return w == "" || len(w) > maxWord || !utf8.ValidString(w) || strings.Contains(w, WordEnd)
			}) {
				t.Fatalf("words are %q, want them sorted, not empty and short", all)
			}
		}
	})
}
