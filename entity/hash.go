package entity

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// bothSpellings returns a key in the contract's and in the upstream vocabulary.
func bothSpellings(key string) [2]string {
	return [2]string{key, words.Upstream.Out(words.Key, key)}
}

// volatile is the annotation that changes with every scan, even if nothing else did.
var volatile = bothSpellings(words.AnnotationDiscoveredAt)

// Hash returns the hex SHA-256 of the entity, independent of the order of its keys,
// without the annotation that says when it was found. Equal hashes mean that there is
// nothing to write.
func Hash(e *Entity) string {
	annotations := tree.StrMap(e.Metadata.Annotations)
	if annotations != nil {
		annotations.Delete(volatile[0])
		annotations.Delete(volatile[1])
	}
	return hashNode(e.node(annotations))
}

// HashDocument is Hash for an entity document.
func HashDocument(n *tree.Node) string {
	annotations := n.Get("metadata", "annotations")
	if !annotations.Has(volatile[0]) && !annotations.Has(volatile[1]) {
		return hashNode(n)
	}
	stable := *n.Get("metadata")
	stable.Fields = slices.Clone(stable.Fields)
	stable.Set("annotations", without(annotations, volatile[:]))
	out := *n
	out.Fields = slices.Clone(out.Fields)
	out.Set("metadata", &stable)
	return hashNode(&out)
}

// without returns a copy of a map without some keys.
func without(n *tree.Node, keys []string) *tree.Node {
	out := *n
	out.Fields = nil
	for _, f := range n.Fields {
		if !slices.Contains(keys, f.Key) {
			out.Fields = append(out.Fields, f)
		}
	}
	return &out
}

// ShortHash returns the first eight hex digits of the SHA-256 of n, independent of the
// order of its keys.
func ShortHash(n *tree.Node) string { return hashNode(n)[:hashLen] }

// scratch holds buffers for fingerprints, which are needed only until they are hashed.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

func hashNode(n *tree.Node) string {
	buf := scratch.Get().(*[]byte)
	*buf = tree.AppendFingerprint((*buf)[:0], n)
	sum := sha256.Sum256(*buf)
	scratch.Put(buf)
	return hex.EncodeToString(sum[:])
}
