package write

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/xrd"
)

// TestPrepare checks that an entity is the same whether it is prepared from the
// build or from its stored text; otherwise each would overwrite the other.
func TestPrepare(t *testing.T) {
	files, err := filepath.Glob("../../../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files were found (%v)", len(files), err)
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
					kept, err := wire.Decoder{}.Decode(entity.AppendNDJSON(nil, e))
					if err != nil {
						t.Fatal(err)
					}
					seen++
					if made, read := Prepare(e.Node()), Prepare(kept); !reflect.DeepEqual(made, read) {
						t.Errorf("%s: prepared from the build\n%+v\nfrom the text\n%+v", e.Key(), made, read)
					}
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d entities were checked", seen)
	}
}
