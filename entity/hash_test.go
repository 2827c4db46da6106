package entity

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

func TestHash(t *testing.T) {
	base := Hash(bareEntity())
	if sum := sha256.Sum256(tree.AppendFingerprint(nil, bareEntity().Node())); base != hex.EncodeToString(sum[:]) {
		t.Errorf("hash is %s, want that of the whole entity", base)
	}
	cases := map[string]struct {
		reason string
		change func(e *Entity)
		same   bool
	}{
		"found at": {"The time of discovery is not part of the hash.", func(e *Entity) {
			e.Metadata.Annotations = map[string]string{words.AnnotationDiscoveredAt: "now"}
		}, true},
		"found at, upstream": {"The time of discovery is not part of the hash in the upstream vocabulary either.", func(e *Entity) {
			e.Metadata.Annotations = map[string]string{"backstage.io/discovered-at": "now"}
		}, true},
		"found from": {"The source is part of the hash.", func(e *Entity) {
			e.Metadata.Annotations = map[string]string{words.AnnotationDiscoveredFrom: "a"}
		}, false},
		"name":     {"The name is part of the hash.", func(e *Entity) { e.Metadata.Name = "m" }, false},
		"nil maps": {"Empty and missing maps have the same hash.", func(e *Entity) { e.Metadata.Labels, e.Metadata.Tags = nil, nil }, true},
		"spec":     {"The spec is part of the hash.", func(e *Entity) { e.Spec = tree.Obj() }, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := bareEntity()
			tc.change(e)
			before := len(e.Metadata.Annotations)
			if same := Hash(e) == base; same != tc.same {
				t.Errorf("%s\nhashes are equal: %v", tc.reason, same)
			}
			if len(e.Metadata.Annotations) != before {
				t.Error("Hash changed the entity")
			}
		})
	}
}

func TestShortHash(t *testing.T) {
	a, b := spec("{a: 1, b: {c: 2, d: 3}}"), spec("{b: {d: 3, c: 2}, a: 1}")
	if ShortHash(a) != ShortHash(b) {
		t.Error("hash depends on the order of keys")
	}
	// Versions of templates are compared across releases: a change of the hash
	// would mark every form as changed.
	if got, want := ShortHash(a), "5d482443"; got != want {
		t.Errorf("hash is %s, want the fixed value %s", got, want)
	}
}
