package tree_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

func FuzzDecode(f *testing.F) {
	for _, s := range awkward {
		f.Add([]byte(s))
		f.Add([]byte("a: " + s + "\n- " + s))
	}
	for _, s := range []string{
		"a: 1\n---\nb: [x, 'y', \"z\"]\n...\n%YAML 1.2\n---\n{c: &d {e: *d}}\n",
		"x: &x {a: 1}\ny: {<<: *x, b: !!int \"2\"}\n*x : 3\n",
		"{\"a\":1}\n{\"b\":\n{\"c\":[1,2.5,-3e-7,\"\\ud83d\\ude00\"]}\n",
		"a: |+\n  x\n\n   y\n\nb: >-\n  z\n",
		"\uFEFF--- {\"a\": \"\\u0000\"}\r\n--- [1, .inf]\r\n",
		"? a\n: b\n? |\n  c\n: - d\n",
		"a0: &a [x, x]\nb0: &b [*a, *a]\nc0: [*b, *b]\n",
		strings.Repeat("[", 200) + "{}" + strings.Repeat("]", 200),
		string(document(2 << 10)),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		// The fuzzer does not detect an endless loop.
		watch := time.AfterFunc(20*time.Second, func() { panic(fmt.Sprintf("Decode does not end for %q", in)) })
		defer watch.Stop()
		start := time.Now()
		docs, errs := parser.DecodeBytes(in)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("Decode took %v for %d bytes", took, len(in))
		}
		for _, e := range errs {
			if e.Pos.Line < 1 || e.Pos.Column < 1 || e.Msg == "" {
				t.Errorf("%q is at %v", e.Msg, e.Pos)
			}
		}
		for _, n := range docs {
			for how, text := range map[string][]byte{
				"YAML":          tree.AppendYAML(nil, n),
				"JSON":          tree.AppendJSON(nil, n, ""),
				"indented JSON": tree.AppendJSON(nil, n, "  "),
				"canonical":     tree.AppendCanonical(nil, n),
			} {
				again, errs := parser.DecodeBytes(text)
				if len(errs) > 0 || len(again) != 1 || !again[0].Equal(n) {
					t.Errorf("%s cannot be read back: %v\n%q", how, errs, text)
				}
			}
		}
	})
}
