package store

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
)

// indexed returns the index of a document, "key=value" or "key=value (original)".
func indexed(n *tree.Node) []string {
	var all []string
	x := indexer{
		add: func(key []byte, value, original string) {
			if value == noValue {
				value = "<none>"
			}
			if original != "" {
				original = " (" + original + ")"
			}
			all = append(all, string(key)+"="+value+original)
		},
		list: func(key []byte) { all = append(all, string(key)+listMark) },
	}
	x.document(n)
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
			if diff := gocmp.Diff(want, indexed(document(t, tc.doc).Node)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSureOrder sorts by fields of which every entity has one value. No entity
// is repeated because of its spelling, or missing because its value is too long.
func TestSureOrder(t *testing.T) {
	long := strings.Repeat(strings.Repeat("g", 60)+".", 4) + "io/v1"
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		put(t, s, component(t, "b"),
			document(t, `{"apiVersion":"v1","kind":"Component","metadata":{"name":"a","Name":"z","name`+noValue+`":"y"},"spec":{}}`),
			document(t, `{"apiVersion":"`+long+`","kind":"Component","metadata":{"name":"c"},"spec":{}}`))
		for field, want := range map[string][]string{
			"metadata.name": {"a", "b", "c"},
			"apiVersion":    {"b", "a", "c"},
		} {
			page, err := s.Query(t.Context(), Query{Order: []Order{{Field: field}}, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, named(page.Items)); diff != "" {
				t.Errorf("order by %s differs: %s", field, diff)
			}
		}
	})
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
			if diff := gocmp.Diff(strings.Fields(tc.want), words(document(t, tc.doc).Node)); diff != "" {
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
			x := indexer{add: func(key []byte, value, original string) {
				if !utf8.Valid(key) || !utf8.ValidString(value) || !utf8.ValidString(original) {
					t.Fatalf("%q=%q (%q) is not valid UTF-8", key, value, original)
				}
				if tooLong(key) || tooLong(value) || strings.ContainsRune(string(key)+value+original, 0) {
					t.Fatalf("%q=%q cannot be stored", key, value)
				}
				if value != strings.ToLower(value) || string(key) != lowerKey(string(key)) || original == value && original != "" {
					t.Fatalf("%q=%q (%q) is not normalized", key, value, original)
				}
				if value > noValue || strings.Contains(value, noValue) && value != noValue {
					t.Fatalf("%q does not sort before a missing value", value)
				}
			}}
			x.document(n)
			if all := words(n); !slices.IsSorted(all) || slices.ContainsFunc(all, func(w string) bool {
				return w == "" || len(w) > maxWord || !utf8.ValidString(w) || strings.Contains(w, wordEnd)
			}) {
				t.Fatalf("words are %q, want them sorted, not empty and short", all)
			}
			b := blankOf(n)
			s := b.serve(someUID, 0)
			first := s.finish([]link{{"a", "b"}})
			second := s.finish([]link{{"a", "b"}})
			body, err := wire.Decoder{}.Decode(s.body)
			if err != nil {
				t.Fatalf("body cannot be decoded: %v: %s", err, s.body)
			}
			if got := body.Get("metadata", "etag").Str(); got != first || got != second {
				t.Fatalf("etags differ: %q, %q, %q", got, first, second)
			}
		}
	})
}

const someUID = "0f8fad5b-d9cb-469f-a165-70867728950e"

func TestServe(t *testing.T) {
	cases := map[string]struct {
		reason string
		doc    string
		links  []link
		want   string
	}{
		"Order": {
			reason: "Keys are in the order of the catalog; those of metadata keep their order, followed by uid and etag.",
			doc:    `{"status":{"s":1},"spec":{"z":1,"a":2},"metadata":{"uid":"x","title":"T <b>","namespace":"ns","etag":"x","name":"n"},"kind":"K","apiVersion":"v1"}`,
			links:  []link{{"ownedBy", "group:default/g"}, {"partOf", "system:default/s"}},
			want: `{"apiVersion":"v1","kind":"K","metadata":{"title":"T <b>","namespace":"ns","name":"n","uid":"` + someUID + `","etag":"E"},` +
				`"spec":{"z":1,"a":2},"status":{"s":1},"relations":[{"type":"ownedBy","targetRef":"group:default/g"},` +
				`{"type":"partOf","targetRef":"system:default/s"}]}`,
		},
		"Least": {
			reason: "A namespace and relations are always present.",
			doc:    `{"apiVersion":"v1","kind":"K","metadata":{"name":"n"}}`,
			want:   `{"apiVersion":"v1","kind":"K","metadata":{"name":"n","namespace":"default","uid":"` + someUID + `","etag":"E"},"relations":[]}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := blankOf(document(t, tc.doc).Node)
			before := string(b.body)
			s := b.serve(someUID, 1)
			etag := s.finish(tc.links)
			if string(b.body) != before {
				t.Errorf("shared body changed: %s", b.body)
			}
			if len(etag) != etagSize {
				t.Errorf("etag is %q, want another length", etag)
			}
			if diff := gocmp.Diff(tc.want, strings.Replace(string(s.body), etag, "E", 1)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			// Relations that are added and removed again leave no trace.
			s.finish(append(slices.Clone(tc.links), link{"x", "y"}))
			spliced := served{body: slices.Clone(s.body[:s.relationsAt]), etagAt: s.etagAt, relationsAt: s.relationsAt}
			if got := spliced.finish(tc.links); got != etag {
				t.Errorf("etag is %q after relations were added and removed, want %q", got, etag)
			}
			if diff := gocmp.Diff(tc.want, strings.Replace(string(spliced.body), etag, "E", 1), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
