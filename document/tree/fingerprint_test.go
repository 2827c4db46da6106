package tree_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"example.dev/ingestor/document/tree"
)

// TestFingerprint compares fingerprints with canonical JSON: two values have
// equal fingerprints exactly if they have equal canonical JSON.
func TestFingerprint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := smallNode(2).Draw(t, "a"), smallNode(2).Draw(t, "b")
		same := bytes.Equal(tree.AppendCanonical(nil, a), tree.AppendCanonical(nil, b))
		if got := bytes.Equal(tree.AppendFingerprint(nil, a), tree.AppendFingerprint(nil, b)); got != same {
			t.Fatalf("fingerprints equal: %v, canonical JSON equal: %v\n%s\n%s", got, same,
				tree.AppendCanonical(nil, a), tree.AppendCanonical(nil, b))
		}
		shuffled := a.Clone()
		for i, j := 0, len(shuffled.Fields)-1; i < j; i, j = i+1, j-1 {
			shuffled.Fields[i], shuffled.Fields[j] = shuffled.Fields[j], shuffled.Fields[i]
		}
		if !bytes.Equal(tree.AppendFingerprint(nil, a), tree.AppendFingerprint(nil, shuffled)) {
			t.Fatalf("fingerprint depends on the order of keys of %s", tree.AppendCanonical(nil, a))
		}
	})
}

// smallNode draws values of few kinds, so that equal ones are frequent.
func smallNode(depth int) *rapid.Generator[*tree.Node] {
	return rapid.Custom(func(t *rapid.T) *tree.Node {
		kinds := 5
		if depth == 0 {
			kinds = 3
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return tree.Str(rapid.SampledFrom([]string{"", "a", "ab", "1", "null"}).Draw(t, "text"))
		case 1:
			return tree.Number(rapid.Int64Range(0, 1).Draw(t, "number"))
		case 2:
			return rapid.SampledFrom([]*tree.Node{tree.Nil(), tree.Boolean(true), tree.Boolean(false)}).Draw(t, "word")
		case 3:
			return tree.Arr(rapid.SliceOfN(smallNode(depth-1), 0, 2).Draw(t, "items")...)
		}
		n := tree.Obj()
		for _, k := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"", "a", "b", "ab"}), 0, 2, rapid.ID).Draw(t, "keys") {
			n.Set(k, smallNode(depth-1).Draw(t, k))
		}
		return n
	})
}
