package body

import (
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/wire"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"kind":"C","metadata":{"name":"n","tags":["A","a"]},"spec":{"x":[1,null,{"y":"z"}]}}`))
	f.Add([]byte("metadata: {name: x}\nspec: {\"\\0\": [\"\\0\", {}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		nodes, _ := parser.DecodeBytes(data)
		for _, n := range nodes {
			if !n.IsMap() {
				continue
			}
			b := New(n)
			s := b.Serve(someUID, 0)
			first := s.Finish("hash", []Link{{"a", "b"}})
			second := s.Finish("hash", []Link{{"a", "b"}})
			body, err := wire.Decoder{}.Decode(s.JSON)
			if err != nil {
				t.Fatalf("body cannot be decoded: %v: %s", err, s.JSON)
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
		links  []Link
		want   string
	}{
		"Order": {
			reason: "Keys are in the order of the catalog; those of metadata keep their order, followed by uid and etag.",
			doc:    `{"status":{"s":1},"spec":{"z":1,"a":2},"metadata":{"uid":"x","title":"T <b>","namespace":"ns","etag":"x","name":"n"},"kind":"K","apiVersion":"v1"}`,
			links:  []Link{{"ownedBy", "group:default/g"}, {"partOf", "system:default/s"}},
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
			nodes, errs := parser.DecodeBytes([]byte(tc.doc))
			if len(errs) > 0 {
				t.Fatal(errs[0])
			}
			b := New(nodes[0])
			before := string(b.body)
			s := b.Serve(someUID, 1)
			etag := s.Finish("hash", tc.links)
			if string(b.body) != before {
				t.Errorf("shared body changed: %s", b.body)
			}
			if len(etag) != etagSize {
				t.Errorf("etag is %q, want another length", etag)
			}
			if diff := gocmp.Diff(tc.want, strings.Replace(string(s.JSON), etag, "E", 1)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			// Relations that are added and removed again leave no trace.
			s.Finish("hash", append(slices.Clone(tc.links), Link{"x", "y"}))
			spliced := Body{JSON: slices.Clone(s.JSON[:s.RelationsAt]), ETagAt: s.ETagAt, RelationsAt: s.RelationsAt}
			if got := spliced.Finish("hash", tc.links); got != etag {
				t.Errorf("etag is %q after relations were added and removed, want %q", got, etag)
			}
			if diff := gocmp.Diff(tc.want, strings.Replace(string(spliced.JSON), etag, "E", 1), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestETag checks that whatever differs in a body makes its etag differ.
func TestETag(t *testing.T) {
	const doc = `{"kind":"K","metadata":{"name":"n","annotations":{"backstage.io/discovered-at":"2026-01-01"}},"spec":{"a":1,"b":2}}`
	links := []Link{{"a", "b"}}
	cases := map[string]struct {
		reason, doc, uid, hash string
		links                  []Link
	}{
		"Same":      {"The base of the comparison.", doc, someUID, "h", links},
		"Hash":      {"The hash of the document is a part of it.", doc, someUID, "i", links},
		"UID":       {"An entity that was created again is another one.", doc, strings.Replace(someUID, "0", "1", 1), "h", links},
		"Relations": {"Relations are a part of it.", doc, someUID, "h", []Link{{"a", "c"}}},
		"None":      {"An entity may lose its relations.", doc, someUID, "h", nil},
		"Volatile":  {"The hash leaves out when an entity was found.", strings.Replace(doc, "2026", "2027", 1), someUID, "h", links},
		"Order":     {"The hash leaves out the order of keys.", strings.Replace(doc, `"a":1,"b":2`, `"b":2,"a":1`, 1), someUID, "h", links},
		"Name":      {"What is before the etag counts like what is after it.", strings.Replace(doc, `"n"`, `"m"`, 1), someUID, "h", links},
	}
	seen := map[string]string{}
	for name, tc := range cases {
		nodes, errs := parser.DecodeBytes([]byte(tc.doc))
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		blank := New(nodes[0])
		served := blank.Serve(tc.uid, 1)
		etag := served.Finish(tc.hash, tc.links)
		if other, ok := seen[etag]; ok {
			t.Errorf("%s\netag of %s is that of %s: %s", tc.reason, name, other, etag)
		}
		seen[etag] = name
	}
}
