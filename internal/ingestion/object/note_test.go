package object

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// TestNote checks that every note is read as it was written.
func TestNote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.Just(""), rapid.String())
		want := Note{
			Refused: text.Draw(t, "refused"),
			Kinds: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) cluster.Kind {
				return cluster.Kind{
					Resource: cluster.Resource{Group: text.Draw(t, "group"), Version: text.Draw(t, "version"), Plural: text.Draw(t, "plural"), Namespace: text.Draw(t, "namespace")},
					Kind:     text.Draw(t, "kind"),
				}
			}), 0, 3).Draw(t, "kinds"),
			Origin: xrd.Origin{Source: text.Draw(t, "source"), File: text.Draw(t, "file"), Cluster: text.Draw(t, "cluster"), Location: text.Draw(t, "location")},
			At:     tree.Pos{Line: rapid.Int32().Draw(t, "line"), Column: rapid.Int32().Draw(t, "column")},
		}
		got := NoteOf(&mirror.Object{Note: want.encode()})
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
	for _, bad := range []string{"", "{", "[]", `{"kinds":1,"at":"x"}`} {
		if got := NoteOf(&mirror.Object{Note: []byte(bad)}); got.Refused != "" || len(got.Kinds) > 0 {
			t.Errorf("note %q was read as %+v, want it empty", bad, got)
		}
	}
}
