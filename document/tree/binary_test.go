package tree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// TestBinary checks that trees with all kinds of nodes and with positions
// survive a round trip.
func TestBinary(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
	}{
		"Scalars": {"Quoted and plain scalars are distinguished.", "a: plain\nb: 'quoted'\nc: 12\nd: 0.5\ne: true\nf: null\ng: ''\nh: \"0x1\"\n"},
		"Nested":  {"Nested and empty lists and maps are encoded.", "a: [1, [2, {b: []}], {}]\nc:\n  d: {e: f}\n"},
		"Back":    {"The position of an alias can precede its parent.", "a: &x {b: 1}\n\n\nc: *x\nd: 2\n"},
		"Long":    {"Strings and lists can be longer than one byte can count.", "a: " + strings.Repeat("ä", 300) + "\nb: [" + strings.Repeat("1,", 300) + "1]\n"},
		"Scalar":  {"A document need not be a map.", "just text"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			docs, errs := parser.DecodeBytes([]byte(tc.text))
			if len(docs) != 1 || len(errs) > 0 {
				t.Fatal(errs)
			}
			got, err := tree.DecodeBinary(string(tree.AppendBinary(nil, docs[0])))
			if diff := cmp.Diff(docs[0], got, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("%s\n%v (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
	made := tree.Obj(tree.F("none", nil), tree.F("text", tree.Str("a")))
	made.Fields = append(made.Fields, tree.Field{Key: "absent"})
	for _, n := range []*tree.Node{nil, tree.Nil(), made} {
		got, err := tree.DecodeBinary(string(tree.AppendBinary(nil, n)))
		if diff := cmp.Diff(n, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

// FuzzDecodeBinary checks that damaged input is an error, or a tree that
// survives a round trip.
func FuzzDecodeBinary(f *testing.F) {
	files, _ := filepath.Glob("../../examples/*.yaml")
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		docs, _ := parser.DecodeBytes(text)
		for _, n := range docs {
			text := string(tree.AppendBinary(nil, n))
			f.Add(text)
			f.Add(text[:len(text)/2])
			f.Add(text[:20] + text[40:])
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := tree.DecodeBinary(text)
		if err != nil {
			return
		}
		again, err := tree.DecodeBinary(string(tree.AppendBinary(nil, n)))
		if diff := cmp.Diff(n, again); diff != "" || err != nil {
			t.Errorf("%v (-first +second):\n%s", err, diff)
		}
	})
}
