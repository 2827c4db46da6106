package location

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// flaky is a file system in which one folder cannot be read.
type flaky struct {
	fstest.MapFS
	folder string
}

var errDisk = errors.New("the disk says no")

// ReadDir reads all folders except one.
func (f flaky) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == f.folder {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errDisk}
	}
	return f.MapFS.ReadDir(name)
}

func TestFlakyFolder(t *testing.T) {
	tree := fstest.MapFS{"a/x.yaml": {}, "b/x.yaml": {}}
	for _, pattern := range []string{"*/*.yaml", "**/*.yaml", "b/*"} {
		if _, err := glob(t.Context(), flaky{tree, "b"}, pattern); !errors.Is(err, errDisk) {
			t.Errorf("%s returned the error %v, want that of the folder, as its files may exist", pattern, err)
		}
	}
	if files, err := glob(t.Context(), flaky{tree, "b"}, "a/*"); err != nil || len(files) != 1 {
		t.Errorf("files are %v, error %v; want the readable ones", files, err)
	}
}

// TestGlobTired reads empty folders repeatedly, which counts towards the limit.
func TestGlobTired(t *testing.T) {
	tree := fstest.MapFS{"a": {Mode: fs.ModeDir}, "b": {Mode: fs.ModeDir}}
	if files, err := glob(t.Context(), tree, strings.Repeat("**/", 1000)+"x"); err == nil {
		t.Errorf("files are %v, want an error", files)
	}
}

func FuzzGlob(f *testing.F) {
	for _, p := range []string{"*/*.yaml", "**/x.yaml", "**", "a/[xy]*", "../*", "/x", "a//b", `\*`, "**/**/**/**/*"} {
		f.Add(p)
	}
	tree := fstest.MapFS{"a/x.yaml": {}, "b/c/d/x.yaml": {}, "b/.h/x.yaml": {}, "y.yaml": {}}
	f.Fuzz(func(t *testing.T, pattern string) {
		if len(pattern) > 100 {
			return
		}
		files, err := glob(t.Context(), tree, pattern)
		if err != nil {
			return
		}
		for _, name := range files {
			if tree[name] == nil {
				t.Errorf("%q matches %q, which does not exist", pattern, name)
			}
		}
	})
}
