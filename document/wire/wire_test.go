package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

func TestWire(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		wire   Decoder
		// want is the value written again, or a part of the error.
		want, bad string
	}{
		"Object":  {reason: "The order of keys is kept.", in: ` {"b":1, "a":{"c":[true,null,"x",-2.5e3]}} `, want: `{"b":1,"a":{"c":[true,null,"x",-2500]}}`},
		"Empty":   {reason: "Empty maps and lists are values.", in: `{"a":{},"b":[],"c":""}`, want: `{"a":{},"b":[],"c":""}`},
		"Escapes": {reason: "A string may contain any character.", in: `{"\u00e4\n":"\"\\\ud83d\ude00"}`, want: `{"ä\n":"\"\\😀"}`},
		"Twice":   {reason: "The last of two values with the same key is used.", in: `{"a":1,"b":2,"a":3}`, want: `{"a":3,"b":2}`},
		"Omit":    {reason: "A field of the metadata is omitted; a field of the same name elsewhere is kept.", in: `{"metadata":{"name":"x","noise":[{"a":"]}"}],"labels":{"noise":"n"}},"noise":1,"spec":{"noise":2,"metadata":{"noise":3}}}`, wire: Decoder{Omit: [][]string{{"noise"}}}, want: `{"metadata":{"name":"x","labels":{"noise":"n"}},"noise":1,"spec":{"noise":2,"metadata":{"noise":3}}}`},
		"OmitDeep": {reason: "A nested field is omitted in each item of a list.", in: `{"metadata":{"noise":{"a":1},"by":[{"noise":{"b":"]}"},"time":"t"},7,{"by":[{"noise":2}]}],"notes":{"long":"l","short":"s"},"long":3}}`,
			wire: Decoder{Omit: [][]string{{"by", "noise"}, {"notes", "long"}, {"notes", "none"}}}, want: `{"metadata":{"noise":{"a":1},"by":[{"time":"t"},7,{"by":[{"noise":2}]}],"notes":{"short":"s"},"long":3}}`},
		"Depth":     {reason: "The depth is limited.", in: `[[[1]]]`, wire: Decoder{Depth: 2}, bad: "nested more than 2 levels deep"},
		"CutOff":    {reason: "Truncated input is an error.", in: `{"a":[1,2`, bad: "unexpected end after 9 bytes"},
		"CutString": {reason: "Input that is truncated in a string is an error.", in: `{"a":"b\`, bad: "unexpected end after"},
		"Nothing":   {reason: "Empty input is an error.", in: ``, bad: "unexpected end after 0 bytes"},
		"More":      {reason: "A second value is an error.", in: `{} {}`, bad: "unexpected text after"},
		"Comma":     {reason: "A trailing comma is an error.", in: `{"a":1,}`, bad: "unexpected byte at offset 7"},
		"Word":      {reason: "An unknown literal is an error.", in: `{"a":nil}`, bad: "unexpected byte at offset 5"},
		"Number":    {reason: "A number that is not JSON is an error.", in: `[01]`, bad: "unexpected"},
		"Control":   {reason: "An unescaped control character is an error.", in: "\"a\nb\"", bad: "control character"},
		"BadEscape": {reason: "An escape that is not JSON is an error.", in: `"\x41"`, bad: "invalid string"},
		"BadText":   {reason: "Bytes that are not UTF-8 are replaced.", in: "\"a\xffb\"", want: `"a�b"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n, err := tc.wire.Decode([]byte(tc.in))
			if tc.bad != "" {
				if err == nil || !strings.Contains(err.Error(), tc.bad) {
					t.Fatalf("%s\ngot %s, error %v, want an error with %q", tc.reason, tree.AppendJSON(nil, n, ""), err, tc.bad)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(tree.AppendJSON(nil, n, ""))); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWireList(t *testing.T) {
	read := func(in string, w Decoder) (got []string, rest string, err error) {
		n, err := w.List([]byte(in), func(raw string) {
			item, err := w.DecodeText(raw)
			if err != nil {
				got = append(got, "bad: "+err.Error())
				return
			}
			got = append(got, string(tree.AppendJSON(nil, item, "")))
		})
		return got, string(tree.AppendJSON(nil, n, "")), err
	}
	got, rest, err := read(`{"kind":"XList","items":[{"a":1}, {"b":[[[2]]]},{"c":"loooooooooooooooooong"},{"d":4}],"metadata":{"continue":"x"}}`, Decoder{Depth: 3, Bytes: 20})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`{"a":1}`, "bad: maps and lists are nested more than 3 levels deep", "bad: document is larger than 20 bytes", `{"d":4}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("items around invalid ones (-want +got):\n%s", diff)
	}
	if want := `{"kind":"XList","metadata":{"continue":"x"}}`; rest != want {
		t.Errorf("rest is %s, want %s", rest, want)
	}
	got, _, err = read(`{"items":[{"a":1},{"b":`, Decoder{})
	if err == nil || len(got) != 1 {
		t.Errorf("list that is cut off returned %q, %v; want the items before the cut and an error", got, err)
	}
	var items []string
	if _, err := (Decoder{Omit: [][]string{{"noise"}}}).List([]byte(`{"items":[{"metadata":{"a":1,"noise":[{"b":"]}"}],"name":"x"},"spec":{"noise":2}},7,{"metadata":"noise"},{"metadata":{}}]}`), func(raw string) {
		items = append(items, raw)
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`{"metadata":{"a":1,"noise":null,"name":"x"},"spec":{"noise":2}}`, "7", `{"metadata":"noise"}`, `{"metadata":{}}`}, items); diff != "" {
		t.Errorf("items with omitted fields (-want +got):\n%s", diff)
	}
	items = nil
	deep := Decoder{Omit: [][]string{{"by", "noise"}, {"notes", "long"}}}
	if _, err := deep.List([]byte(`{"items":[{"metadata":{"by":[{"noise":{"b":"]}"},"time":"t"},7,{"noise" : 1}],"notes":{"long":"l","short":"s"},"noise":2}},{"metadata":{"by":[[{"noise":3}]]}}]}`), func(raw string) {
		items = append(items, raw)
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`{"metadata":{"by":[{"noise":null,"time":"t"},7,{"noise" : null}],"notes":{"long":null,"short":"s"},"noise":2}}`, `{"metadata":{"by":[[{"noise":3}]]}}`}, items); diff != "" {
		t.Errorf("items with omitted nested fields (-want +got):\n%s", diff)
	}
	if _, err := deep.List([]byte(`{"items":[{"metadata":{"by":[{"noise":{"b":`), func(raw string) { t.Errorf("half an item: %s", raw) }); err == nil {
		t.Error("list that ends within an omitted part was accepted, want an error")
	}
	for _, in := range []string{`{"items":null}`, `{"items":[]}`, `{}`} {
		if got, _, err := read(in, Decoder{}); err != nil || len(got) > 0 {
			t.Errorf("%s gives %q, %v", in, got, err)
		}
	}
}

// FuzzWire compares Decode with parser.Decode, which is slower and has positions.
func FuzzWire(f *testing.F) {
	f.Add(`{"a":[1,2.50,"x\u0041",null,true],"metadata":{"b":{}}}`)
	f.Add(`[1e400, -0, 0.1]`)
	f.Fuzz(func(t *testing.T, in string) {
		n, err := Decoder{}.Decode([]byte(in))
		if (err == nil) != json.Valid([]byte(strings.ToValidUTF8(in, "\uFFFD"))) && !strings.Contains(in, "e") && !strings.Contains(in, "E") && len(in) < 90 {
			t.Fatalf("error %v for %q", err, in)
		}
		if err != nil {
			return
		}
		docs, bad := parser.DecodeBytes([]byte(in))
		if len(docs) != 1 || len(bad) > 0 {
			return
		}
		if !docs[0].Equal(n) {
			t.Errorf("wire %s\nparser %s", tree.AppendJSON(nil, n, ""), tree.AppendJSON(nil, docs[0], ""))
		}
	})
}

func BenchmarkWire(b *testing.B) {
	var object strings.Builder
	object.WriteString(`{"metadata":{"name":"x"},"spec":{`)
	for i := range 60 {
		fmt.Fprintf(&object, `"field%d":{"type":"string","description":"What the field %d is for, in a sentence.","enum":["a","b"],"default":"a"},`, i, i)
	}
	object.WriteString(`"last":{}}}`)
	data := []byte(object.String())
	b.Run("Wire", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := (Decoder{}).Decode(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Decode", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, bad := parser.DecodeBytes(data); bad != nil {
				b.Fatal(bad)
			}
		}
	})
}
