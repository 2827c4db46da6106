package store

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/xrd"
)

// TestPrepare wants an entity to be the same whether it comes as it was made or
// through a text that was kept: else each would undo the other.
func TestPrepare(t *testing.T) {
	files, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files (%v)", len(files), err)
	}
	seen := 0
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var set xrd.Set
		err = set.Read(f, xrd.Origin{File: name})
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, profile := range engine.Profiles {
			for _, d := range set.Definitions {
				out, err := engine.New(profile, engine.Options{GitOps: true}, engine.Hooks{}).Transform(engine.Input{Definition: d})
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range out.Entities {
					kept, err := tree.Wire{}.Decode(entity.AppendNDJSON(nil, e))
					if err != nil {
						t.Fatal(err)
					}
					seen++
					if made, read := Prepare(e.Node()), Prepare(kept); !reflect.DeepEqual(made, read) {
						t.Errorf("%s: as made\n%+v\nas read\n%+v", e.Key(), made, read)
					}
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d entities were looked at", seen)
	}
}
